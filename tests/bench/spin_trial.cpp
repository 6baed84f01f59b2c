// Does an experiment find a Program that takes a little longer, the right way round, and name the work that it takes longer in? Real experiments of
// `tiny-cpu` by the production Comparison, in which B is A and spins for a share of A's step, each time in another phase and part of the model:
//   spin_trial [--tries 5] [--percent 3] [--budget 180] [--windows 8] [KEY=VALUE ...]
// KEY=VALUE: settings of both. --budget: as `ab` takes it, captures included. Prints a row a try and one line of JSON; exit status 0 where four of
// five tries were found, four of five named the kind of work in which B spins (where steps were captured), and none was found the wrong way.
#include <ATen/Parallel.h>
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "app/workbench/Workbench.h"
#include "app/workbench/diagnose/OpenBatches.h"
#include "core/analysis/ExperimentHistory.h"
#include "core/analysis/Statistics.h"
#include "core/base/OperationSpan.h"
#include "core/base/SteadyNow.h"
#include "core/events/ConfigKeys.h"
#include "core/events/Event.h"
#include "core/events/Presets.h"
#include "core/events/Schedule.h"
#include "core/optimizations/registry/Registry.h"
#include "core/trace/SliceCodec.h"
#include "core/train/Comparison.h"
#include "core/train/Settling.h"

namespace {

using namespace stepscope;

struct Options {
    double tries = 5, percent = 3, budget = 180, windows = 8;
    std::vector<std::string> settings;
};

struct Spin {
    const char* name;  // of the operation that a capture sees
    Activity phase;
    Role role;
    WorkClass kind;  // that this is
};
constexpr Spin kSpins[] = {
    {"spin", Activity::Optimizer, Role::Optimizer, WorkClass::Optimizer},
    {"spin", Activity::Forward, Role::AttentionCore, WorkClass::Attention},
    {"spin", Activity::Forward, Role::HeadLoss, WorkClass::Loss},
    {"spin", Activity::Batch, Role::None, WorkClass::Data},
    {"residual + norm, spun", Activity::Forward, Role::Norm1, WorkClass::Normalisation},
};

constexpr const char* kSpinning = "spinning";  // as its preset: nobody else has one of that name

class SpinningProgram final : public StepProgram {
public:
    SpinningProgram(std::unique_ptr<StepProgram> program, const Spin& spin, double seconds)
        : m_program(std::move(program)), m_spin(spin), m_ns(static_cast<std::int64_t>(seconds * 1e9)) {}
    void prepare(const TrainState& state) override { m_program->prepare(state); }
    StepResult step(TrainState& state, const BatchSource& batches, double rate) override {
        const StepResult result = m_program->step(state, batches, rate);
        const PlaceScope place(m_spin.phase);
        const OperationSpan span(m_spin.name, m_spin.role);
        for (const std::int64_t end = steadyNow() + m_ns; steadyNow() < end;) {
        }
        return result;
    }
    double evaluate(const TrainState& state, const BatchSource& batches, std::int64_t tokens, const Ended& ended) override {
        return m_program->evaluate(state, batches, tokens, ended);
    }
    void shareWith(DataParallel* others) override { m_program->shareWith(others); }
    void subscribe(GradientSubscriber* subscriber) override { m_program->subscribe(subscriber); }
    const ProgramReport& report() const override { return m_program->report(); }

private:
    std::unique_ptr<StepProgram> m_program;
    const Spin& m_spin;
    std::int64_t m_ns;
};

class SpinningFactory final : public ProgramFactory {
public:
    SpinningFactory(const Registry& registry, const Spin& spin, double seconds) : m_registry(registry), m_spin(spin), m_seconds(seconds) {}
    Result<RunConfig> flipped(const RunConfig& config, const std::string& id, const Value& value) const override {
        return m_registry.flipped(config, id, value);
    }
    Result<RunPlan> plan(const RunConfig& config, std::int64_t vocabulary) const override { return m_registry.plan(config, vocabulary); }
    StateForm formOf(const RunPlan& plan, const TrainState& state) const override { return m_registry.formOf(plan, state); }
    std::unique_ptr<StepProgram> build(const RunPlan& plan) const override {
        auto program = m_registry.build(plan);
        if (plan.config.preset != kSpinning) return program;
        return std::make_unique<SpinningProgram>(std::move(program), m_spin, m_seconds);
    }

private:
    const Registry& m_registry;
    const Spin& m_spin;
    double m_seconds;
};

// Of one experiment; called on the thread that measures alone.
class Heard final : public EventSink {
public:
    void publish(Event event) override { history.add(event); }
    void publishChunk(ChunkPtr chunk) override {
        if (!isSlices(chunk->kind)) return;
        if (const auto block = decodeSlices(*chunk)) history.add(*block);
    }
    ExperimentHistory history;
};

struct Bench {
    Registry registry;
    RunConfig config;
    RunPlan plan;
    std::shared_ptr<const BatchSource> batches;
    std::shared_ptr<const TrainState> start;
    SessionClock clock{};
};

Result<Bench> prepare(const Options& options) {
    const auto workbench = Workbench::create();
    auto config = presetConfig("tiny-cpu");
    if (!config) return config.error();
    onlySteps(*config);
    for (const std::string& setting : options.settings) {
        const auto equals = setting.find('=');
        if (equals == std::string::npos) return makeError(ErrorCode::BadInput, fmt::format("\"{}\" is no KEY=VALUE.", setting));
        if (auto set = setKey(*config, workbench->switches(*config), setting.substr(0, equals), setting.substr(equals + 1)); !set) return set.error();
    }
    config->steps = 1'000'000;
    auto complete = workbench->complete(*config);
    if (!complete) return complete.error();
    Bench bench{.registry = Registry(workbench->machine()), .config = std::move(*complete), .plan = {}, .batches = {}, .start = {}};
    at::set_num_threads(static_cast<int>(bench.config.threads > 0 ? bench.config.threads : bench.registry.machine().cores));
    for (const bool known : {false, true}) {
        auto plan = bench.registry.plan(bench.config, known ? bench.batches->corpus().vocabulary : 0);
        if (!plan) return plan.error();
        bench.plan = std::move(*plan);
        if (known) break;
        auto batches = openBatches(bench.plan, {}, std::atomic<bool>(false));
        if (!batches) return batches.error();
        bench.batches = std::move(*batches);
    }
    const GptConfig shape = bench.registry.modelShape(bench.plan, bench.batches->corpus().vocabulary);
    bench.start = std::make_shared<const TrainState>(TrainState::initialise(shape, static_cast<std::uint64_t>(bench.config.seed)));
    return bench;
}

double medianStep(const Bench& bench) {
    TrainState state = bench.start->clone();
    state.convert(bench.registry.formOf(bench.plan, state));
    const auto program = bench.registry.build(bench.plan);
    std::vector<double> seconds;
    constexpr int kTimed = 40;
    for (int i = 0; i < settlingSteps(bench.plan) + kTimed; ++i) {
        const TimeNs begin = bench.clock.now();
        program->step(state, *bench.batches, learningRate(bench.config, state.updates + 1));
        if (i >= settlingSteps(bench.plan)) seconds.push_back((bench.clock.now() - begin).seconds());
    }
    return median(seconds);
}

struct Tried {
    bool found = false, wrong = false, landed = false, explained = false;
};

Tried tryOne(const Bench& bench, const Options& options, std::size_t number, double step) {
    const Spin& spin = kSpins[number % std::size(kSpins)];
    const SpinningFactory factory(bench.registry, spin, step * options.percent / 100);
    Heard heard;
    heard.publish(ExperimentBegan{.seed = static_cast<std::int64_t>(number) + 1});
    const std::atomic<bool> stop{false};
    ComparisonSetup setup;
    setup.batches = bench.batches;
    setup.factory = &factory;
    setup.clock = &bench.clock;
    setup.sink = &heard;
    setup.stop = &stop;
    setup.rules.seed = number + 1;
    setup.rules.budgetSeconds = secondsOfPairs(options.budget, options.windows > 0);
    setup.whySeconds = options.budget - setup.rules.budgetSeconds;
    setup.whyWindows = static_cast<std::int64_t>(options.windows);
    for (ComparedSide& side : setup.sides) side = {bench.config, bench.plan, bench.start};
    setup.sides[1].plan.config.preset = kSpinning;
    const ComparisonOutcome outcome = Comparison(std::move(setup)).run();
    const ExperimentJudged judged = heard.history.newest().value_or(ExperimentJudged{.outcome = "inconclusive"});
    const WaterfallResult why = heard.history.why();
    Tried tried{.found = judged.outcome == "slower", .wrong = judged.outcome == "faster"};
    std::string most = "nothing", told = "nothing";
    if (!why.classes.empty()) {
        const auto largest = std::ranges::max_element(why.classes, {}, &ClassDifference::difference);
        most = toString(largest->kind);
        tried.landed = largest->kind == spin.kind;
        // Where the captures leave more open than there is to explain, nothing can be missing from them.
        tried.explained = why.unexplainedShare() <= 0.1 && why.open <= std::abs(why.difference());
        if (const auto own = std::ranges::find(why.classes, spin.kind, &ClassDifference::kind); own != why.classes.end())
            told = fmt::format("{:.2f} [{:.2f}, {:.2f}]", own->difference(), own->low, own->high);
    }
    fmt::print("| {} | {} | {} | {:.4f} [{:.4f}, {:.4f}] | {} | {:.0f} | {} | {} | {:.0f} % | {:.2f} | {:.2f} ± {:.2f} |\n", number + 1,
               toString(spin.kind), outcome.state == RunState::Failed ? outcome.error.sentence : judged.outcome, judged.ratio, judged.low,
               judged.high, judged.pairs, judged.seconds, most, told, 100 * why.unexplainedShare(), std::abs(why.difference()), why.apart, why.open);
    std::fflush(stdout);
    return tried;
}

int fail(const std::string& sentence) {
    fmt::print(stderr, "{}\n", sentence);
    return 2;
}

}  // namespace

int main(int argc, char** argv) {
    initialiseEngine();
    Options options;
    for (int i = 1; i < argc; ++i) {
        const std::string word = argv[i];
        double* const number = word == "--tries"     ? &options.tries
                               : word == "--percent" ? &options.percent
                               : word == "--budget"  ? &options.budget
                               : word == "--windows" ? &options.windows
                                                     : nullptr;
        if (number == nullptr) {
            options.settings.push_back(word);
            continue;
        }
        const std::string text = i + 1 < argc ? argv[++i] : "";
        const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), *number);
        if (problem != std::errc{} || end != text.data() + text.size() || !(*number >= 0.1 && *number <= 1e5))
            return fail(fmt::format("{} takes a number, not \"{}\".", word, text));
    }
    const auto bench = prepare(options);
    if (!bench) return fail(bench.error().sentence);
    const double step = medianStep(*bench);
    fmt::print("A step takes {:.2f} ms; B spins for {:.3f} ms of it.\n", step * 1e3, step * 1e3 * options.percent / 100);
    fmt::print(
        "| try | spins in | B beside A | time of A ÷ B | pairs | s | most of the difference is in | where it spins, ms | not explained | difference, "
        "ms | captures less by, ms |\n"
        "| ---: | --- | --- | --- | ---: | ---: | --- | --- | ---: | ---: | --- |\n");
    const int tries = std::max(1, static_cast<int>(options.tries));
    int found = 0, wrong = 0, landed = 0, explained = 0;
    for (int i = 0; i < tries; ++i) {
        const Tried tried = tryOne(*bench, options, static_cast<std::size_t>(i), step);
        found += tried.found;
        wrong += tried.wrong;
        landed += tried.landed;
        explained += tried.explained;
    }
    fmt::print("{}\n", nlohmann::json({{"bench", "spin_trial"},
                                       {"percent", options.percent},
                                       {"step_ms", step * 1e3},
                                       {"tries", tries},
                                       {"found", found},
                                       {"wrong", wrong},
                                       {"landed", landed},
                                       {"explained", explained}})
                           .dump());
    const bool named = options.windows < 1 || 5 * landed >= 4 * tries;
    return 5 * found >= 4 * tries && named && wrong == 0 ? 0 : 1;
}
