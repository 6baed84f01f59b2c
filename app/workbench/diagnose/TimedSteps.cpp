#include "app/workbench/diagnose/TimedSteps.h"

#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "app/workbench/MemoryNeed.h"
#include "app/workbench/StartingState.h"
#include "app/workbench/diagnose/Estimate.h"
#include "app/workbench/diagnose/MachineTurn.h"
#include "app/workbench/diagnose/OpenBatches.h"
#include "core/base/OperationSpan.h"
#include "core/events/Schedule.h"
#include "core/memory/DeviceMemory.h"
#include "core/memory/HostAllocator.h"
#include "core/profile/OperationCounter.h"
#include "core/profile/ProcessUsage.h"
#include "core/profile/ProcessorTimes.h"
#include "core/state/Checkpoint.h"
#include "core/train/CaptureWindow.h"
#include "core/train/Evaluation.h"
#include "core/train/Failure.h"

namespace stepscope {
namespace {

// A Program that captures its step has done so by the fifth.
constexpr std::int64_t kWarmUpOfCaptured = 6;

class StepsLook {
public:
    StepsLook(const Machine& machine, const StepsRequest& request, const LookProgress& progress, const std::atomic<bool>& cancelled)
        : m_registry(machine), m_request(request), m_progress(progress), m_cancelled(cancelled) {}

    Result<StepsTiming> run() {
        if (auto good = checkSteps(m_request); !good) return good.error();
        if (auto ready = prepare(); !ready) return ready.error();
        for (const auto part : {&StepsLook::warmUp, &StepsLook::countQuietly, &StepsLook::capture, &StepsLook::validate, &StepsLook::checkpoint})
            if (auto done = (this->*part)(); !done) return done.error();
        return std::move(m_timing);
    }

private:
    at::Device device() const { return at::Device(m_timing.plan.device()); }
    void say(const std::string& what) const {
        if (m_progress) m_progress(what);
    }
    Status mayGoOn() const {
        if (LookTurn::wanted()) return makeError(ErrorCode::Cancelled, "A run began, and what was being timed gave way to it.");
        if (m_cancelled) return makeError(ErrorCode::Cancelled, "Stopped before it was timed.");
        return {};
    }

    Status plan(std::int64_t vocabulary) {
        auto made = m_registry.plan(m_request.config, vocabulary);
        if (!made) return made.error();
        m_timing.plan = std::move(*made);
        if (m_request.batchSize > 0) m_timing.plan.batchSize = m_request.batchSize;
        return {};
    }

    Status prepare() {
        const RunConfig& config = m_request.config;
        if (auto planned = plan(0); !planned) return planned;
        const std::int64_t threads = config.threads > 0 ? config.threads : m_registry.machine().cores;
        at::set_num_threads(static_cast<int>(threads));
        m_liveBefore = device_memory::live(device()).count;
        auto batches = openBatches(m_timing.plan, m_progress, m_cancelled);
        if (!batches) return batches.error();
        m_batches = std::move(*batches);
        const Corpus& corpus = m_batches->corpus();
        host_memory::refreshBudget();
        if (auto exact = plan(corpus.vocabulary); !exact) return exact;
        // What is predicted is what will be measured: steps that no validation stands between need no room for one.
        RunPlan timed = m_timing.plan;
        if (!m_request.validation) timed.validation = {};
        m_timing.memory = estimateMemory(m_registry, timed, {corpus.vocabulary, corpus.tokens->size()});
        if (auto fits = checkMemory(m_timing.plan, m_timing.memory); !fits) return fits;
        say("building the model");
        const GptConfig shape = m_registry.modelShape(m_timing.plan, corpus.vocabulary);
        auto start = startingState({.config = config, .resume = m_request.from}, shape, corpus, threads);
        if (!start) return start.error();
        m_state = start->state.clone();
        start->state = {};
        m_state.convert(m_registry.formOf(m_timing.plan, m_state));
        m_program = m_registry.build(m_timing.plan);
        m_timing.data = corpus.description;
        m_timing.vocabulary = corpus.vocabulary;
        m_timing.parameters = parameterCount(m_state.config);
        m_timing.trainTokens = corpus.trainTokens;
        m_timing.validationTokens = corpus.validationTokens();
        m_timing.sequences = m_timing.plan.batchSize * m_timing.plan.accumulation;
        m_timing.sizes = {.parameters = ParameterLayout(shape).size(),
                          .vocabulary = shape.paddedVocabulary,
                          .hidden = shape.hidden(),
                          .hiddenRows = shape.hiddenRows(),
                          .threads = threads};
        m_timing.work = stepWork(m_timing.plan, m_timing.sizes);
        return {};
    }

    Status step(StepResult& result) {
        if (auto free = mayGoOn(); !free) return free;
        result = m_program->step(m_state, *m_batches, learningRate(m_request.config, m_state.updates + 1));
        if (result.breakdown == Breakdown::None && std::isfinite(result.loss)) return {};
        return makeError(ErrorCode::Training, fmt::format("The loss or a gradient was no number at step {}; lower lr, or use a wider number format.",
                                                          m_state.updates + 1));
    }

    Status warmUp() {
        say("warming up");
        m_program->prepare(m_state);
        const bool captures = m_timing.plan.execution == Execution::Captured;
        const std::int64_t steps = captures ? std::max(m_request.warmUp, kWarmUpOfCaptured) : m_request.warmUp;
        StepResult result;
        for (std::int64_t i = 0; i < steps; ++i) {
            if (i + 1 < steps) {
                if (auto stepped = step(result); !stepped) return stepped;
                continue;
            }
            const OperationCounter counter;  // of the last one: the first still asks for back-ends
            if (auto stepped = step(result); !stepped) return stepped;
            m_timing.operations = static_cast<double>(counter.count());
        }
        return {};
    }

    // Again where others took the processors meanwhile: bursts pass.
    Status countQuietly() {
        if (auto counted = count(); !counted) return counted;
        for (int again = 0; again < m_request.retakes && !m_timing.disturbedBy().empty(); ++again) {
            const StepsTiming before = m_timing;
            if (auto counted = count(); !counted) return counted;
            if (m_timing.othersPct + m_timing.stealPct >= before.othersPct + before.stealPct) m_timing = before;
        }
        return {};
    }

    Status count() {
        say("timing steps");
        m_timing.stepMs.clear();
        m_timing.phaseMs = {};
        const auto processors = usableProcessors();
        device_memory::synchronise(device());
        device_memory::takePeak(device());
        const auto timesBefore = processorTimes(processors);
        const std::int64_t ownBefore = processorNs(), faultsBefore = pageFaults();
        const SessionClock clock;
        StepResult result;
        std::int64_t clipped = 0, normed = 0;
        TimeNs at = clock.now();
        const TimeNs begin = at;
        for (std::int64_t i = 0; i < m_request.steps; ++i) {
            if (auto stepped = step(result); !stepped) return stepped;
            const TimeNs now = clock.now();
            m_timing.stepMs.push_back((now - at).milliseconds());
            at = now;
            for (std::size_t phase = 0; phase < kPhases; ++phase) m_timing.phaseMs[phase] += static_cast<double>(result.phaseNs[phase]) / 1e6;
            if (std::isfinite(result.gradientNorm) && m_timing.plan.maxNorm > 0) {
                ++normed;
                clipped += result.gradientNorm > m_timing.plan.maxNorm ? 1 : 0;
            }
            if (i + 1 >= kFewestTimed && (now - begin).seconds() >= m_request.mostSeconds) break;
        }
        device_memory::synchronise(device());
        const auto counted = static_cast<double>(m_timing.stepMs.size());
        for (double& ms : m_timing.phaseMs) ms /= counted;
        m_timing.faultsPerStep = static_cast<double>(pageFaults() - faultsBefore) / counted;
        if (const auto timesAfter = processorTimes(processors); timesBefore && timesAfter)
            if (const auto shares = sharesBetween(*timesBefore, *timesAfter, processorNs() - ownBefore)) {
                m_timing.othersPct = shares->othersPct;
                m_timing.stealPct = shares->stealPct;
            }
        if (const Bytes peak = device_memory::takePeak(device()); peak.count > 0)
            m_timing.peakBytes = static_cast<double>(peak.count - m_liveBefore + m_program->report().graphBytes);
        m_timing.tokens = result.tokens;
        m_timing.loss = result.loss;
        if (normed > 0) m_timing.clippedShare = static_cast<double>(clipped) / static_cast<double>(normed);
        m_timing.attention = m_program->report().attention;
        return {};
    }

    Status capture() {
        if (m_request.capturedSteps == 0) return {};
        say("looking at operations");
        CaptureWindow window;
        if (auto asked = window.ask({.steps = m_request.capturedSteps, .firstStep = m_state.updates + 1}); !asked) return asked;
        const SessionClock clock;
        StepResult result;
        for (std::int64_t i = 0; i < m_request.capturedSteps; ++i) {
            window.before(m_state.updates + 1);
            const TimeNs begin = clock.now();
            {
                const StepRange range({.kind = RangeFacts::Kind::Step, .step = m_state.updates + 1});
                if (auto stepped = step(result); !stepped) return stepped;
            }
            if (auto done = window.after(m_state.updates, begin, clock.now())) m_timing.captured = std::move(done);
        }
        return {};
    }

    Status validate() {
        if (!m_request.validation || !m_timing.plan.validation.happens()) return {};
        if (!whyNothingToEvaluateOn(m_batches->corpus(), m_timing.plan.context).empty()) return {};
        if (auto free = mayGoOn(); !free) return free;
        say("timing a validation");
        // The first one takes its memory, as the first of a run does.
        for (int i = 0; i < 2; ++i) {
            const SessionClock clock;
            m_program->evaluate(m_state, *m_batches, m_request.config.validationTokens);
            device_memory::synchronise(device());
            m_timing.validationMs = clock.now().milliseconds();
        }
        return {};
    }

    // Written where a run's would lie, and gone again; a disk that refuses leaves the time unknown.
    Status checkpoint() {
        const RunConfig& config = m_request.config;
        const std::string& folder = m_request.checkpointFolder;
        if (folder.empty() || checkpointsOf(config) == 0) return {};
        const std::int64_t bytes = checkpointBytes(m_state.layout.size());
        std::error_code problem;
        const auto room = std::filesystem::space(folder, problem);
        if (problem || bytes > kLargestTriedCheckpoint || room.available < 2 * static_cast<std::uintmax_t>(bytes)) return {};
        if (auto free = mayGoOn(); !free) return free;
        say("timing a checkpoint");
        const auto& tokenizer = m_batches->corpus().tokenizer;
        const std::string place = fmt::format("{}/timed-checkpoint.{}", folder, ::getpid());
        const SessionClock clock;
        const Status saved = saveCheckpoint(place, m_state, config, tokenizer ? tokenizer->toJson() : "", m_timing.loss);
        if (saved) m_timing.checkpointMs = clock.now().milliseconds();
        std::filesystem::remove_all(place, problem);
        return {};
    }

    const Registry m_registry;
    const StepsRequest& m_request;
    const LookProgress& m_progress;
    const std::atomic<bool>& m_cancelled;
    std::shared_ptr<BatchSource> m_batches;
    TrainState m_state;
    std::unique_ptr<StepProgram> m_program;
    std::int64_t m_liveBefore = 0;
    StepsTiming m_timing;
};

}  // namespace

Status checkSteps(const StepsRequest& request) {
    const auto outside = [](const char* what, std::int64_t value, std::int64_t least, std::int64_t most) {
        return makeError(ErrorCode::BadInput, fmt::format("{} cannot be {}; it takes a number from {} to {}.", what, value, least, most));
    };
    if (request.steps < kFewestTimed || request.steps > kMostTimed)
        return outside("The number of timed steps", request.steps, kFewestTimed, kMostTimed);
    if (request.warmUp < 1 || request.warmUp > kMostTimed) return outside("The number of steps to warm up", request.warmUp, 1, kMostTimed);
    if (!(request.mostSeconds > 0)) return makeError(ErrorCode::BadInput, "The time for timed steps must be above 0 seconds.");
    return {};
}

Result<StepsTiming> timeSteps(const Machine& machine, const StepsRequest& request, const LookProgress& progress, const std::atomic<bool>& cancelled) {
    const LookTurn turn;
    if (!turn.taken()) return makeError(ErrorCode::Unsupported, "Steps cannot be timed while a run or an experiment goes on; wait for its end.");
    auto answer = [&]() -> Result<StepsTiming> {
        try {
            return StepsLook(machine, request, progress, cancelled).run();
        } catch (const std::exception& thrown) {
            return describeException(thrown);
        }
    }();
    // The Program is gone, and what it left with the allocator is the next run's.
    device_memory::trim(at::Device(answer ? answer->plan.device() : "cpu"));
    return answer;
}

}  // namespace stepscope
