// Every value of every switch, beside several others: either something that can be observed of a run is another than with the default, or a note or
// a refusal says why not; and a note that says a value does nothing is right. A new switch is tried the moment its line is added. On the CPU. CTest.
#include <ATen/Parallel.h>
#include <ATen/record_function.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "TinyTraining.h"
#include "core/events/ConfigKeys.h"
#include "core/events/RunEvents.h"

namespace stepscope {
namespace {

using Words = std::vector<std::pair<std::string, std::string>>;
// What was observed, by what it is of.
using Facts = std::map<std::string, std::string>;

using testing::registry;

// A row that tells how it is read, and by whom.
class SpiedRow final : public TokenRow {
public:
    explicit SpiedRow(std::shared_ptr<const TokenRow> row) : m_row(std::move(row)) {}
    std::int64_t size() const override { return m_row->size(); }
    void copy(std::int64_t begin, std::int64_t count, std::int64_t* into) const override {
        note("copies");
        m_row->copy(begin, count, into);
    }
    void copyPair(std::int64_t begin, std::int64_t count, std::int64_t* ids, std::int64_t* next) const override {
        note("pairs");
        m_row->copyPair(begin, count, ids, next);
    }
    bool randomAccess() const override { return m_row->randomAccess(); }
    Status prepare(const std::function<bool()>& wanted) const override { return m_row->prepare(wanted); }

    std::map<std::string, int> reads() const {
        const std::lock_guard lock(m_mutex);
        auto all = m_reads;
        all["threads"] = static_cast<int>(m_threads.size());
        return all;
    }

private:
    void note(const std::string& what) const {
        const bool loader = std::this_thread::get_id() != m_trainer;
        if (loader) std::this_thread::sleep_for(std::chrono::milliseconds(1));  // so that each of several has its turn
        const std::lock_guard lock(m_mutex);
        m_reads[what + (loader ? " by another thread" : "")] += 1;
        m_threads.insert(std::this_thread::get_id());
    }
    std::shared_ptr<const TokenRow> m_row;
    const std::thread::id m_trainer = std::this_thread::get_id();
    mutable std::mutex m_mutex;
    mutable std::map<std::string, int> m_reads;
    mutable std::set<std::thread::id> m_threads;
};

// LibTorch's operations of a step by name.
std::map<std::string, int>* heard = nullptr;
std::unique_ptr<at::ObserverContext> begun(const at::RecordFunction& operation) {
    (*heard)[operation.name()] += 1;
    return nullptr;
}

// What a Program does in one step: its own words, the operations, how the tokens are read, and what has become of the State.
void observeAStep(const RunPlan& plan, Facts& facts) {
    Corpus corpus = testing::tinyBatches()->corpus();
    const auto tokens = std::make_shared<SpiedRow>(corpus.tokens), text = std::make_shared<SpiedRow>(corpus.text);
    corpus.tokens = tokens;
    corpus.text = text;
    const BatchSource source(std::move(corpus));
    TrainState state = TrainState::initialise(registry().modelShape(plan, 61), 1);
    state.convert(registry().formOf(plan, state));
    const auto program = registry().build(plan);
    std::map<std::string, int> operations;
    heard = &operations;
    const auto callback = at::addThreadLocalCallback(at::RecordFunctionCallback(begun).scopes({at::RecordScope::FUNCTION}));
    for (int i = 0; i < 2; ++i) facts[fmt::format("loss {}", i)] = fmt::format("{:a}", program->step(state, source, 1e-3).loss);
    at::removeCallback(callback);
    for (const auto& [name, times] : operations) facts[name] = std::to_string(times);
    const ProgramReport& report = program->report();
    facts["report"] = report.matmulPrecision + ", " + report.autocast + ", " + report.attention + ", " + report.hostMemory + ", " + report.optimizer;
    facts["state"] = fmt::format("{} weights, moments of {} bytes", state.weights.numel(), state.firstMoment.nbytes());
    // Loaders go on until their queue is full.
    auto reads = tokens->reads();
    for (int still = 0; plan.feed.workers > 0 && still < 10; ++still) {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        if (auto now = tokens->reads(); now != reads) still = 0, reads = std::move(now);
    }
    for (const auto& [what, times] : reads) facts["tokens: " + what] = std::to_string(times);
    for (const auto& [what, times] : text->reads()) facts["text: " + what] = std::to_string(times);
}

// What the loop makes of it.
void observeARun(const RunConfig& config, Facts& facts) {
    testing::TinyTrainer trainer(config);
    facts["end"] = toString(trainer.run().state);
    for (const auto& done : trainer.sink.all<StepDone>())
        facts[fmt::format("step {}", done.step)] =
            fmt::format("{:a}, norm {:a}, {} tokens, {} operations", done.loss, done.gradientNorm, done.tokens, done.operations);
    for (const auto& done : trainer.sink.all<ValidationDone>()) facts[fmt::format("validation {}", done.step)] = fmt::format("{:a}", done.loss);
}

Facts observe(const RunConfig& config) {
    at::set_num_threads(1);
    Facts facts;
    observeAStep(registry().plan(config, 61).value(), facts);
    observeARun(config, facts);
    return facts;
}

const std::vector<Words>& contexts() {
    static const std::vector<Words> all{{},
                                        {{"fusion", "kernels"}},
                                        {{"fusion", "step"}},
                                        {{"fusion", "kernels"}, {"amp", "bf16"}, {"validation-every", "2"}, {"loader-workers", "1"}}};
    return all;
}

Result<RunConfig> configOf(const Words& words) {
    RunConfig config = testing::tinyConfig(registry(), 3);
    for (const auto& [id, value] : words)
        if (auto set = setKey(config, registry().catalogue(config), id, value); !set) return set.error();
    return registry().complete(config);
}

// Numbers that a run of a few small steps can show; of a switch that is not named here its least and the next after its default.
const std::map<std::string, std::vector<std::string>> kNumbers{
    {"batch-size", {"2"}},     {"context", {"8"}},         {"grad-accumulation", {"2"}}, {"chunked-loss", {"16", "1000"}},
    {"loader-workers", {"2"}}, {"loader-prefetch", {"7"}}, {"grad-clip", {"0", "1e-3"}}, {"validation-every", {"0", "1", "epoch"}},
};

std::vector<std::pair<std::string, std::string>> everyValue() {
    std::vector<std::pair<std::string, std::string>> all;
    for (const auto& entry : allSwitches()) {
        if (const auto* choices = std::get_if<Choices>(&entry.values))
            for (const auto& word : choices->words) all.emplace_back(entry.id, word);
        else if (const auto named = kNumbers.find(entry.id); named != kNumbers.end())
            for (const auto& number : named->second) all.emplace_back(entry.id, number);
        else if (const auto* whole = std::get_if<IntegerRange>(&entry.values))
            for (const std::int64_t number : {whole->least, std::get<std::int64_t>(entry.byDefault) + 1})
                all.emplace_back(entry.id, std::to_string(number));
        else
            all.emplace_back(entry.id, toString(Value{std::get<RealRange>(entry.values).least}));
    }
    return all;
}

// The first fact that differs; empty = none does.
std::string difference(const Facts& a, const Facts& b) {
    for (const auto& [what, value] : a)
        if (const auto other = b.find(what); other == b.end() || other->second != value) return what;
    for (const auto& [what, value] : b)
        if (!a.contains(what)) return what;
    return {};
}

class EveryValue : public ::testing::TestWithParam<std::pair<std::string, std::string>> {};

TEST_P(EveryValue, DoesWhatCanBeObservedOrItsNoteSaysWhyNot) {
    const auto& [id, value] = GetParam();
    for (const Words& beside : contexts()) {
        Words words = beside;
        words.emplace_back(id, value);
        const auto base = configOf(beside), config = configOf(words);
        ASSERT_TRUE(base.ok());
        if (!config || *config == *base) continue;  // refused with a reason, which RegistryTest looks at; or nothing else than before
        static std::map<const Words*, Facts> ofBase;
        if (!ofBase.contains(&beside)) ofBase[&beside] = observe(*base);
        const std::string changed = difference(ofBase[&beside], observe(*config));
        std::string said;
        bool idle = false;
        for (const auto& info : registry().catalogue(*config, 61))
            if (info.id == id) {
                said = info.fallback + (info.idle ? info.note : "");  // what a value costs is no reason to do nothing
                idle = info.idle;
            }
        const std::string where = fmt::format("{}={} beside {}", id, value, beside.empty() ? "defaults" : beside.front().second);
        EXPECT_TRUE(!changed.empty() || !said.empty()) << where << " changes nothing, and no note says so";
        EXPECT_TRUE(changed.empty() || !idle) << where << " changes \"" << changed << "\", and its note says: " << said;
    }
}

INSTANTIATE_TEST_SUITE_P(Registry, EveryValue, ::testing::ValuesIn(everyValue()), [](const auto& info) {
    std::string name = info.param.first + "_" + info.param.second;
    for (char& c : name)
        if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
    return name;
});

// A ladder leaves such a rung out by this, whatever words the note has.
TEST(EveryValue, IsIdleWhereItsNoteSaysThatItChangesNothingAndNotWhereTheNoteTellsOfItsCost) {
    const auto of = [](const Words& words, const std::string& id) {
        const auto config = configOf(words);
        for (const auto& info : registry().catalogue(*config, 61))
            if (info.id == id) return info;
        return SwitchInfo{};
    };
    for (const auto& [words, id] : std::vector<std::pair<Words, std::string>>{{{{"fusion", "step"}, {"zero-grad", "zero"}}, "zero-grad"},
                                                                              {{{"fusion", "step"}, {"chunked-loss", "16"}}, "chunked-loss"},
                                                                              {{{"loader-prefetch", "7"}}, "loader-prefetch"},
                                                                              {{{"validation-amp", "on"}}, "validation-amp"},
                                                                              {{{"fusion", "off"}, {"fused-loss", "off"}}, "fused-loss"}}) {
        EXPECT_TRUE(of(words, id).idle) << id;
        EXPECT_FALSE(of(words, id).note.empty()) << id;
    }
    EXPECT_FALSE(of({{"zero-grad", "zero"}}, "zero-grad").idle);
    const SwitchInfo ofLists = of({{"optimizer", "foreach"}}, "optimizer");
    EXPECT_FALSE(ofLists.note.empty());
    EXPECT_FALSE(ofLists.idle);
}

TEST(EveryValue, IsIdleWhereItIsWhatAutoComesTo) {
    for (const auto& [words, id] : std::vector<std::pair<Words, std::string>>{{{{"fusion", "kernels"}, {"fused-loss", "on"}}, "fused-loss"},
                                                                              {{{"attention", "sdpa-flash"}}, "attention"}})
        for (const auto& info : registry().catalogue(*configOf(words), 61))
            if (info.id == id) {
                EXPECT_TRUE(info.idle) << id << ": " << info.note;
            }
    for (const auto& info : registry().catalogue(*configOf({{"fused-loss", "on"}}), 61))
        if (info.id == "fused-loss") {
            EXPECT_FALSE(info.idle) << "alone it runs instead of the plain one";
        }
}

// That what is compared above tells apart what has no effect on a loss.
TEST(EveryValue, IsObservedAlsoWhereTheLossIsTheSame) {
    const Facts base = observe(configOf({}).value());
    EXPECT_EQ(difference(base, observe(configOf({}).value())), "") << "the same run twice";
    for (const Words& words :
         {Words{{"batch-creation", "loop"}}, Words{{"batch-creation", "strided"}}, Words{{"data-source", "text"}}, Words{{"data-source", "ram"}},
          Words{{"loader-workers", "1"}}, Words{{"zero-grad", "zero"}}, Words{{"host-memory", "system"}}}) {
        const Facts other = observe(configOf(words).value());
        EXPECT_EQ(other.at("loss 1"), base.at("loss 1")) << words.front().first;
        EXPECT_NE(difference(base, other), "") << words.front().first;
    }
}

}  // namespace
}  // namespace stepscope
