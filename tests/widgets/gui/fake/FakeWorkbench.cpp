// A Workbench without an engine, for tests of the window.
#include "FakeWorkbench.h"

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <set>
#include <thread>

#include "FakeExperiment.h"
#include "FakeRun.h"
#include "FakeTune.h"
#include "app/workbench/Checkpoints.h"
#include "app/workbench/ExportModel.h"
#include "app/workbench/experiments/ExperimentQuestion.h"
#include "app/workbench/experiments/LiveLadder.h"
#include "app/workbench/text/WriteTexts.h"
#include "core/events/ConfigKeys.h"
#include "sessions/record/Recorder.h"

namespace stepscope {
namespace {

std::atomic<double> g_stepMs = 2;
std::atomic<int> g_estimateMs = 0;

std::string g_refusal;
FakeExperimentPlan g_experiment;
std::atomic<bool> g_checkpoints = false;
std::atomic<bool> g_lostCheckpoints = false;

std::mutex g_asking;
std::set<std::thread::id> g_askedOn;

void noteAsker() {
    std::lock_guard lock(g_asking);
    g_askedOn.insert(std::this_thread::get_id());
}

std::int64_t nowUnixMs() {
    return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

class FakeWorkbench : public Workbench {
public:
    FakeWorkbench() {
        m_machine.cpu = "Test CPU";
        m_machine.cores = 2;
        m_machine.memory = {8'000'000'000};
        m_machine.whyNoCuda = "No NVIDIA driver is installed.";
    }
    explicit FakeWorkbench(Machine machine) : m_machine(std::move(machine)) {}
    const Machine& machine() const override { return m_machine; }
    SwitchCatalogue switches(const RunConfig& config) const override {
        noteAsker();
        return fakeCatalogue(config);
    }

    Result<RunConfig> complete(RunConfig config) const override {
        noteAsker();
        for (const auto& entry : fakeCatalogue(config)) config.switches.try_emplace(entry.id, entry.byDefault);
        if (auto checked = checkConfig(config); !checked) return checked.error();
        return config;
    }

    Estimate estimate(const RunConfig& config) const override {
        noteAsker();
        std::this_thread::sleep_for(std::chrono::milliseconds(g_estimateMs));
        Estimate e;
        e.parameters = 12 * config.layers * config.width * config.width + 256 * config.width;
        e.weights = e.gradients = {e.parameters * 4};
        e.moments = {e.parameters * 8};
        e.activations = {4'000'000 * (config.has("batch-size") ? config.integer("batch-size") : 12)};
        e.logits = {3'100'000};
        e.total = e.weights + e.gradients + e.moments + e.activations + e.logits;
        e.available = {8'000'000'000};
        e.parts = "attention 30 MB, q, k, v 12 MB";
        return e;
    }

    Result<std::unique_ptr<Run>> startExperiment(ExperimentRequest request, EventSink& sink) override {
        if (!g_experiment.refusal.empty()) return makeError(ErrorCode::OutOfMemory, g_experiment.refusal);
        if (const std::string why = whyNotComparable(request.a, request.b, request.same); !why.empty()) return makeError(ErrorCode::BadInput, why);
        SessionInfo info;
        info.kind = SessionKind::Experiment;
        info.config = request.a;
        info.name = questionWords(request.a, request.b, request.same);
        info.machine = m_machine;
        info.startedUnixMs = nowUnixMs();
        std::unique_ptr<Recorder> recorder;
        if (request.record && g_experiment.failure.empty()) {
            Recorder::Options options;
            options.path = request.database;
            auto opened = Recorder::open(options, info);
            if (!opened) return opened.error();
            recorder = std::move(*opened);
        }
        return std::unique_ptr<Run>(
            std::make_unique<FakeExperiment>(request, g_experiment, std::make_shared<const SessionInfo>(info), std::move(recorder), sink));
    }

    // The real ladder over experiments that are not.
    LadderEngine ladderEngine(const LadderRequest& request) {
        LadderEngine engine;
        engine.machine = m_machine;
        engine.config = [this, ladder = request.ladder, base = request.config](const RungSet& rungs) -> Result<RunConfig> {
            auto config = onLadder(ladder, rungs, base, fakeCatalogue(base));
            if (!config) return config;
            return complete(std::move(*config));
        };
        engine.whyNot = [config = engine.config](const RungSet& a, const RungSet& b) -> std::string {
            const auto configA = config(a), configB = config(b);
            if (!configA || !configB) return (configA ? configB : configA).error().sentence;
            return configB->switches == configA->switches ? "It does nothing here: the same runs as without it." : "";
        };
        engine.start = [this](ExperimentRequest experiment, EventSink& sink) { return startExperiment(std::move(experiment), sink); };
        return engine;
    }

    std::string whyNothingDiffers(const RunConfig&, const RunConfig&) const override { return m_alike; }
    Result<LadderForecast> forecast(LadderRequest request) const override {
        if (auto good = checkLadder(request.ladder, request.config, fakeCatalogue(request.config)); !good) return good.error();
        const LadderEngine engine = const_cast<FakeWorkbench*>(this)->ladderEngine(request);
        return forecastOf(courseOf(request, engine), engine, request.database);
    }

    Result<std::unique_ptr<Run>> startLadder(LadderRequest request, EventSink& sink) override {
        if (auto good = checkLadder(request.ladder, request.config, fakeCatalogue(request.config)); !good) return good.error();
        LadderEngine engine = ladderEngine(request);
        LadderCourse course = courseOf(request, engine);
        auto run = std::make_unique<LiveLadder>(std::move(request), std::move(engine), std::move(course), sink);
        run->begin();
        return std::unique_ptr<Run>(std::move(run));
    }

    Result<std::unique_ptr<Run>> startTune(TuneRequest request, EventSink& sink) override {
        auto whole = complete(request.config);
        if (!whole) return whole.error();
        request.config = std::move(*whole);
        auto run = std::make_unique<FakeTune>(
            std::move(request), m_machine,
            [this](ExperimentRequest experiment, EventSink& events) { return startExperiment(std::move(experiment), events); }, sink);
        run->begin();
        return std::unique_ptr<Run>(std::move(run));
    }

    Result<std::unique_ptr<Run>> start(RunRequest request, EventSink& sink) override {
        auto complete = this->complete(request.config);
        if (!complete) return complete.error();
        SessionInfo info;
        info.config = *complete;
        info.name = request.name.empty() ? request.config.preset : request.name;
        info.machine = m_machine;
        info.startedUnixMs = nowUnixMs();
        info.parameters = estimate(request.config).parameters;
        info.trainTokens = 3'900'000;
        std::unique_ptr<Recorder> recorder;
        if (request.record && g_refusal.empty()) {
            Recorder::Options options;
            options.path = request.database;
            auto opened = Recorder::open(options, info);
            if (!opened) return opened.error();
            recorder = std::move(*opened);
        }
        return std::unique_ptr<Run>(
            std::make_unique<FakeRun>(request, std::make_shared<const SessionInfo>(info), std::move(recorder), sink, g_stepMs, g_refusal));
    }

private:
    Machine m_machine;
    const std::string m_alike = g_experiment.alike;  // asked from another thread than the one that sets it
};

}  // namespace

// Whether every session has a checkpoint of step 42; tests/widgets/engine has real ones.
Result<std::string> newestCheckpoint(const std::string&, std::int64_t session) {
    if (g_checkpoints) return "checkpoint-" + std::to_string(session);
    return makeError(ErrorCode::NotFound, "Session " + std::to_string(session) + " has no checkpoint.");
}
Result<RunConfig> storedConfig(RunConfig config, const std::string&) {
    return config;
}
Result<CheckpointInfo> inspectCheckpoint(const std::string& path) {
    if (!g_checkpoints) return makeError(ErrorCode::NotFound, path + " is no checkpoint.");
    CheckpointInfo info;
    info.path = path;
    info.step = 42;
    return info;
}
Result<TextAnswer> writeTexts(const TextRequest& request, const std::function<void(std::size_t, const std::string&, const TextSpeed&)>& onText,
                              const std::atomic<bool>&) {
    if (!g_checkpoints) return makeError(ErrorCode::NotFound, request.from + " is no checkpoint.");
    const std::string text = " out of " + request.from + (request.dtype == "f32" ? "." : " as " + request.dtype + ".");
    for (std::size_t i = 0; i < request.prompts.size(); ++i) {
        onText(i, " out of", {});
        onText(i, text, {});
    }
    return TextAnswer{std::vector<std::string>(request.prompts.size(), text), {}};
}

Result<ExportAnswer> exportModel(const ExportRequest& request, const std::atomic<bool>&) {
    if (!g_checkpoints) return makeError(ErrorCode::NotFound, request.from + " is no checkpoint.");
    return ExportAnswer{.files = {{"model.safetensors", 1'000}}, .bytes = 1'000, .parameters = 250, .notes = {"Padding was left out."}};
}

bool fakeWasAskedHere() {
    std::lock_guard lock(g_asking);
    return g_askedOn.contains(std::this_thread::get_id());
}

void setFakeStepMs(double ms) {
    g_stepMs = ms;
}
void setFakeRefusal(const std::string& sentence) {
    g_refusal = sentence;
}
void setFakeCheckpoints(bool have) {
    g_checkpoints = have;
}
void setFakeLostCheckpoints(bool lost) {
    g_lostCheckpoints = lost;
}
bool fakeLosesCheckpoints() {
    return g_lostCheckpoints;
}
void setFakeExperiment(const FakeExperimentPlan& plan) {
    g_experiment = plan;
}
void setFakeEstimateMs(int ms) {
    g_estimateMs = ms;
}

SwitchCatalogue fakeCatalogue(const RunConfig&) {
    SwitchCatalogue all;
    all.push_back({"device",
                   "Device",
                   SwitchGroup::Device,
                   "Where the model and batches live.",
                   "Nothing.",
                   "GPU ~1000 ms with a larger batch",
                   Choices{{"cpu", "cuda:0"}},
                   Value{std::string("cpu")},
                   TakesEffect::Step,
                   "",
                   Verdict::no("Needs a GPU: no NVIDIA driver is installed."),
                   {}});
    all.push_back({"matmul-precision",
                   "Matmul precision",
                   SwitchGroup::Precision,
                   "How float32 products are computed inside.",
                   "Rounding of the products.",
                   "1000 → 333 ms on an A100",
                   Choices{{"highest", "high", "medium"}},
                   Value{std::string("highest")},
                   TakesEffect::Step,
                   "",
                   Verdict::yes(),
                   {{"high", "TF32 needs a GPU."}}});
    all.push_back({"amp",
                   "Mixed precision",
                   SwitchGroup::Precision,
                   "Matrix products run in 16 bits; the weights stay in float32.",
                   "Rounding; the loss may differ in its third digit.",
                   "1.5–3x; −40…50 % memory",
                   Choices{{"off", "bf16", "fp16"}},
                   Value{std::string("off")},
                   TakesEffect::Step,
                   "",
                   Verdict::yes(),
                   {}});
    all.push_back({"attention",
                   "Attention",
                   SwitchGroup::Kernels,
                   "Which implementation of attention runs.",
                   "",
                   "",
                   Choices{{"manual", "sdpa-math", "sdpa-flash", "auto"}},
                   Value{std::string("auto")},
                   TakesEffect::Step,
                   "",
                   Verdict::yes(),
                   {}});
    all.push_back({"host-memory",
                   "CPU memory",
                   SwitchGroup::Memory,
                   "How CPU memory is kept between steps.",
                   "Memory stays taken.",
                   "",
                   Choices{{"system", "caching"}},
                   Value{std::string("caching")},
                   TakesEffect::Step,
                   "",
                   Verdict::yes(),
                   {}});
    all.push_back({"batch-size",
                   "Batch size",
                   SwitchGroup::Batch,
                   "Sequences in one micro-batch.",
                   "Memory grows with it.",
                   "",
                   IntegerRange{1, 65536},
                   Value{std::int64_t{12}},
                   TakesEffect::Step,
                   "",
                   Verdict::yes(),
                   {}});
    all.push_back({"context",
                   "Context",
                   SwitchGroup::Batch,
                   "Tokens in one sequence.",
                   "Memory grows with it.",
                   "",
                   IntegerRange{1, 65536},
                   Value{std::int64_t{128}},
                   TakesEffect::NewRun,
                   "the position embedding has this many rows",
                   Verdict::yes(),
                   {}});
    all.push_back({"grad-clip",
                   "Gradient clipping",
                   SwitchGroup::Optimizer,
                   "Scales gradients down to this norm; 0 = off.",
                   "",
                   "",
                   RealRange{0, 1e6},
                   Value{1.0},
                   TakesEffect::Step,
                   "",
                   Verdict::yes(),
                   {}});
    all.push_back({"zero-grad",
                   "Clearing gradients",
                   SwitchGroup::Optimizer,
                   "How gradients are cleared.",
                   "",
                   "small",
                   Choices{{"zero", "set-to-none"}},
                   Value{std::string("set-to-none")},
                   TakesEffect::Step,
                   "",
                   Verdict::yes(),
                   {}});
    return all;
}

void initialiseEngine() {
    if (const char* ms = std::getenv("STEPSCOPE_FAKE_STEP_MS")) g_stepMs = std::atof(ms);
    if (std::getenv("STEPSCOPE_FAKE_LOST") != nullptr) g_lostCheckpoints = true;
}

Status checkEnvironment() {
    return {};
}

std::unique_ptr<Workbench> Workbench::create() {
    return std::make_unique<FakeWorkbench>();
}
std::unique_ptr<Workbench> Workbench::create(Machine machine) {
    return std::make_unique<FakeWorkbench>(std::move(machine));
}

}  // namespace stepscope
