#include "app/workbench/diagnose/Diagnose.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "app/workbench/MemoryNeed.h"
#include "app/workbench/diagnose/Advise.h"
#include "app/workbench/diagnose/AttentionMeter.h"
#include "app/workbench/diagnose/BatchFit.h"
#include "app/workbench/diagnose/MachineTurn.h"
#include "app/workbench/diagnose/OpenBatches.h"
#include "app/workbench/diagnose/PeakMeter.h"
#include "app/workbench/diagnose/RunFacts.h"
#include "app/workbench/diagnose/RunForecast.h"
#include "core/base/Format.h"
#include "core/data/DataFolders.h"
#include "core/memory/SystemMemory.h"
#include "core/profile/OperationTable.h"
#include "core/state/Checkpoint.h"
#include "core/state/CheckpointRetention.h"
#include "core/train/CheckpointKeeper.h"
#include "sessions/SessionStore.h"

namespace stepscope {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kWarmUp = 3, kCaptured = 2;
constexpr std::int64_t kMostBatch = 1 << 20;
constexpr double kMostEpochs = 40;  // beyond that the text is learnt by heart
constexpr double kSmallMs = 0.2;    // of a launch
constexpr std::int64_t kGrads = 2;  // sequences that an update should have at least, for accumulation to mean something

// Of a file, or of all files of a folder; -1 where there is none.
std::int64_t bytesOf(const std::string& data) {
    const fs::path path = data == "kjv" ? fs::path(kingJamesPath()) : data == "shakespeare" ? fs::path(shakespearePath()) : fs::path(data);
    std::error_code problem;
    if (fs::is_regular_file(path, problem)) return static_cast<std::int64_t>(fs::file_size(path, problem));
    if (!fs::is_directory(path, problem)) return -1;
    std::int64_t sum = 0;
    for (fs::recursive_directory_iterator at(path, fs::directory_options::skip_permission_denied, problem), end; !problem && at != end;
         at.increment(problem)) {
        std::error_code gone;
        if (const auto size = at->file_size(gone); !gone) sum += static_cast<std::int64_t>(size);
    }
    return sum;
}

class Examination {
public:
    Examination(const Machine& machine, const DiagnoseRequest& request, const LookProgress& progress, const std::atomic<bool>& cancelled)
        : m_registry(machine), m_request(request), m_progress(progress), m_cancelled(cancelled) {}

    Result<Diagnosis> run() {
        m_found.machine = m_registry.machine();
        m_found.config = m_request.config;
        m_found.availableMemory = availableMemory();
        auto plan = m_registry.plan(m_request.config);
        if (!plan) return plan.error();
        m_plan = std::move(*plan);
        m_facts.machine = m_found.machine;
        const std::string database = m_request.database.empty() ? defaultDatabasePath() : m_request.database;
        if (m_request.session != 0)
            if (auto read = addRunFacts(database, m_request.session, m_facts); !read) return read.error();
        lookAtData();
        if (m_cancelled) return makeError(ErrorCode::Cancelled, "Stopped before everything was looked at.");
        lookAtMemory();
        lookAtDisk(database);
        lookAtSettings();
        if (!m_found.error && m_request.steps > 0)
            if (auto timed = measure(); !timed) return timed.error();
        m_found.peaks = m_facts.peaks;
        m_found.advice = advise(m_registry, m_facts);
        return std::move(m_found);
    }

private:
    void hinders(const Error& error) {
        m_found.problems.push_back(error.sentence);
        if (!m_found.error) m_found.error = error;
    }
    void say(const std::string& what) const {
        if (m_progress) m_progress(what);
    }

    void lookAtData() {
        const RunConfig& config = m_request.config;
        DataFacts& data = m_found.data;
        data.name = config.data;
        data.bytes = bytesOf(config.data);
        say("reading the data");
        const auto batches = openBatches(m_plan, m_progress, m_cancelled);
        if (!batches) {
            if (batches.error().code != ErrorCode::Cancelled) hinders(batches.error());
            return;
        }
        const Corpus& corpus = (*batches)->corpus();
        data.description = corpus.description;
        data.encoding = corpus.tokenizer ? fmt::format("UTF-8 text in {} tokens", corpus.tokenizer->name()) : "token ids, ready made";
        data.trainTokens = corpus.trainTokens;
        data.validationTokens = corpus.validationTokens();
        data.vocabulary = corpus.vocabulary;
        const double read = static_cast<double>(config.steps) * static_cast<double>(m_plan.batchSize) * static_cast<double>(m_plan.context) *
                            static_cast<double>(m_plan.accumulation);
        data.epochs = read / static_cast<double>(std::max<std::int64_t>(1, corpus.trainTokens));
        if (auto exact = m_registry.plan(config, corpus.vocabulary)) m_plan = std::move(*exact);
        if (data.epochs > kMostEpochs)
            m_found.problems.push_back(fmt::format("{} steps read the text {} times: it will be learnt by heart; give more text or fewer steps.",
                                                   format::count(config.steps), format::significant(data.epochs)));
        if (const std::string same = corpus.sameTextWords(); m_plan.validation.happens() && !same.empty()) m_found.problems.push_back(same);
        if (m_plan.validation.happens() && data.validationTokens <= m_plan.context)
            m_found.problems.push_back(
                "The part that validates holds not one whole sequence: the run will not validate; give more text, or a validation file.");
        const double step = static_cast<double>(m_plan.batchSize) * static_cast<double>(m_plan.context) * static_cast<double>(m_plan.accumulation);
        if (m_plan.accumulation >= kGrads && step > static_cast<double>(corpus.trainTokens))
            m_found.problems.push_back("One update reads more tokens than the text has: accumulate fewer batches.");
    }

    std::int64_t vocabulary() const { return m_found.data.vocabulary > 0 ? m_found.data.vocabulary : m_plan.vocabulary; }

    void lookAtMemory() {
        m_facts.plan = m_plan;
        if (vocabulary() <= 0) return;  // ids of the data, which cannot be read
        const DataIds ids(vocabulary(), m_found.data.trainTokens + m_found.data.validationTokens);
        m_found.memory = estimateMemory(m_registry, m_plan, ids);
        if (auto fits = checkMemory(m_plan, m_found.memory); !fits) hinders(fits.error());
        m_found.batchThatFits = largestBatchThatFits(m_registry, m_plan, ids, kMostBatch);
        const GptConfig shape = m_registry.modelShape(m_plan, vocabulary());
        m_facts.parameters = m_found.memory.parameters;
        m_facts.vocabularyRows = shape.paddedVocabulary;
        m_facts.memoryShare =
            static_cast<double>(m_found.memory.tensors.count) / static_cast<double>(std::max<std::int64_t>(1, m_found.memory.available.count));
    }

    void lookAtDisk(const std::string& database) {
        DiskFacts& disk = m_found.disk;
        std::error_code ignored;
        disk.place = fs::absolute(fs::path(database), ignored).parent_path().string();
        disk.freeBytes = freeSpaceAt(disk.place);
        const RunConfig& config = m_request.config;
        const CheckpointPlan planned =
            planCheckpoints(0, config.steps, config.checkpointEvery, config.checkpointAtEnd == "on" && config.schedule != "range-test", config.keep,
                            config.keepsBest());
        const double one = static_cast<double>(checkpointBytes(m_found.memory.parameters)), all = one * static_cast<double>(planned.atOnce),
                     least = one * static_cast<double>(planned.leastAtOnce);
        m_facts.leastCheckpointBytes = least;
        const auto fits = [&disk](double bytes) { return disk.freeBytes < 0 || bytes <= static_cast<double>(disk.freeBytes); };
        if (planned.kept > 0 && !fits(one))
            m_found.problems.push_back(fmt::format("One checkpoint of this run takes {}, and {} are free in {}.", format::bytes(one),
                                                   format::bytes({disk.freeBytes}), disk.place));
        else if (!fits(least))
            m_found.problems.push_back(
                fmt::format("A checkpoint is written before an older one goes: even with keep=1 this run has {} at a time, which take {}, and {} are "
                            "free in {}.",
                            planned.leastAtOnce, format::bytes(least), format::bytes({disk.freeBytes}), disk.place));
        disk.checkpointBytes = static_cast<std::int64_t>(std::min(all, 9e18));
        m_facts.checkpointBytes = all;
        if (disk.freeBytes >= 0) m_facts.freeDiskBytes = static_cast<double>(disk.freeBytes);
    }

    void lookAtSettings() {
        m_found.switches = m_registry.catalogue(m_request.config, vocabulary());
        if (!m_plan.notes.empty()) m_found.problems.push_back(m_plan.notes);
    }

    Status measure() {
        const LookTurn turn;
        if (!turn.taken()) {
            m_found.problems.push_back("Nothing is timed while a run or an experiment goes on.");
            return {};
        }
        StepsRequest wanted{.config = m_request.config, .warmUp = kWarmUp, .steps = m_request.steps, .mostSeconds = m_request.mostSeconds};
        wanted.capturedSteps = kCaptured;
        wanted.retakes = 2;
        wanted.validation = true;
        if (m_request.keep) wanted.checkpointFolder = m_found.disk.place;
        auto timing = timeSteps(m_registry.machine(), wanted, m_progress, m_cancelled);
        if (!timing && timing.error().code == ErrorCode::Cancelled) return timing.error();
        if (!timing) {
            hinders(timing.error());
            m_facts.brokeDown = m_facts.brokeDown || timing.error().code == ErrorCode::Training;
            return {};
        }
        takeIn(*timing);
        if (auto twice = tryTwiceTheBatch(*timing); !twice) return twice;
        if (m_plan.execution != Execution::Planned) {
            say("measuring attention");
            const auto attention = measureAttention(m_plan, m_found.memory.available, m_cancelled);
            if (attention) {
                m_facts.manualAttentionMs = attention->manualMs;
                m_facts.sdpaAttentionMs = attention->sdpaMs;
            }
        }
        const PeaksRequest peaks{
            .device = m_plan.device(), .threads = m_request.config.threads, .precisions = precisionsOf(m_registry.machine(), m_plan.device())};
        auto measured = measurePeaks(m_registry.machine(), peaks, m_progress, m_cancelled);
        if (!measured) return measured.error();
        m_facts.peaks = *measured;
        m_found.estimate = estimateTime(*timing);
        if (m_request.keep) keepTimedSteps(m_request.database.empty() ? defaultDatabasePath() : m_request.database, *timing, m_registry.machine());
        m_found.timing = std::move(*timing);
        return {};
    }

    void takeIn(const StepsTiming& timing) {
        m_facts.work = timing.work;
        m_facts.stepMs = timing.meanMs();
        m_facts.medianMs = timing.medianMs();
        // Quartiles of five steps say nothing of a machine.
        if (timing.stepMs.size() >= 20) m_facts.quartilesMs = timing.quantileMs(0.75) - timing.quantileMs(0.25);
        m_facts.phaseMs = timing.phaseMs;
        m_facts.faultsPerStep = timing.faultsPerStep;
        m_facts.validationMs = timing.validationMs;
        m_facts.othersPct = timing.othersPct;
        m_facts.stealPct = timing.stealPct;
        if (timing.captured && timing.captured->rows) addOperations(*timing.captured);
    }

    void addOperations(const CaptureDone& captured) {
        double all = 0, small = 0, launches = 0;
        for (const CapturedOperation& row : *captured.rows) {
            all += row.self.milliseconds();
            const bool large = row.kind == toString(OperationKind::MatrixProduct) || row.kind == toString(OperationKind::Attention) ||
                               row.kind == toString(OperationKind::Data);
            if (large || row.launches == 0 || row.self.milliseconds() / static_cast<double>(row.launches) > kSmallMs) continue;
            small += row.self.milliseconds();
            launches += static_cast<double>(row.launches);
        }
        if (!(all > 0) || captured.steps <= 0) return;
        m_facts.smallLaunches = launches / static_cast<double>(captured.steps);
        m_facts.smallShare = small / all;
    }

    // Only where it fits, and would not take longer than a person waits.
    Status tryTwiceTheBatch(const StepsTiming& timing) {
        const double seconds = static_cast<double>(kWarmUp + kFewestTimed) * 2 * timing.meanMs() / 1e3;
        if (2 * m_plan.batchSize > m_found.batchThatFits || seconds > m_request.mostSeconds) return {};
        say("timing twice the batch");
        const StepsRequest wanted{.config = m_request.config,
                                  .warmUp = kWarmUp,
                                  .steps = m_request.steps,
                                  .mostSeconds = m_request.mostSeconds,
                                  .batchSize = 2 * m_plan.batchSize};
        const auto twice = timeSteps(m_registry.machine(), wanted, {}, m_cancelled);
        if (twice) m_facts.twiceTheBatchGain = twice->tokensPerSecond() / timing.tokensPerSecond();
        return !twice && twice.error().code == ErrorCode::Cancelled ? Status(twice.error()) : Status();
    }

    const Registry m_registry;
    const DiagnoseRequest& m_request;
    const LookProgress& m_progress;
    const std::atomic<bool>& m_cancelled;
    RunPlan m_plan;
    AdviceFacts m_facts;
    Diagnosis m_found;
};

}  // namespace

Result<Diagnosis> diagnose(const Machine& machine, const DiagnoseRequest& request, const LookProgress& progress, const std::atomic<bool>& cancelled) {
    if (request.steps != 0)
        if (auto good = checkSteps({.config = request.config, .steps = request.steps, .mostSeconds = request.mostSeconds}); !good)
            return good.error();
    return Examination(machine, request, progress, cancelled).run();
}

}  // namespace stepscope
