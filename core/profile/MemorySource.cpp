#include "core/profile/MemorySource.h"

#include <c10/util/ThreadLocalDebugInfo.h>
#include <fmt/format.h>
#include <torch/csrc/profiler/orchestration/observer.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/base/Format.h"
#include "core/base/MemoryKind.h"
#include "core/base/SteadyNow.h"
#include "core/memory/HostAllocator.h"
#include "core/profile/OperationNames.h"
#include "core/profile/PartsOfThreads.h"
#include "core/trace/AllocationCodec.h"

namespace stepscope {
namespace {

constexpr std::size_t kMostOfAStep = 1 << 20;  // 80 MB; what comes behind it is counted as lost
constexpr std::size_t kFullBlock = 4096;
constexpr std::uint64_t kRest = 0;  // the address of what was taken before, all in one

// What a block is for that a part of the model asked for.
MemoryKind kindOf(const StepPlace& place) {
    switch (place.activity) {
        case Activity::Batch:
        case Activity::Copy:
            return MemoryKind::Batches;
        case Activity::Clip:
        case Activity::Optimizer:
            return MemoryKind::Scratch;
        default:
            break;
    }
    switch (place.role) {
        case Role::Embedding:
            return MemoryKind::Embedding;
        case Role::Norm1:
        case Role::Norm2:
        case Role::LastNorm:
            return MemoryKind::Norms;
        case Role::AttentionQkv:
        case Role::Norm1AndQkv:
            return MemoryKind::Qkv;
        case Role::AttentionCore:
        case Role::AttentionOut:
            return MemoryKind::Attention;
        case Role::MlpUp:
        case Role::MlpDown:
        case Role::OutAndMlp:
            return MemoryKind::Mlp;
        case Role::HeadLoss:
            return MemoryKind::Logits;
        case Role::BlockWeights:
            return MemoryKind::Gradients;
        case Role::None:
        case Role::Optimizer:
        case Role::Communication:
            return MemoryKind::Scratch;
    }
    return MemoryKind::Scratch;
}

struct MemoryRecord {
    std::int64_t at = 0;
    std::uint64_t address = 0;
    std::int64_t bytes = 0;  // given back where negative; 0: the gradients are whole, and the update begins
    std::int64_t device = -1, total = 0, reserved = -1;
    const OperationName* owner = nullptr;
    StepPlace place;
};

}  // namespace

class MemorySource::Recording final : public OperationObserver, public StepObserver, public MemoryObserver {
public:
    explicit Recording(const CaptureOutlet& outlet) : m_sink(*outlet.sink), m_toSession(outlet.clock->now().ns - steadyNow()), m_trainer(::gettid()) {
        m_block.lane = memoryLane(outlet.rank);
        m_block.process = ::getpid();
        m_block.thread = m_trainer;
        m_block.rank = outlet.rank;
    }

    // What lasts and is known by name, and how much of the host's there is beside it. What was heard before, of no step that is told of, is in that.
    void begin(const std::function<std::vector<LastingMemory>()>& lasting) {
        {
            const std::lock_guard lock(m_mutex);
            m_records.clear();
        }
        m_restGiven = 0;
        const std::int64_t now = steadyNow();
        const std::int64_t host = host_memory::usage().live.count;
        std::map<std::int64_t, std::int64_t> named;  // by device; what is in use rises to what there is with the last of them
        for (const LastingMemory& one : lasting ? lasting() : std::vector<LastingMemory>()) {
            named[one.device] += one.bytes;
            take(now, reinterpret_cast<std::uint64_t>(one.address), one.bytes, one.device, named[one.device], -1, toString(one.kind), {});
        }
        m_rest = std::max<std::int64_t>(0, host - named[-1]);
        if (m_rest > 0) take(now, kRest, m_rest, -1, host, -1, kTakenBefore, {});
    }

    void operationBegins(const OperationBegun& begun) noexcept override { here().push_back({begun.id, begun.known, begun.place}); }
    void operationEnds(const OperationDone& done) noexcept override {
        auto& open = here();
        const auto found = std::ranges::find(open.rbegin(), open.rend(), done.id, &Open::id);
        if (found != open.rend()) open.erase(std::prev(found.base()), open.end());
    }

    void rangeBegins(const RangeFacts& range) noexcept override {
        if (range.kind != RangeFacts::Kind::Phase || ::gettid() != m_trainer) return;
        if (range.activity == Activity::Clip || range.activity == Activity::Optimizer) add({});
    }

    void taken(const void* block, std::int64_t bytes, std::int64_t live) noexcept override { heard(block, bytes, -1, live, -1); }
    void givenBack(const void* block, std::int64_t bytes, std::int64_t live) noexcept override { heard(block, -bytes, -1, live, -1); }

    void heard(const void* block, std::int64_t bytes, std::int64_t device, std::int64_t total, std::int64_t reserved) noexcept {
        if (bytes == 0) return;
        MemoryRecord record{
            .address = reinterpret_cast<std::uint64_t>(block), .bytes = bytes, .device = device, .total = total, .reserved = reserved};
        if (bytes > 0) {
            record.place = placeHere();
            // What only makes room (aten::empty) was asked to by what it is part of.
            const auto& open = here();
            const auto works = std::ranges::find_if(open.rbegin(), open.rend(), [](const Open& one) { return one.name->works; });
            if (const Open* by = works != open.rend() ? &*works : open.empty() ? nullptr : &open.back(); by != nullptr) {
                record.owner = by->name;
                record.place = by->place;
            }
        }
        add(record);
    }

    // Behind a step.
    void handOn() {
        std::vector<MemoryRecord> records;
        {
            const std::lock_guard lock(m_mutex);
            records.swap(m_records);
            for (const auto& [device, lost] : std::exchange(m_lost, {})) {
                m_block.lost += lost;
                m_block.lostOf.push_back({.device = device, .lost = lost});
            }
        }
        const std::vector<bool> gradients = keptUntilTheUpdate(records);
        for (std::size_t i = 0; i < records.size(); ++i) {
            const MemoryRecord& one = records[i];
            if (m_block.allocations.size() >= kFullBlock) write();
            if (one.bytes > 0) {
                settleRest();
                const MemoryKind kind = gradients[i] ? MemoryKind::Gradients : kindOf(one.place);
                take(one.at, one.address, one.bytes, one.device, one.total, one.reserved, toString(kind),
                     one.owner != nullptr ? one.owner->text : "");
            } else if (one.bytes < 0) {
                giveBack(one);
            }
        }
        settleRest();
    }

    // What is still held is another capture's to tell of, so that none takes it for its own. lastStepEnd: of the session's clock, 0: unknown. A
    // capture ends there, and what has a later time is taken for the next one's.
    void end(std::int64_t lastStepEnd) {
        handOn();
        const std::int64_t at = lastStepEnd > 0 ? lastStepEnd : steadyNow() + m_toSession;
        for (auto one = m_block.allocations.rbegin(); one != m_block.allocations.rend() && one->at > at; ++one) one->at = at;
        for (const auto& [key, held] : m_held) {
            const std::int64_t device = key.first;
            append({.at = at, .address = key.second, .bytes = -held, .device = device, .totalAllocated = m_totals[device]});
        }
        m_held.clear();
        write();
    }
    std::int64_t lost() const { return m_allLost; }

private:
    struct Open {
        std::int64_t id = 0;
        const OperationName* name = nullptr;
        StepPlace place;
    };
    using Key = std::pair<std::int64_t, std::uint64_t>;  // device and address

    std::vector<Open>& here() {
        return m_parts.here([] { return std::make_shared<std::vector<Open>>(); });
    }

    void add(MemoryRecord record) noexcept {
        const std::lock_guard lock(m_mutex);
        if (m_records.size() >= kMostOfAStep) {
            if (record.bytes == 0) return;
            ++m_lost[record.device];
            ++m_allLost;
            return;
        }
        record.at = steadyNow();
        m_records.push_back(record);
    }

    // What the backward pass took and did not give back before the update: gradients. What it gave back was in its way only.
    static std::vector<bool> keptUntilTheUpdate(const std::vector<MemoryRecord>& records) {
        std::vector<bool> kept(records.size(), false);
        std::map<Key, std::size_t> open;
        for (std::size_t i = 0; i < records.size(); ++i) {
            const MemoryRecord& one = records[i];
            if (one.bytes > 0 && one.place.activity == Activity::Backward)
                open[{one.device, one.address}] = i;
            else if (one.bytes < 0)
                open.erase({one.device, one.address});
            else if (one.bytes == 0) {
                for (const auto& [key, place] : open) kept[place] = true;
                open.clear();
            }
        }
        return kept;
    }

    void take(std::int64_t at, std::uint64_t address, std::int64_t bytes, std::int64_t device, std::int64_t total, std::int64_t reserved,
              const std::string& kind, const std::string& owner) {
        m_held[{device, address}] = bytes;
        append({.at = at + m_toSession,
                .address = address,
                .bytes = bytes,
                .device = device,
                .totalAllocated = std::max<std::int64_t>(0, total),
                .totalReserved = reserved,
                .kind = textOf(kind),
                .owner = textOf(owner)});
    }

    void giveBack(const MemoryRecord& one) {
        if (m_held.erase({one.device, one.address}) == 0 && one.device < 0) {
            m_restGiven -= one.bytes;
            m_restAt = one.at;
            m_restTotal = one.total;
            return;
        }
        append({.at = one.at + m_toSession,
                .address = one.address,
                .bytes = one.bytes,
                .device = one.device,
                .totalAllocated = std::max<std::int64_t>(0, one.total),
                .totalReserved = one.reserved});
    }

    // What was taken before is one piece, which shrinks: for all that is given back one after the other at once.
    void settleRest() {
        const std::int64_t given = std::exchange(m_restGiven, 0);
        if (given == 0 || m_rest == 0) return;
        append({.at = m_restAt + m_toSession, .address = kRest, .bytes = -m_rest, .totalAllocated = std::max<std::int64_t>(0, m_restTotal)});
        m_held.erase({-1, kRest});
        m_rest = std::max<std::int64_t>(0, m_rest - given);
        if (m_rest > 0) take(m_restAt, kRest, m_rest, -1, m_restTotal, -1, kTakenBefore, {});
    }

    std::uint32_t textOf(const std::string& text) {
        if (text.empty()) return 0;
        const auto [found, added] = m_texts.try_emplace(text, static_cast<std::uint32_t>(m_block.strings.size()));
        if (added) m_block.strings.push_back(text);
        return found->second;
    }

    void append(const Allocation& one) {
        m_totals[one.device] = one.totalAllocated;
        m_block.allocations.push_back(one);
    }

    void write() {
        if (m_block.allocations.empty() && m_block.lost == 0) return;
        AllocationBlock next{.lane = m_block.lane, .process = m_block.process, .thread = m_block.thread, .rank = m_block.rank};
        m_sink.publishChunk(std::make_shared<Chunk>(encodeAllocations(std::exchange(m_block, std::move(next)), TimeNs{steadyNow() + m_toSession})));
        m_texts.clear();
    }

    EventSink& m_sink;
    std::int64_t m_toSession;  // added to a time of the steady clock
    std::int64_t m_trainer;
    PartsOfThreads<std::vector<Open>> m_parts;
    std::mutex m_mutex;
    std::vector<MemoryRecord> m_records;          // of the step, in order
    std::map<std::int64_t, std::int64_t> m_lost;  // of the step, by device
    std::atomic<std::int64_t> m_allLost{0};
    // The trainer's alone, between steps.
    AllocationBlock m_block;
    std::unordered_map<std::string, std::uint32_t> m_texts;
    std::map<Key, std::int64_t> m_held;
    std::map<std::int64_t, std::int64_t> m_totals;  // of each device, as it was told last
    std::int64_t m_rest = 0, m_restGiven = 0, m_restAt = 0, m_restTotal = 0;
};

// LibTorch tells whoever profiles a thread what its caching allocators hand out; our own host allocator tells nobody but MemoryObservers. It is asked
// in other places whether a profiler is on (it is not), so it has to be one of LibTorch's own kind.
class MemorySource::DeviceReports final : public torch::profiler::impl::ProfilerStateBase {
public:
    explicit DeviceReports(std::shared_ptr<Recording> recording)
        : ProfilerStateBase(torch::profiler::impl::ProfilerConfig(torch::profiler::impl::ProfilerState::Disabled, false, /*profile_memory=*/true)),
          m_recording(std::move(recording)) {}

    void reportMemoryUsage(void* block, std::int64_t bytes, std::size_t total, std::size_t reserved, c10::Device device) override {
        if (device.is_cpu()) return;
        m_recording->heard(block, bytes, device.index(), static_cast<std::int64_t>(total), static_cast<std::int64_t>(reserved));
    }
    torch::profiler::impl::ActiveProfilerType profilerType() override { return torch::profiler::impl::ActiveProfilerType::NONE; }

private:
    std::shared_ptr<Recording> m_recording;
};

MemorySource::MemorySource(const CaptureOutlet& outlet)
    : m_lasting(outlet.lasting),
      m_recording(std::make_shared<Recording>(outlet)),
      m_operations(m_recording),
      m_phases(stepObservers, m_recording),
      m_host(memoryObservers, m_recording) {
    if (outlet.late == nullptr) m_recording->begin(m_lasting);
    if (outlet.gpu)
        m_device = std::make_unique<c10::DebugInfoGuard>(c10::DebugInfoKind::PROFILER_STATE, std::make_shared<DeviceReports>(m_recording));
}
MemorySource::~MemorySource() = default;

void MemorySource::stepDone() {
    m_recording->handOn();
}

void MemorySource::stepBegins() {
    m_recording->begin(m_lasting);
}

void MemorySource::stepEnds(TimeNs end) {
    m_recording->end(end.ns);
}

std::string MemorySource::finish(CaptureDone& into) {
    m_recording->end(into.at.ns);
    if (const std::int64_t lost = m_recording->lost(); lost > 0)
        return fmt::format("{} allocations of the capture could not be kept: a step had more than {} of them.", format::count(lost),
                           format::count(static_cast<std::int64_t>(kMostOfAStep)));
    return {};
}

}  // namespace stepscope
