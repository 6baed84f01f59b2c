// A training small enough for every test that needs one.
#include "TinyTraining.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <stdexcept>

#include "core/base/CounterRandom.h"
#include "core/data/TextRow.h"
#include "core/data/tokenizers/Utf8.h"

namespace stepscope::testing {
namespace {

class Ids final : public TokenRow {
public:
    Ids(std::int64_t vocabulary, std::int64_t count) {
        std::int64_t id = 1;
        for (std::int64_t i = 0; i < count; ++i) {
            m_ids.push_back(id);
            id = counterRandom(5, 9, i) % 4 == 0 ? static_cast<std::int64_t>(counterRandomBelow(5, 8, i, vocabulary)) : (id * 7 + 3) % vocabulary;
        }
    }
    std::int64_t size() const override { return static_cast<std::int64_t>(m_ids.size()); }
    void copy(std::int64_t begin, std::int64_t count, std::int64_t* into) const override { std::copy_n(m_ids.begin() + begin, count, into); }

private:
    std::vector<std::int64_t> m_ids;
};

// A text whose characters are the ids, for data-source=text; null when some id never occurs.
std::shared_ptr<const TokenRow> textOf(const std::shared_ptr<const TokenRow>& tokens, std::int64_t vocabulary) {
    std::vector<std::int64_t> ids(static_cast<std::size_t>(tokens->size()));
    tokens->copy(0, tokens->size(), ids.data());
    SourceText source{.name = "ids that follow a rule"};
    for (const std::int64_t id : ids) utf8::append(source.owned, static_cast<char32_t>('!' + id));
    auto tokenizer = charTokenizer(source.owned);
    if (tokenizer->vocabulary() != vocabulary) return nullptr;
    return std::make_shared<TextRow>(std::make_shared<const SourceText>(std::move(source)), std::move(tokenizer), tokens);
}

}  // namespace

std::shared_ptr<const BatchSource> tinyBatches(std::int64_t vocabulary, std::int64_t tokens) {
    Corpus corpus;
    corpus.tokens = std::make_shared<Ids>(vocabulary, tokens);
    corpus.text = textOf(corpus.tokens, vocabulary);
    corpus.tokenizer = nullptr;
    corpus.vocabulary = vocabulary;
    corpus.trainTokens = tokens * 9 / 10;
    corpus.description = "ids that follow a rule";
    return std::make_shared<BatchSource>(std::move(corpus));
}

Machine plainCpu() {
    Machine machine;
    machine.cpu = "a CPU";
    machine.cores = 2;
    machine.memory = {8'000'000'000};
    machine.instructions = {"avx2", "avx512", "avx512_bf16", "amx_bf16"};
    machine.whyNoCuda = "No NVIDIA driver is installed.";
    return machine;
}

RunConfig tinyConfig(const Registry& registry, std::int64_t steps) {
    RunConfig config;
    config.layers = 2;
    config.heads = 2;
    config.width = 16;
    config.steps = steps;
    config.warmup = 0;
    config.schedule = "constant";
    config.lr = 3e-3;
    config.minLr = 0;
    config.validationTokens = 2 * 4 * 12;
    config.checkpointAtEnd = "off";
    config.switches["batch-size"] = std::int64_t{4};
    config.switches["context"] = std::int64_t{12};
    config.switches["validation-every"] = std::int64_t{0};
    auto full = registry.complete(config);
    return full.value();
}

const Registry& registry() {
    static const Registry one(plainCpu());
    return one;
}

TrainState freshState() {
    return TrainState::initialise(registry().modelShape(tinyConfig(registry()), 61), 1);
}

RunConfig with(RunConfig config, const std::vector<std::pair<std::string, std::string>>& words) {
    for (const auto& [id, word] : words) config.switches[id] = word;
    return config;
}

std::vector<double> lossesOf(const RunConfig& config) {
    TinyTrainer trainer(config);
    if (trainer.run().state != RunState::Finished) throw std::logic_error("a run of a test did not finish");
    return trainer.sink.losses();
}

std::unique_ptr<StepProgram> programOver(TrainState& state, const Registry& registry, const RunConfig& config) {
    const RunPlan plan = registry.plan(config, state.config.vocabulary).value();
    state.convert(registry.formOf(plan, state));
    return registry.build(plan);
}

TinyTrainer::TinyTrainer(const RunConfig& config, std::shared_ptr<const BatchSource> batches) {
    // Operations of a few microseconds gain nothing from threads, and threads that wait for a busy core lose seconds.
    at::set_num_threads(1);
    setup.config = config;
    setup.batches = std::move(batches);
    setup.state = TrainState::initialise(registry->modelShape(config, setup.batches->corpus().vocabulary), static_cast<std::uint64_t>(config.seed));
    setup.factory = registry.get();
    setup.clock = &clock;
    setup.sink = &sink;
    setup.commands = &commands;
    setup.mustWait = [] { return false; };
    setup.generate = [](const GenerateText&, const TrainState&, bool) {};
    setup.disturbances = &disturbances;
}

TrainerOutcome TinyTrainer::run() {
    return Trainer(std::move(setup)).run();
}

}  // namespace stepscope::testing
