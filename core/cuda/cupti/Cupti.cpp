#include "core/cuda/cupti/Cupti.h"

#ifndef STEPSCOPE_WITHOUT_CUPTI  // CMake defines it where there is no cupti.h; then this file is all of the folder that is compiled
#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <atomic>
#include <deque>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "core/cuda/cupti/CuptiBuffers.h"
#include "core/cuda/cupti/CuptiFile.h"
#include "core/cuda/cupti/CuptiLibrary.h"
#include "core/cuda/cupti/Records.h"

namespace stepscope {
namespace {

using cupti::Library;

constexpr std::size_t kBatch = 512;          // records handed on at once
constexpr std::size_t kMostNodes = 1 << 20;  // of graphs that are remembered
constexpr CUpti_ActivityKind kDeviceKinds[] = {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMSET};
constexpr CUpti_ActivityKind kOtherKinds[] = {CUPTI_ACTIVITY_KIND_MEMCPY2,   CUPTI_ACTIVITY_KIND_RUNTIME,
                                              CUPTI_ACTIVITY_KIND_DRIVER,    CUPTI_ACTIVITY_KIND_SYNCHRONIZATION,
                                              CUPTI_ACTIVITY_KIND_OVERHEAD,  CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION,
                                              CUPTI_ACTIVITY_KIND_CUDA_EVENT};
constexpr auto kExternalKind = CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0;

// Which operation was at work when a node of a graph was captured.
struct Nodes {
    std::mutex mutex;
    std::unordered_map<std::uint64_t, std::int64_t> operations;
};
Nodes& nodes() {
    static auto* all = new Nodes;
    return *all;
}

struct Capture {
    std::mutex mutex;  // begin, end, and those of graphs
    const Library* library = nullptr;
    CUpti_SubscriberHandle subscriber{};
    bool subscribed = false;
    bool heardOfGraphs = false;  // then the subscription stays: their nodes are cloned and destroyed later on
    bool registered = false;
    int graphs = 0;  // that are being captured
    std::vector<CUpti_ActivityKind> enabled;
    CudaCaptureCounts counts;
    std::atomic<const Library*> live{nullptr};  // while external ids are wanted
};
Capture& capture() {
    static auto* one = new Capture;
    return *one;
}

struct Pushed {
    std::vector<std::int64_t> ids;
};
thread_local Pushed t_pushed;

// Nodes of graphs: which operation made them, and which they were cloned from.
void CUPTIAPI told(void*, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* facts) {
    if (domain != CUPTI_CB_DOMAIN_RESOURCE || facts == nullptr) return;
    const Library* const library = capture().library;
    const auto* const graph = static_cast<const CUpti_GraphData*>(static_cast<const CUpti_ResourceData*>(facts)->resourceDescriptor);
    if (library == nullptr || graph == nullptr) return;
    std::uint64_t node = 0, original = 0;
    if (library->graphNodeId(graph->node, &node) != CUPTI_SUCCESS) return;
    if (id == CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED && library->graphNodeId(graph->originalNode, &original) != CUPTI_SUCCESS) return;
    Nodes& all = nodes();
    const std::lock_guard lock(all.mutex);
    if (id == CUPTI_CBID_RESOURCE_GRAPHNODE_DESTROY_STARTING) {
        all.operations.erase(node);
    } else if (id == CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED) {
        if (!t_pushed.ids.empty() && all.operations.size() < kMostNodes) all.operations[node] = t_pushed.ids.back();
    } else if (id == CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED) {
        const auto found = all.operations.find(original);
        if (found != all.operations.end() && all.operations.size() < kMostNodes) all.operations[node] = found->second;
    }
}

constexpr CUpti_CallbackId kGraphEvents[] = {CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED, CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED,
                                             CUPTI_CBID_RESOURCE_GRAPHNODE_DESTROY_STARTING};

void unsubscribe(Capture& own) {
    if (own.subscribed) own.library->unsubscribe(own.subscriber);
    own.subscribed = false;
}

// The subscription ends when nobody captures and no node of a graph is known: another profiler may come then.
void leave(Capture& own) {
    if (own.live.load() != nullptr || own.graphs > 0) return;
    {
        Nodes& all = nodes();
        const std::lock_guard lock(all.mutex);
        if (!all.operations.empty()) return;
    }
    own.heardOfGraphs = false;
    unsubscribe(own);
}

void disableAll(Capture& own) {
    for (const CUpti_ActivityKind kind : own.enabled) own.library->disable(kind);
    own.enabled.clear();
}

// All or none of the device's kinds, CUDA graphs' kernels included where they are on when a graph is captured.
const char* enableDeviceKinds(Capture& own) {
    for (const CUpti_ActivityKind kind : kDeviceKinds) {
        const CUptiResult result = own.library->enable(kind);
        if (result == CUPTI_SUCCESS) {
            own.enabled.push_back(kind);
            continue;
        }
        disableAll(own);
        return cupti::sentence(*own.library, result, kind == kDeviceKinds[0] ? "record kernels" : "record copies");
    }
    return nullptr;
}

// Opened, subscribed, registered, and the kinds of the device on; null, or the sentence, and then nothing is on.
const char* open(Capture& own, const CudaCaptureOptions& options) {
    const Library& library = cupti::library(cupti::fileInstead());
    if (!library.whyNot.empty()) return library.whyNot.c_str();
    own.library = &library;
    cupti::makeRoom(options);
    if (!own.subscribed) {
        const CUptiResult result = library.subscribe(&own.subscriber, told, nullptr);
        if (result != CUPTI_SUCCESS) return cupti::sentence(library, result, "let Stepscope subscribe");
        own.subscribed = true;
    }
    if (!own.registered) {
        // The system's numbers of threads, as operations have them; CUPTI's own are halves of pthread_self().
        library.threadIdType(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
        const CUptiResult result = library.registerCallbacks(cupti::bufferRequested, cupti::bufferCompleted);
        if (result != CUPTI_SUCCESS) {
            unsubscribe(own);
            return cupti::sentence(library, result, "take buffers");
        }
        own.registered = true;
    }
    if (!own.enabled.empty()) return nullptr;  // for a graph that is being captured
    const char* why = enableDeviceKinds(own);
    if (why != nullptr) leave(own);
    return why;
}

class Batch {
public:
    Batch(void* user, TakeCudaActivities take) : m_user(user), m_take(take) { m_records.reserve(kBatch); }
    ~Batch() { handOn(); }
    void add(const CudaActivity& record) {
        m_records.push_back(record);
        if (m_records.size() == kBatch) handOn();
    }

private:
    void handOn() {
        if (!m_records.empty()) m_take(m_user, m_records.data(), m_records.size());
        m_records.clear();
    }
    void* m_user;
    TakeCudaActivities m_take;
    std::vector<CudaActivity> m_records;
};

void readBuffer(Capture& own, const cupti::FilledBuffer& filled, Batch& batch) {
    const Library& library = *own.library;
    CUpti_Activity* record = nullptr;
    CudaActivity activity;
    while (filled.valid > 0) {
        const CUptiResult result = library.nextRecord(filled.bytes, filled.valid, &record);
        if (result == CUPTI_ERROR_MAX_LIMIT_REACHED) break;
        if (result != CUPTI_SUCCESS) {
            own.counts.unreadable += 1;
            break;
        }
        if (!cupti::read(library, *record, activity)) {
            own.counts.unknown += 1;
            continue;
        }
        if (cupti::onlyAsks(activity)) continue;
        if (activity.graphNode != 0) {
            Nodes& all = nodes();
            const std::lock_guard lock(all.mutex);
            const auto found = all.operations.find(static_cast<std::uint64_t>(activity.graphNode));
            activity.external = found != all.operations.end() ? found->second : 0;
        }
        own.counts.records += 1;
        batch.add(activity);
    }
}

// Until all that the process has put onto its devices is done: on this thread alone, and only for devices that it uses, as asking the CUDA runtime
// about another would take memory there.
void waitForDevices() {
    void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    if (driver == nullptr) return;
    const auto device = reinterpret_cast<decltype(&cuDeviceGet)>(dlsym(driver, "cuDeviceGet"));
    const auto state = reinterpret_cast<decltype(&cuDevicePrimaryCtxGetState)>(dlsym(driver, "cuDevicePrimaryCtxGetState"));
    int count = 0;
    if (device == nullptr || state == nullptr || cudaGetDeviceCount(&count) != cudaSuccess) count = 0;
    for (int ordinal = 0; ordinal < count; ++ordinal) {
        CUdevice one{};
        unsigned flags = 0;
        int active = 0;
        if (device(&one, ordinal) != CUDA_SUCCESS || state(one, &flags, &active) != CUDA_SUCCESS || active == 0) continue;
        if (cudaSetDevice(ordinal) == cudaSuccess) cudaDeviceSynchronize();
    }
    cudaGetLastError();
    dlclose(driver);
}

// Records that CUPTI dropped since it was last asked, of `context` and stream; of all together with 0.
void countDropped(Capture& own, CUcontext context, std::uint32_t stream) {
    std::size_t dropped = 0;
    if (own.library->droppedRecords(context, stream, &dropped) == CUPTI_SUCCESS) own.counts.dropped += static_cast<std::int64_t>(dropped);
}

}  // namespace

const char* captureBegin(const CudaCaptureOptions& options) {
    Capture& own = capture();
    const std::lock_guard lock(own.mutex);
    if (own.live.load() != nullptr) return "Kernels are not recorded: another capture of this process is still at it.";
    if (const char* why = open(own, options)) return why;
    own.counts = {};
    for (const CUpti_ActivityKind kind : kOtherKinds)
        if (own.library->enable(kind) == CUPTI_SUCCESS)
            own.enabled.push_back(kind);
        else
            own.counts.refused += 1;
    own.library->flushAll(0);
    cupti::forgetFilled();
    std::size_t before = 0;
    own.library->droppedRecords(nullptr, 0, &before);
    own.live.store(own.library);
    return nullptr;
}

const char* captureCollect(bool last, void* user, TakeCudaActivities take) {
    Capture& own = capture();
    if (own.live.load() == nullptr) return "Kernels are not recorded: no capture has begun.";
    if (last) waitForDevices();  // what runs would come without its end
    const CUptiResult flushed = own.library->flushAll(last ? CUPTI_ACTIVITY_FLAG_FLUSH_FORCED : 0);
    const std::deque<cupti::FilledBuffer> filled = cupti::takeFilled();
    {
        Batch batch(user, take);
        for (const cupti::FilledBuffer& one : filled) {
            readBuffer(own, one, batch);
            if (one.context != nullptr) countDropped(own, one.context, one.stream);
            cupti::giveBack(one.bytes);
        }
    }
    countDropped(own, nullptr, 0);
    return flushed == CUPTI_SUCCESS ? nullptr : cupti::sentence(*own.library, flushed, "hand its records over");
}

void captureEnd(CudaCaptureCounts* counts) {
    Capture& own = capture();
    const std::lock_guard lock(own.mutex);
    if (own.live.exchange(nullptr) != nullptr) {
        disableAll(own);
        if (own.graphs > 0) enableDeviceKinds(own);  // for one that is being captured
        leave(own);
    }
    *counts = own.counts;
}

void capturePush(std::int64_t external) {
    t_pushed.ids.push_back(external);
    if (const Library* library = capture().live.load(std::memory_order_relaxed))
        library->pushExternal(kExternalKind, static_cast<std::uint64_t>(external));
}

std::int64_t capturePop() {
    if (t_pushed.ids.empty()) return 0;
    const std::int64_t id = t_pushed.ids.back();
    t_pushed.ids.pop_back();
    // An id that was pushed before this capture began is not on CUPTI's stack: it says so, and nothing has changed.
    std::uint64_t popped = 0;
    if (const Library* library = capture().live.load(std::memory_order_relaxed)) library->popExternal(kExternalKind, &popped);
    return id;
}

std::uint64_t captureNow() {
    const Library* library = capture().live.load();
    std::uint64_t now = 0;
    if (library == nullptr || library->timestamp(&now) != CUPTI_SUCCESS) return 0;
    return now;
}

const char* captureGraphBegins(const CudaCaptureOptions& options) {
    Capture& own = capture();
    const std::lock_guard lock(own.mutex);
    if (const char* why = open(own, options)) return why;
    if (!own.heardOfGraphs) {
        for (const CUpti_CallbackId event : kGraphEvents) {
            const CUptiResult result = own.library->enableCallback(1, own.subscriber, CUPTI_CB_DOMAIN_RESOURCE, event);
            if (result == CUPTI_SUCCESS) continue;
            if (own.live.load() == nullptr && own.graphs == 0) disableAll(own);
            leave(own);
            return cupti::sentence(*own.library, result, "tell of the nodes of graphs");
        }
        own.heardOfGraphs = true;
    }
    own.graphs += 1;
    return nullptr;
}

void captureGraphEnds() {
    Capture& own = capture();
    const std::lock_guard lock(own.mutex);
    if (own.graphs == 0 || --own.graphs > 0 || own.live.load() != nullptr) return;
    disableAll(own);
    leave(own);
}

}  // namespace stepscope
#else
namespace stepscope {
namespace {

constexpr const char* kWhy =
    "Kernels are not recorded: Stepscope's CUDA plug-in was built where CUPTI's headers were not; packaging/run builds it with them.";

}  // namespace

const char* captureBegin(const CudaCaptureOptions&) {
    return kWhy;
}
const char* captureCollect(bool, void*, TakeCudaActivities) {
    return kWhy;
}
void captureEnd(CudaCaptureCounts* counts) {
    *counts = {};
}
void capturePush(std::int64_t) {}
std::int64_t capturePop() {
    return 0;
}
std::uint64_t captureNow() {
    return 0;
}
const char* captureGraphBegins(const CudaCaptureOptions&) {
    return kWhy;
}
void captureGraphEnds() {}

}  // namespace stepscope
#endif
