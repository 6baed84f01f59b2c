#include "core/profile/HardwareSource.h"

#include <ATen/Parallel.h>
#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <map>
#include <mutex>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/base/Format.h"
#include "core/base/SteadyNow.h"
#include "core/profile/OperationNames.h"
#include "core/profile/PartsOfThreads.h"
#include "core/profile/counters/CounterSamples.h"
#include "core/profile/counters/PerfCalls.h"
#include "core/profile/counters/ThreadCounters.h"
#include "core/trace/Note.h"
#include "core/trace/SampleCodec.h"

namespace stepscope {
namespace {

constexpr std::int64_t kFirstLibraryLane = 4096;
constexpr std::size_t kMostThreadLanes = 16;  // what more of them do is in the sum alone
constexpr int kTimedReadings = 64;
constexpr double kNoteworthyTurns = 0.999;
constexpr double kMostCost = 0.02;  // of the steps' time, that reading at operations may take once it is known

struct ThreadIds {
    std::mutex mutex;
    std::set<int> all;
};

// The threads among which LibTorch shares an operation of this one, this one left out. They belong to the OpenMP that its wheel brings, so that is
// asked, and no other; nobody else knows their numbers.
std::set<int> libraryThreads() {
    using Parallel = void (*)(void (*work)(void*), void* with, unsigned threads, unsigned flags);
    const int most = at::get_num_threads();
    const auto parallel = reinterpret_cast<Parallel>(::dlsym(RTLD_DEFAULT, "GOMP_parallel"));
    ThreadIds ids;
    if (most > 1 && parallel != nullptr)
        parallel(
            [](void* with) {
                auto& into = *static_cast<ThreadIds*>(with);
                const std::lock_guard lock(into.mutex);
                into.all.insert(::gettid());
            },
            &ids, static_cast<unsigned>(most), 0);
    ids.all.erase(::gettid());
    return ids.all;
}

}  // namespace

class HardwareSource::Recording final : public OperationObserver, public StepObserver {
public:
    Recording(const CaptureOutlet& outlet, PerfCalls& calls)
        : m_calls(calls),
          m_sink(*outlet.sink),
          m_clock(*outlet.clock),
          m_toSession(outlet.clock->now().ns - steadyNow()),
          m_begin(outlet.clock->now()),
          m_trainer(::gettid()),
          m_ofOperations(outlet.late == nullptr),
          m_counting(m_ofOperations),
          m_samples(outlet.rank, outlet.process) {}

    // A sentence where the trainer's thread cannot be counted: then no other can.
    std::string begin() {
        auto own = ThreadCounters::open(m_calls, 0);
        if (!own) return own.error().sentence;
        m_samples.setKinds(CountedKinds::of(**own));
        const auto from = steadyNow();
        for (int i = 0; i < kTimedReadings; ++i) (void)(*own)->read();
        m_readingNs = static_cast<double>(steadyNow() - from) / kTimedReadings;
        auto trainer = std::make_shared<Thread>();
        trainer->name = "trainer";
        trainer->lane = CounterSamples::kFirstThreadLane;
        trainer->counters = std::move(*own);
        m_threads.push_back(std::move(trainer));
        std::int64_t lane = kFirstLibraryLane;
        for (const int id : libraryThreads()) {
            auto thread = std::make_shared<Thread>();
            thread->name = fmt::format("LibTorch {}", lane - kFirstLibraryLane + 1);
            thread->lane = lane++;
            keep(std::move(thread), id);
        }
        return {};
    }

    void operationBegins(const OperationBegun& begun) noexcept override {
        if (!m_ofOperations) (void)here(begun.worker);  // its thread is one of those that phases are counted of
        if (!m_counting) return;
        Thread& thread = here(begun.worker);
        if (thread.counters) thread.open.push_back({begun.id, thread.take(), {}});
    }
    void operationEnds(const OperationDone& done) noexcept override {
        if (!m_counting) return;
        Thread& thread = here(done.worker);
        if (!thread.counters) return;
        const CounterReading after = thread.take();
        auto& open = thread.open;
        const auto found = std::ranges::find(open.rbegin(), open.rend(), done.id, &Open::id);
        if (found == open.rend()) return;
        open.erase(found.base(), open.end());  // what began inside and whose end was never told
        const Open ended = open.back();
        open.pop_back();
        const auto all = countedBetween(ended.before, after);
        if (!all) {
            thread.failed += 1;
            return;
        }
        if (!open.empty()) open.back().inside.add(*all);
        CounterDelta own = *all;
        own.subtract(ended.inside);
        thread.sums[done.known].add({own, static_cast<double>(done.selfNs)});
    }

    void rangeBegins(const RangeFacts& range) noexcept override {
        if (range.kind == RangeFacts::Kind::Step || ::gettid() != m_trainer) return;
        const std::lock_guard lock(m_mutex);
        m_phaseBegin = steadyNow();
        for (const auto& thread : m_threads) {
            thread->before = reading(*thread);
            thread->began = true;
        }
    }
    void rangeEnds(const RangeFacts& range) noexcept override {
        if (range.kind == RangeFacts::Kind::Step || ::gettid() != m_trainer || m_phaseBegin == 0) return;
        const std::lock_guard lock(m_mutex);
        const double seconds = static_cast<double>(steadyNow() - m_phaseBegin) / 1e9;
        const TimeNs at{std::exchange(m_phaseBegin, 0) + m_toSession};
        CounterDelta team;
        bool known = false;
        for (std::size_t i = 0; i < m_threads.size(); ++i) {
            Thread& thread = *m_threads[i];
            const bool began = std::exchange(thread.began, false);
            const auto counted = began ? countedBetween(thread.before, reading(thread)) : std::nullopt;
            if (!counted) {
                m_failedPhases += began ? 1 : 0;
                continue;
            }
            known = true;
            team.add(*counted);
            m_all.add(*counted);
            if (counted->running <= 0 && counted->enabled > 0) m_stoodStill += 1;
            if (m_threads.size() > 1 && i < kMostThreadLanes) m_samples.addPhase(thread.lane, thread.name, *counted, at, seconds);
        }
        if (known) m_samples.addPhase(CounterSamples::kTeamLane, {}, team, at, seconds);
    }

    // Behind a step, when nothing runs. All operations of a step are counted or none, as what one called is taken from it: in so many steps as cost
    // allows.
    void stepDone() {
        const std::lock_guard lock(m_mutex);
        const std::int64_t now = steadyNow(), took = now - std::exchange(m_lastStep, now);
        m_steps += 1;
        if (!m_ofOperations) return;
        if (!m_counting) {
            m_counting = --m_pausing <= 0;
            return;
        }
        m_countedSteps += 1;
        std::int64_t readings = 0;
        for (const auto& thread : m_threads) {
            readings += thread->readings;
            thread->open.clear();
        }
        const double cost = static_cast<double>(readings - std::exchange(m_readBefore, readings)) * m_readingNs;
        m_pausing = static_cast<std::int64_t>(std::min(1e6, cost / (kMostCost * static_cast<double>(std::max<std::int64_t>(1, took)))));
        m_counting = m_pausing <= 0;
    }

    void handOn(bool all) {
        std::vector<SampleBlock> taken;
        {
            const std::lock_guard lock(m_mutex);
            taken = m_samples.take(all);
        }
        if (all && m_ofOperations) taken.push_back(operations());
        for (SampleBlock& block : taken)
            if (!block.samples.empty()) m_sink.publishChunk(std::make_shared<Chunk>(encodeSamples(std::move(block))));
    }

    // How it went and what it cost; when nothing runs any more. steps: the time of those that were captured, 0: unknown.
    void tell(TimeNs steps) { m_sink.publishChunk(noteChunk(sentence(steps), m_clock.now(), kCounterNotes)); }

    // Descriptors are few, and threads keep what they were told of until they are told of another capture.
    void close() {
        const std::lock_guard lock(m_mutex);
        for (const auto& thread : m_threads) thread->counters.reset();
    }

private:
    std::string sentence(TimeNs steps) {
        const std::lock_guard lock(m_mutex);
        double readings = static_cast<double>(m_phaseReadings);
        std::int64_t failed = m_failedPhases;
        for (const auto& thread : m_threads) {
            readings += static_cast<double>(thread->readings);
            failed += thread->failed;
        }
        const double cost = readings * m_readingNs / 1e6;
        std::string text =
            fmt::format("Hardware counters of {} {}: {} readings took {}", m_threads.size(), m_threads.size() == 1 ? "thread" : "threads",
                        format::count(std::llround(readings)), format::milliseconds(cost));
        text += steps.ns > 0 ? fmt::format(", {:.1f} % of the captured steps.", 100 * cost / steps.milliseconds()) : ".";
        if (m_ofOperations && m_countedSteps < m_steps)
            text += fmt::format(" Operations were counted in {} of {} steps, so that it costs no more.", m_countedSteps, m_steps);
        if (m_all.share() < kNoteworthyTurns && m_all.running > 0)
            text +=
                fmt::format(" They were counted {:.0f} % of the time, in turn with those of other programs, and are scaled.", 100 * m_all.share());
        if (m_stoodStill > 0)
            text += fmt::format(
                " In {} phases of threads they stood still (another program, the kernel's watchdog for one, had them): those are unknown.",
                format::count(m_stoodStill));
        if (failed > 0) text += fmt::format(" {} readings failed and are left out.", format::count(failed));
        if (const std::string missing = m_samples.kinds().missing(); !missing.empty()) text += " " + missing;
        if (!m_notCounted.empty()) text += fmt::format(" {} threads are not counted. {}", m_left, m_notCounted);
        return text;
    }

    struct Open {
        std::int64_t id = 0;
        CounterReading before;
        CounterDelta inside;
    };
    // What is of operations, its own thread writes alone; of phases the trainer's.
    struct Thread {
        std::unique_ptr<ThreadCounters> counters;  // null: this thread is not counted
        std::string name;
        std::int64_t lane = 0;
        std::vector<Open> open;
        std::unordered_map<const OperationName*, CountedSum> sums;
        std::int64_t readings = 0, failed = 0;
        CounterReading before;
        bool began = false;

        CounterReading take() {
            readings += 1;
            return counters->read();
        }
    };

    Thread& here(int worker) noexcept {
        return m_parts.here([&] { return join(worker); });
    }

    std::shared_ptr<Thread> join(int worker) {
        if (::gettid() == m_trainer) {
            const std::lock_guard lock(m_mutex);
            return m_threads.front();
        }
        auto thread = std::make_shared<Thread>();
        if (worker <= 0) return thread;  // LibTorch's, whose operations are few beside those of the trainer
        thread->name = fmt::format("worker {}", worker);
        thread->lane = CounterSamples::kFirstThreadLane + worker;
        return keep(std::move(thread), 0);
    }

    std::shared_ptr<Thread> keep(std::shared_ptr<Thread> thread, int id) {
        auto counters = ThreadCounters::open(m_calls, id);
        const std::lock_guard lock(m_mutex);
        if (counters) {
            thread->counters = std::move(*counters);
            m_threads.push_back(thread);
        } else {
            m_left += 1;
            m_notCounted = counters.error().sentence;
        }
        return thread;
    }

    CounterReading reading(const Thread& thread) {
        m_phaseReadings += 1;
        return thread.counters->read();
    }

    // When nothing runs: of all threads, by name.
    SampleBlock operations() {
        std::map<std::string, CountedSum> sums;
        const std::lock_guard lock(m_mutex);
        for (const auto& thread : m_threads)
            for (const auto& [name, sum] : std::exchange(thread->sums, {})) sums[name->text].add(sum);
        return m_samples.operations(sums, m_begin);
    }

    PerfCalls& m_calls;
    EventSink& m_sink;
    const SessionClock& m_clock;
    const std::int64_t m_toSession;
    const TimeNs m_begin;
    const int m_trainer;
    const bool m_ofOperations;  // their sums are told, too; not where every step is observed and few are kept
    PartsOfThreads<Thread> m_parts;
    double m_readingNs = 0;
    std::atomic<bool> m_counting;  // operations; changes between steps
    std::int64_t m_lastStep = steadyNow(), m_steps = 0, m_countedSteps = 0, m_pausing = 0, m_readBefore = 0;
    std::mutex m_mutex;
    std::vector<std::shared_ptr<Thread>> m_threads;  // that are counted; the trainer's is the first
    CounterSamples m_samples;
    CounterDelta m_all;
    std::int64_t m_phaseBegin = 0, m_phaseReadings = 0, m_failedPhases = 0, m_stoodStill = 0, m_left = 0;
    std::string m_notCounted;
};

HardwareSource::HardwareSource(const CaptureOutlet& outlet, PerfCalls& calls) {
    auto recording = std::make_shared<Recording>(outlet, calls);
    if (const std::string why = recording->begin(); !why.empty()) {
        outlet.sink->publishChunk(noteChunk(why, outlet.clock->now(), kCounterNotes));
        return;
    }
    m_recording = std::move(recording);
    m_listening = std::make_unique<OperationListening>(m_recording);
    m_phases = std::make_unique<Listening<StepObserver>>(stepObservers, m_recording);
}

HardwareSource::HardwareSource(const CaptureOutlet& outlet) : HardwareSource(outlet, systemPerf()) {}

HardwareSource::~HardwareSource() {
    m_phases.reset();
    m_listening.reset();
    if (m_recording) m_recording->close();
}

void HardwareSource::stepDone() {
    if (!m_recording) return;
    m_recording->stepDone();
    m_recording->handOn(false);
}

std::string HardwareSource::finish(CaptureDone& into) {
    if (!m_recording) return {};
    m_phases.reset();
    m_listening.reset();
    m_recording->handOn(true);
    m_recording->tell(into.duration);
    m_recording->close();
    m_recording.reset();
    return {};
}

}  // namespace stepscope
