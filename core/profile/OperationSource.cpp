#include "core/profile/OperationSource.h"

#include <ATen/record_function.h>
#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <mutex>
#include <unordered_map>

#include "core/base/Format.h"
#include "core/base/SteadyNow.h"
#include "core/profile/OperationNames.h"
#include "core/profile/PartsOfThreads.h"
#include "core/trace/SliceCodec.h"

namespace stepscope {
namespace {

constexpr std::size_t kBlock = 4096;      // records
constexpr std::size_t kMostWaiting = 64;  // full blocks, 30 MB of them

struct Record {
    std::int64_t begin = 0, total = 0, called = 0;
    const OperationName* name = nullptr;  // null: a range
    const OperationArguments* arguments = nullptr;
    StepPlace place;
    std::int64_t step = 0, sequence = -1, forwardBegin = 0;
    std::int64_t external = 0;
    std::uint64_t forwardThread = 0;
    std::int32_t depth = 0;
    SliceKind kind = SliceKind::Operation;
};

std::string rangeName(SliceKind kind, std::int64_t step, Activity activity) {
    if (kind == SliceKind::Step) return fmt::format("step {}", step);
    return toString(activity);
}

// From records to a block that stands for itself.
class BlockMaker {
public:
    BlockMaker(const SliceThread& thread, std::int64_t toSession) : m_toSession(toSession) { m_block.thread = thread; }

    void add(const Record& r) {
        Slice slice{.start = r.begin + m_toSession,
                    .duration = r.total,
                    .called = r.called,
                    .name = r.name != nullptr ? nameOf(r.name) : placeOf(rangeName(r.kind, r.step, r.place.activity)),
                    .phase = placeOf(toString(r.place.activity)),
                    .role = placeOf(toString(r.place.role)),
                    .arguments = argumentsOf(r.arguments),
                    .depth = r.depth,
                    .layer = r.place.layer,
                    .kind = r.kind,
                    .recomputed = r.place.recomputed,
                    .step = stepOfRun(r.step),
                    .sequence = r.sequence,
                    .forwardThread = static_cast<std::int64_t>(r.forwardThread),
                    .forwardStart = r.forwardBegin == 0 ? 0 : r.forwardBegin + m_toSession,
                    .external = r.external};
        m_block.slices.push_back(slice);
    }
    SliceBlock take() { return std::move(m_block); }

private:
    std::uint32_t placeOf(const std::string& text) {
        if (text.empty()) return 0;
        const auto [found, added] = m_texts.try_emplace(text, static_cast<std::uint32_t>(m_block.strings.size()));
        if (added) m_block.strings.push_back(text);
        return found->second;
    }
    std::uint32_t nameOf(const OperationName* name) {
        const auto [found, added] = m_names.try_emplace(name, 0U);
        if (added) found->second = placeOf(name->text);
        return found->second;
    }
    std::uint32_t argumentsOf(const OperationArguments* arguments) {
        if (arguments == nullptr) return 0;
        const auto [found, added] = m_arguments.try_emplace(arguments, static_cast<std::uint32_t>(m_block.arguments.size()));
        if (added) m_block.arguments.push_back({arguments->text, arguments->flops, arguments->bytes});
        return found->second;
    }

    std::int64_t m_toSession;
    SliceBlock m_block;
    std::unordered_map<std::string, std::uint32_t> m_texts;
    std::unordered_map<const OperationName*, std::uint32_t> m_names;
    std::unordered_map<const OperationArguments*, std::uint32_t> m_arguments;
};

}  // namespace

class OperationSource::Recording final : public OperationObserver {
public:
    explicit Recording(const CaptureOutlet& outlet)
        : m_sink(*outlet.sink),
          m_toSession(outlet.clock->now().ns - steadyNow()),
          m_trainer(::gettid()),
          m_rank(outlet.rank),
          m_process(outlet.process),
          m_gpu(outlet.gpu) {}

    void operationEnds(const OperationDone& done) noexcept override {
        const SliceKind kind = done.ours ? SliceKind::Own : done.backward ? SliceKind::Backward : SliceKind::Operation;
        here(done.ours ? done.worker : 0, done.place.role == Role::Communication ? "sums" : "LibTorch")
            .add({.begin = done.beginNs,
                  .total = done.totalNs,
                  .called = done.totalNs - done.selfNs,
                  .name = done.known,
                  .arguments = done.arguments,
                  .place = done.place,
                  .step = stepOfRun(done.step),
                  .sequence = done.sequence,
                  .forwardBegin = done.forwardBeginNs,
                  .external = m_gpu && done.worker == 0 ? done.id : 0,
                  .forwardThread = done.forwardThread,
                  .depth = done.depth,
                  .kind = kind});
    }
    void rangeDone(const RangeDone& done) noexcept override {
        const SliceKind kind = done.facts.kind == RangeFacts::Kind::Step    ? SliceKind::Step
                               : done.facts.kind == RangeFacts::Kind::Phase ? SliceKind::Phase
                                                                            : SliceKind::Evaluation;
        here(0).add({.begin = done.beginNs,
                     .total = done.totalNs,
                     .called = done.totalNs - done.selfNs,
                     .place = {.activity = done.facts.activity},
                     .step = stepOfRun(done.step),
                     .depth = done.depth,
                     .kind = kind});
    }
    void lost(std::int64_t operations) noexcept override { here(0).lost += operations; }

    // What is full; all: what is not, too, which only is whole when nothing runs.
    void handOn(bool all) {
        std::vector<Full> taken;
        std::vector<std::shared_ptr<Thread>> threads;
        {
            const std::lock_guard lock(m_mutex);
            taken.swap(m_waiting);
            if (all) threads = m_threads;
        }
        for (auto& full : taken) write(full);
        for (const auto& thread : threads) {
            Full rest{thread->facts, std::exchange(thread->records, {}), std::exchange(thread->lost, 0)};
            if (!rest.records.empty() || rest.lost > 0) write(rest);
        }
    }

    std::int64_t written() const { return m_written; }
    std::int64_t left() const { return m_left; }

private:
    struct Full {
        SliceThread thread;
        std::vector<Record> records;
        std::int64_t lost = 0;
    };
    // Of one thread, written by it alone.
    struct Thread {
        Recording* recording = nullptr;
        SliceThread facts;
        std::vector<Record> records;
        std::int64_t lost = 0;

        void add(const Record& record) {
            records.push_back(record);
            if (records.size() == kBlock) recording->full(*this);
        }
    };

    // called: where it is neither the trainer nor one that shares an operation.
    Thread& here(int worker, const char* called = "LibTorch") {
        return m_parts.here([&] { return join(worker, called); });
    }

    std::shared_ptr<Thread> join(int worker, const char* called) {
        auto thread = std::make_shared<Thread>();
        const std::int64_t id = ::gettid();
        thread->recording = this;
        thread->facts = {.process = ::getpid(),
                         .thread = id,
                         .number = static_cast<std::int64_t>(at::RecordFunction::currentThreadId()),
                         .name = id == m_trainer ? "trainer"
                                 : worker > 0    ? fmt::format("{}{}", kTeamLanePrefix, worker)
                                                 : std::string(called),
                         .lane = m_rank == 0 ? 0 : laneOfWorker(id, m_rank),
                         .rank = m_rank,
                         .processName = m_process};
        thread->records.reserve(kBlock);
        const std::lock_guard lock(m_mutex);
        m_threads.push_back(thread);
        return thread;
    }

    void full(Thread& thread) {
        Full now{thread.facts, std::move(thread.records), std::exchange(thread.lost, 0)};
        thread.records = {};
        thread.records.reserve(kBlock);
        {
            const std::lock_guard lock(m_mutex);
            if (m_waiting.size() < kMostWaiting) {
                m_waiting.push_back(std::move(now));
                return;
            }
        }
        write(now);
    }

    void write(const Full& full) {
        BlockMaker maker(full.thread, m_toSession);
        for (const auto& record : full.records) maker.add(record);
        SliceBlock block = maker.take();
        block.lost = full.lost;
        const TimeNs at{full.records.empty() ? steadyNow() + m_toSession : full.records.back().begin + m_toSession};
        auto chunk = std::make_shared<Chunk>(encodeSlices(std::move(block), at));
        m_written += chunk->count;
        m_left += full.lost + static_cast<std::int64_t>(full.records.size()) - chunk->count;
        m_sink.publishChunk(std::move(chunk));
    }

    EventSink& m_sink;
    std::int64_t m_toSession;  // added to a time of the steady clock
    std::int64_t m_trainer;
    PartsOfThreads<Thread> m_parts;
    std::int64_t m_rank;
    std::string m_process;
    bool m_gpu;  // its operations have kernels that are joined with them
    std::mutex m_mutex;
    std::vector<Full> m_waiting;
    std::vector<std::shared_ptr<Thread>> m_threads;
    std::atomic<std::int64_t> m_written{0}, m_left{0};
};

OperationSource::OperationSource(const CaptureOutlet& outlet)
    : m_recording(std::make_shared<Recording>(outlet)), m_listening(m_recording, OperationListening::Arguments::Yes) {}
OperationSource::~OperationSource() = default;

void OperationSource::stepDone() {
    m_recording->handOn(false);
}

void OperationSource::stepEnds(TimeNs) {
    m_recording->handOn(true);
}

std::string OperationSource::finish(CaptureDone&) {
    m_recording->handOn(true);
    const std::int64_t left = m_recording->left();
    if (left == 0) return {};
    return fmt::format("{} of {} slices of the capture could not be kept: their threads did not end what they had begun.", format::count(left),
                       format::count(left + m_recording->written()));
}

}  // namespace stepscope
