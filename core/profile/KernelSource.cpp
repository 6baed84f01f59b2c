#include "core/profile/KernelSource.h"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <limits>
#include <map>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <utility>

#include "core/base/Format.h"
#include "core/base/SteadyNow.h"
#include "core/profile/DeviceFacts.h"
#include "core/profile/DeviceMeter.h"
#include "core/profile/OperationNames.h"
#include "core/profile/activity/ActivityDecoder.h"
#include "core/trace/Note.h"
#include "core/trace/SampleCodec.h"
#include "core/trace/SliceCodec.h"

namespace stepscope {
namespace {

constexpr std::size_t kMostOperations = 1 << 20;  // of one capture, and of all graphs

// Operations by the ids that were pushed for them. Any thread.
class Launches {
public:
    void add(const OperationBegun& begun) {
        const std::lock_guard lock(m_mutex);
        if (!m_all.try_emplace(begun.id, LaunchingOperation{begun.known->text.c_str(), begun.place, begun.step}).second) return;
        m_order.push_back(begun.id);
        if (m_order.size() <= kMostOperations) return;
        m_all.erase(m_order.front());
        m_order.pop_front();
    }
    std::optional<LaunchingOperation> find(std::int64_t id) const {
        const std::lock_guard lock(m_mutex);
        const auto found = m_all.find(id);
        return found != m_all.end() ? std::optional(found->second) : std::nullopt;
    }

private:
    mutable std::mutex m_mutex;
    std::unordered_map<std::int64_t, LaunchingOperation> m_all;
    std::deque<std::int64_t> m_order;
};

// Of graphs: captured long before the steps that replay them are.
Launches& launchesOfGraphs() {
    static auto* all = new Launches;
    return *all;
}

// Pushes each operation while it runs. An end that was never heard is made up for by the next one that is.
class Pushing final : public OperationObserver {
public:
    Pushing(const CudaInterface& cuda, Launches& launches) : m_cuda(cuda), m_launches(launches) {}
    void operationBegins(const OperationBegun& begun) noexcept override {
        if (begun.worker != 0) return;
        m_launches.add(begun);
        m_cuda.capturePush(begun.id);
    }
    void operationEnds(const OperationDone& done) noexcept override {
        if (done.worker != 0) return;
        for (std::int64_t id = m_cuda.capturePop(); id != 0 && id != done.id; id = m_cuda.capturePop()) {
        }
    }

private:
    const CudaInterface& m_cuda;
    Launches& m_launches;
};

// A capture of the process has not come back from CUPTI: there is no taking it back, and no other may begin before it does.
std::atomic<bool> g_stuck{false};

}  // namespace

// Shared with the thread that fetches, which may outlive the source when CUPTI does not come back.
class KernelSource::Recording : public std::enable_shared_from_this<KernelSource::Recording> {
public:
    Recording(const CaptureOutlet& outlet, const CudaPlugin& plugin)
        : m_cuda(*plugin.interface),
          m_sink(outlet.sink),
          m_clock(*outlet.clock),
          m_rank(outlet.rank),
          m_toSession(outlet.clock->now().ns - steadyNow()),
          m_decoder(
              {.process = ::getpid(),
               .operation =
                   [this](std::int64_t id) {
                       auto found = m_launches.find(id);
                       return found ? found : launchesOfGraphs().find(id);
                   },
               .deviceName = [this](std::int64_t device) { return nameOfDevice(device); },
               .threadName = [trainer = std::int64_t{::gettid()}](std::int64_t thread) { return std::string(thread == trainer ? "trainer" : ""); },
               .correlationsFrom = operationsNumberedFrom()}) {}

    Launches& launches() { return m_launches; }
    const CudaInterface& cuda() const { return m_cuda; }

    std::string begin() {
        if (g_stuck.load()) return "Kernels are not recorded: CUPTI has not come back from an earlier capture; start the program again.";
        if (const char* why = m_cuda.captureBegin({})) return why;
        std::thread([self = shared_from_this()] { self->fetch(); }).detach();
        return {};
    }

    // The sentence of what was lost, when it is over or patience is. until: the end of the last step; what the host does behind it, ending this
    // among it, is no part of the capture.
    std::string end(std::chrono::milliseconds patience, std::int64_t until) {
        m_until.store(until);
        std::unique_lock lock(m_mutex);
        m_stop = true;
        m_changed.notify_all();
        if (!m_changed.wait_for(lock, patience, [&] { return m_done; })) {
            g_stuck.store(true);
            m_abandoned = true;
            m_sentence = fmt::format(
                "Kernels are missing: CUPTI did not hand its records over within {:.0f} s; start the program again before the next capture.",
                std::chrono::duration<double>(patience).count());
        }
        if (!m_sentence.empty()) m_sink->publishChunk(noteChunk(m_sentence, m_clock.now()));
        m_sink = nullptr;
        return m_sentence;
    }

private:
    void fetch() {
        while (true) {
            std::unique_lock lock(m_mutex);
            m_changed.wait_for(lock, kFetch, [&] { return m_stop; });
            const bool last = m_stop;
            lock.unlock();
            readClocks();
            const char* problem = m_cuda.captureCollect(last, this, [](void* self, const CudaActivity* records, std::size_t count) {
                for (std::size_t i = 0; i < count; ++i) static_cast<Recording*>(self)->m_decoder.add(records[i]);
            });
            if (problem != nullptr) m_problem = problem;
            for (auto& [device, meter] : m_meters) meter.read(m_clock.now().ns);
            if (last) break;
            publish(m_decoder.take(false));
        }
        CudaCaptureCounts counts;
        m_cuda.captureEnd(&counts);
        m_decoder.addLost(counts.dropped);
        publish(m_decoder.take(true));
        for (auto& [device, meter] : m_meters) meter.finish();
        const std::lock_guard lock(m_mutex);
        m_sentence = sentenceOf(counts);
        m_done = true;
        if (m_abandoned) g_stuck.store(false);
        m_changed.notify_all();
    }

    // CUPTI's clock beside ours: the reading that took least of five.
    void readClocks() {
        m_decoder.clock().add(ClockPairs::best(5, [&]() -> ClockPairs::Moment {
            const std::int64_t before = steadyNow();
            const std::uint64_t device = m_cuda.captureNow();
            const std::int64_t after = steadyNow();
            return {.device = device, .session = before + (after - before) / 2 + m_toSession, .spread = after - before};
        }));
    }

    void publish(std::vector<SliceBlock> blocks) {
        for (SliceBlock& block : blocks) {
            const std::size_t all = block.slices.size();
            std::erase_if(block.slices, [until = m_until.load()](const Slice& slice) { return slice.start > until && !isDeviceWork(slice.kind); });
            if (block.slices.empty() && all > 0 && block.lost + block.invalid == 0) continue;
            const std::int64_t device = block.thread.device;
            block.thread.rank = m_rank;
            block.thread.lane = laneOfWorker(block.thread.lane, m_rank);  // told from those of other captures of the session
            const bool unseen = device >= 0 && m_meters.try_emplace(device, m_cuda, device, m_rank, m_measured).second;
            auto chunk = std::make_shared<Chunk>(encodeSlices(std::move(block), m_clock.now()));
            ChunkPtr facts;
            if (unseen) facts = deviceFacts(m_cuda, device, m_clock.now());
            const std::lock_guard lock(m_mutex);
            if (m_sink == nullptr) return;
            if (facts) m_sink->publishChunk(facts);
            m_sink->publishChunk(std::move(chunk));
        }
    }

    std::string nameOfDevice(std::int64_t device) const {
        CudaGpuDescription gpu{};
        const bool told = m_cuda.describeGpu(static_cast<std::int32_t>(device), &gpu) == nullptr;
        return told ? fmt::format("GPU {}: {}", device, gpu.name) : fmt::format("GPU {}", device);
    }

    std::string sentenceOf(const CudaCaptureCounts& counts) const {
        const ActivityCounts& made = m_decoder.counts();
        std::string text = m_problem;
        const auto add = [&](const std::string& more) { text += (text.empty() ? "" : " ") + more; };
        if (counts.dropped > 0)
            add(fmt::format("{} records of kernels and calls were lost: CUPTI had no room left. Capture fewer steps at once.",
                            format::count(counts.dropped)));
        if (made.invalid > 0)
            add(fmt::format("{} records of CUPTI were invalid (they never began, or ended before they did) and are left out.",
                            format::count(made.invalid)));
        if (counts.refused > 0)
            add(fmt::format(
                "{} kinds of records beside kernels cannot be had of CUPTI here: calls, waits, copies between GPUs or the operations of kernels "
                "are missing; a newer driver may have them.",
                counts.refused));
        if (counts.unknown > 0)
            add(fmt::format("{} records of CUPTI were of kinds that nobody asked for and are left out.", format::count(counts.unknown)));
        if (counts.unreadable > 0) add(fmt::format("{} buffers of CUPTI could not be read to their end.", format::count(counts.unreadable)));
        if (made.unattributed > 0)
            add(fmt::format("{} of {} kernels belong to no operation that was seen: they have neither layer nor part of the model.",
                            format::count(made.unattributed), format::count(made.kernels)));
        if (made.kernels == 0)
            add("CUPTI handed over no kernel of the captured steps. Where they replay a CUDA graph, switch it off and on again and capture then.");
        return text;
    }

    const CudaInterface& m_cuda;
    EventSink* m_sink;  // null: nobody waits any more
    const SessionClock m_clock;
    const std::int64_t m_rank;
    const std::int64_t m_toSession;  // added to a time of the steady clock
    Launches m_launches;
    ActivityDecoder m_decoder;                     // of the thread that fetches, as the two below
    std::map<std::int64_t, DeviceMeter> m_meters;  // of devices that have been told of
    const DeviceMeter::Out m_measured = [this](SampleBlock block) {
        auto chunk = std::make_shared<Chunk>(encodeSamples(std::move(block)));
        const std::lock_guard lock(m_mutex);
        if (m_sink != nullptr) m_sink->publishChunk(std::move(chunk));
    };
    std::string m_problem;
    std::mutex m_mutex;
    std::condition_variable m_changed;
    bool m_stop = false, m_done = false, m_abandoned = false;
    std::atomic<std::int64_t> m_until{std::numeric_limits<std::int64_t>::max()};  // ns of the session's clock
    std::string m_sentence;
};

KernelSource::KernelSource(const CaptureOutlet& outlet, const CudaPlugin& plugin, std::chrono::milliseconds patience) : m_patience(patience) {
    auto recording = std::make_shared<Recording>(outlet, plugin);
    m_whyNot = recording->begin();
    if (!m_whyNot.empty()) {
        outlet.sink->publishChunk(noteChunk(m_whyNot, outlet.clock->now()));
        return;
    }
    m_recording = std::move(recording);
    // The recording is kept by whoever may still hear the end of something.
    struct Kept final : OperationObserver {
        explicit Kept(std::shared_ptr<Recording> kept) : recording(std::move(kept)), pushing(recording->cuda(), recording->launches()) {}
        void operationBegins(const OperationBegun& begun) noexcept override { pushing.operationBegins(begun); }
        void operationEnds(const OperationDone& done) noexcept override { pushing.operationEnds(done); }
        std::shared_ptr<Recording> recording;
        Pushing pushing;
    };
    m_listening = std::make_unique<OperationListening>(std::make_shared<Kept>(m_recording));
}

KernelSource::~KernelSource() {
    m_listening.reset();
    if (m_recording) m_recording->end(m_patience, std::numeric_limits<std::int64_t>::max());
}

std::string KernelSource::finish(CaptureDone& into) {
    m_listening.reset();
    if (!m_recording) return m_whyNot;
    return std::exchange(m_recording, nullptr)->end(m_patience, into.at.ns);
}

GraphListening::GraphListening(const CudaPlugin& plugin) {
    if (plugin.interface == nullptr || g_stuck.load() || plugin.interface->captureGraphBegins({}) != nullptr) return;
    m_interface = plugin.interface;
    m_listening = std::make_unique<OperationListening>(std::make_shared<Pushing>(*m_interface, launchesOfGraphs()));
}

GraphListening::~GraphListening() {
    m_listening.reset();
    if (m_interface != nullptr) m_interface->captureGraphEnds();
}

}  // namespace stepscope
