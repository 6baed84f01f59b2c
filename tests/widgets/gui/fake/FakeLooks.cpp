// The looks of the window's tests (FakeLooks.h), in place of app/workbench/diagnose.
#include "FakeLooks.h"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <set>
#include <thread>

#include "FakeWorkbench.h"
#include "app/workbench/WeightsLook.h"
#include "app/workbench/diagnose/Diagnose.h"
#include "app/workbench/diagnose/FindBatch.h"
#include "app/workbench/diagnose/PeakMeter.h"
#include "app/workbench/diagnose/TimeLook.h"
#include "app/workbench/inference/MeasureForms.h"
#include "app/workbench/text/PruneCheckpoint.h"
#include "app/workbench/workers/WorkersForecast.h"
#include "core/events/ConfigKeys.h"

namespace stepscope {
namespace {

std::mutex g_mutex;
FakeLook g_look;
RunConfig g_config;
int g_looks = 0;
std::set<std::thread::id> g_threads;
FakeForms g_forms;
FakePruned g_pruned;

// Takes its time; an error when it was stopped or is to fail.
Status take(const RunConfig& config, const std::atomic<bool>& cancelled) {
    FakeLook look;
    {
        std::lock_guard lock(g_mutex);
        look = g_look;
        g_config = config;
        ++g_looks;
        g_threads.insert(std::this_thread::get_id());
    }
    for (int waited = 0; waited < look.ms && !cancelled; ++waited) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (cancelled) return makeError(ErrorCode::Cancelled, "Stopped before it was timed.");
    if (!look.failure.empty()) return makeError(look.code, look.failure);
    return {};
}

std::vector<Advice> someAdvice() {
    return {{.rule = "clips-always",
             .title = "Look at clipping",
             .sentence = "Gradients were clipped in 96 % of 500 steps: the norm bounds every step, and the learning rate is not what it says.",
             .threshold = "gradients clipped in at least 90 % of a run's steps, of 50 or more",
             .evidence = {{"steps clipped", 0.96, "96 %"}, {"steps", 500, "500"}, {"at a norm of", 1, "1.00"}},
             .key = "grad-clip",
             .from = "1",
             .value = "2",
             .besideItself = false},
            {.rule = "noisy-machine",
             .title = "Find out how noisy this machine is",
             .sentence = "Something else moves the times of this machine's steps: close what can be closed, and give a comparison more minutes.",
             .threshold = "other programs at least 10 %, the host at least 5 %, or quartiles at least 10 % of the median step apart",
             .evidence = {{"other programs", 31, "31 % of the processors"}},
             .key = {},
             .from = {},
             .value = {},
             .besideItself = true}};
}

}  // namespace

void setFakeLook(const FakeLook& look) {
    std::lock_guard lock(g_mutex);
    g_look = look;
    g_looks = 0;
    g_forms = {};
    g_pruned = {};
}

std::string fakeLookedAt(const std::string& key) {
    std::lock_guard lock(g_mutex);
    for (const auto& [name, value] : listConfig(g_config))
        if (name == key) return value;
    return {};
}

int fakeLooks() {
    std::lock_guard lock(g_mutex);
    return g_looks;
}

bool fakeLookWasHere() {
    std::lock_guard lock(g_mutex);
    return g_threads.contains(std::this_thread::get_id());
}

FakeForms fakeForms() {
    std::lock_guard lock(g_mutex);
    return g_forms;
}

FakePruned fakePruned() {
    std::lock_guard lock(g_mutex);
    return g_pruned;
}

Result<PruneAnswer> pruneCheckpoint(const PruneRequest& request, const std::function<void(double)>& progress, const std::atomic<bool>& cancelled) {
    {
        std::lock_guard lock(g_mutex);
        g_pruned = {request.evaluate.checkpoint, request.out, toString(request.scope), request.pattern, request.evaluate.data, request.sparsity};
    }
    progress(0.5);
    if (auto taken = take(RunConfig{}, cancelled); !taken) return taken.error();
    PruneAnswer answer;
    answer.zeros = 300;
    answer.weights = 1000;
    answer.before.perplexity = 29.41;
    answer.after.perplexity = 31.2;
    answer.before.tokens = request.evaluate.tokens;
    return answer;
}

// int8 is twice as fast for text; of int4 nothing is known when it was stopped.
Result<FormsAnswer> measureForms(const FormsRequest& request, const std::function<void(const FormsProgress&, const FormsAnswer& soFar)>& progress,
                                 const std::atomic<bool>& cancelled) {
    {
        std::lock_guard lock(g_mutex);
        g_forms = {request.from, request.data, request.budgetSeconds, request.sequences, request.besideAPausedRun};
    }
    FormsAnswer known;
    known.data = "King James text";
    known.tokens = request.tokens;
    known.windows = 8;
    known.sequences = request.sequences;
    known.prompt = 128;
    known.text = 64;
    known.threads = 2;
    known.promptFloor = 1.008;
    known.textFloor = 1.012;
    double perSecond = 61, weights = 4.98e8, perplexity = 29.41;
    for (const std::string& form : allForms()) {
        FormRow row;
        row.form = form;
        row.weights = {static_cast<std::int64_t>(form == "int8-dynamic" ? 4.98e8 / 4 : weights)};
        row.perplexity = perplexity;
        if (form != "f32") row.quality = {perplexity / 29.41 - 1, perplexity / 29.41 - 1.0004, perplexity / 29.41 - 0.9996};
        known.forms.push_back(row);
        weights /= 2;
        perplexity *= form == "int8" ? 1.03 : 1.0004;
    }
    progress({"reading the text in int8", 0.2}, known);
    if (auto taken = take(RunConfig{}, cancelled); !taken && taken.error().code != ErrorCode::Cancelled) return taken.error();
    known.stopped = cancelled;
    if (known.stopped) return known;
    for (FormRow& row : known.forms) {
        for (FormSpeed* speed : {&row.prompt, &row.text}) {
            const double times = row.form == "f32" ? 1 : speed == &row.prompt ? 0.97 : perSecond / 61;
            speed->perSecond = (speed == &row.prompt ? 480 : 61) * times;
            speed->low = speed->perSecond * 0.985;
            speed->high = speed->perSecond * 1.015;
            if (row.form == "f32") continue;
            speed->judged.outcome = times > 1 ? "faster" : "inconclusive";
            speed->judged.ratio = times;
            speed->judged.low = times * 0.98;
            speed->judged.high = times * 1.02;
            if (times <= 1) speed->judged.why = "The interval [0.951, 1.011] holds both \"equal\" and \"different\".";
        }
        row.text.bandwidthShare = 0.71;
        perSecond *= 1.6;
    }
    known.bytesPerSecond = 2.1e10;
    known.rounds = 24;
    known.timed = true;
    double change = 0.002;
    for (const PruningPoint& point : prunedPoints()) {
        PrunedRow row;
        row.name = point.name;
        row.scope = point.scope;
        row.share = point.share;
        row.zeros = point.scope.empty() ? 0.5 : point.share;
        row.perplexity = 29.41 * (1 + change);
        row.quality = {change, 0.9 * change, 1.1 * change};
        known.pruned.push_back(row);
        change *= 6;
        if (row.zeros > 0.8) change = 0.31;
    }
    return known;
}

Result<Diagnosis> diagnose(const Machine& machine, const DiagnoseRequest& request, const LookProgress& progress, const std::atomic<bool>& cancelled) {
    progress("timing steps");
    if (auto taken = take(request.config, cancelled); !taken) return taken.error();
    Diagnosis found;
    found.machine = machine;
    found.config = request.config;
    found.availableMemory = {24'000'000'000};
    found.disk = {"~/.local/share/stepscope", 69'800'000'000, 10'100'000};
    found.data = {
        request.config.data, "generated text, 4 000 347 byte tokens", "UTF-8 text in byte tokens", 4'000'347, 3'600'312, 400'035, 256, 0.853};
    found.memory.parameters = 842'496;
    found.memory.tensors = found.memory.total = {67'000'000};
    found.memory.available = {23'000'000'000};
    found.memory.parts = "MLP 25.2 MB, residual sums and norms 14.3 MB, q, k, v 9.44 MB, moments 6.74 MB";
    found.batchThatFits = 4'370;
    SwitchInfo refused;
    refused.id = "device";
    refused.applicable = Verdict::no("No NVIDIA driver is installed.");
    found.switches = {refused};
    if (request.config.data == "tiny.txt")
        found.problems = {"2 000 steps read the text 41 times: it will be learnt by heart; give more text or fewer steps."};
    StepsTiming timing;
    timing.plan.config = request.config;
    timing.stepMs = {80, 82, 84, 85, 90};
    timing.tokens = 1536;
    timing.sequences = 12;
    timing.validationMs = 104;
    timing.work.products = 7.5e9;
    found.peaks.float32 = 3.16e11;
    timing.plan.validation.everySteps = 100;
    if (std::lock_guard lock(g_mutex); !g_look.disturbed.empty()) timing.othersPct = 48;
    found.estimate = estimateTime(timing);
    found.timing = std::move(timing);
    std::lock_guard lock(g_mutex);
    if (g_look.advises) found.advice = someAdvice();
    return found;
}

Result<BatchSearch> findBatch(const Machine&, const FindBatchRequest& request, const LookProgress& progress, const std::atomic<bool>& cancelled) {
    progress("timing batches of 4");
    if (auto taken = take(request.config, cancelled); !taken) return taken.error();
    BatchSearch found;
    found.now = 12;
    found.largestThatFits = 4'370;
    found.knee = 32;
    found.gain = 1.31;
    found.points = {{1, 9.1, 14'000, 2e7, {20'000'000}},
                    {12, 84, 18'200, 6.7e7, {67'000'000}},
                    {32, 172, 23'900, 1.6e8, {160'000'000}},
                    {64, 340, 24'100, 3e8, {300'000'000}}};
    found.setting = "grad-clip=3";  // a switch that the fake engine has
    found.ended = "Larger ones stopped winning anything.";
    return found;
}

// By the name of what was chosen.
WeightsLook lookAtWeights(const std::string& path, const RunConfig& config) {
    if (path.find("pickle") != std::string::npos)
        return {.found = {}, .problem = path + " is a pickle, which is a program; nobody reads it here.", .shaped = {}};
    const std::string found = "12 layers, 12 heads, 768 wide, 50 257 ids, 1 024 positions: 124 M parameters. Its tokenizer came with it.";
    if (config.layers == 12) return {.found = found, .problem = {}, .shaped = {}};
    RunConfig shaped = config;
    shaped.layers = shaped.heads = 12;
    shaped.width = 768;
    return {.found = found, .problem = "They are of another model than the one that is set: layers 12 instead of 4.", .shaped = shaped};
}

MachinePeaks knownPeaks(const Machine&, const PeaksRequest&) {
    std::lock_guard lock(g_mutex);
    MachinePeaks peaks;
    if (g_look.knowsPeaks) peaks.float32 = 3.16e11, peaks.bytesPerSecond = 2.4e10;
    return peaks;
}

std::optional<StoredForecast> knownForecast(const Machine&, const RunConfig&, const std::string&) {
    std::lock_guard lock(g_mutex);
    if (!g_look.knowsTime) return std::nullopt;
    return StoredForecast{.source = "5 timed steps", .seconds = 131, .low = 120, .high = 150};
}

Result<StoredForecast> timeForecast(const Machine&, const RunConfig& config, const std::string&, double, const std::atomic<bool>& cancelled) {
    if (auto taken = take(config, cancelled); !taken) return taken.error();
    std::lock_guard lock(g_mutex);
    return StoredForecast{.source = "5 timed steps", .seconds = 131, .low = 120, .high = 150, .disturbed = g_look.disturbed};
}

Result<WorkersForecast> forecastWorkers(const std::string&, std::int64_t, const WorkerMap& map, const std::vector<std::int64_t>&, const Link&) {
    return WorkersForecast{.whyNot = "Other numbers of workers are not foretold in this test.", .workers = map.workers()};
}

std::string forecastWords(const WorkersForecast& forecast) {
    return forecast.whyNot;
}

}  // namespace stepscope
