// The functions of CUPTI as a test wants them answered. Built again without a function and with another version (CMakeLists.txt here).
#include "FakeCupti.h"

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#ifndef VERSION
#define VERSION CUPTI_API_VERSION
#endif

namespace {

struct Fake {
    std::recursive_mutex mutex;
    FakeCuptiScript script;
    FakeCuptiState state;
    std::set<CUpti_ActivityKind> kinds;
    std::set<CUpti_CallbackId> graphEvents;
    CUpti_CallbackFunc callback = nullptr;
    CUpti_BuffersCallbackRequestFunc request = nullptr;
    CUpti_BuffersCallbackCompleteFunc complete = nullptr;
    std::uint8_t* buffer = nullptr;
    std::size_t size = 0, used = 0, dropped = 0;
    bool systemThreads = false;  // the numbers of threads are the system's
    std::map<std::pair<int, CUpti_CallbackId>, std::string> names;
    std::map<std::uint32_t, std::size_t> sizes;  // of records, by their kind
};
Fake& fake() {
    static auto* one = new Fake;
    return *one;
}
std::atomic<std::uint32_t> correlations{100};
thread_local std::map<int, std::vector<std::uint64_t>> t_externals;

std::int64_t steadyNow() {
    return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}

// A record lies in the buffer behind its size, which the real one knows by the kind.
constexpr std::size_t kHead = 8;

void handBack(Fake& own) {
    if (own.buffer == nullptr) return;
    own.state.buffersBack += 1;
    own.complete(nullptr, 0, std::exchange(own.buffer, nullptr), own.size, own.used);
}

void play(Fake& own, const void* record, std::size_t size) {
    const std::size_t room = kHead + (size + 7) / 8 * 8;
    if (own.buffer != nullptr && own.used + room > own.size) handBack(own);
    if (own.buffer == nullptr && own.request != nullptr) {
        std::size_t most = 0;
        own.state.buffersAsked += 1;
        own.request(&own.buffer, &own.size, &most);
        own.used = 0;
        if (own.size < room) own.buffer = nullptr;
    }
    if (own.buffer == nullptr) {
        own.dropped += 1;
        own.state.dropped += 1;
        return;
    }
    const std::uint64_t head = room;
    std::memcpy(own.buffer + own.used, &head, sizeof head);
    std::memcpy(own.buffer + own.used + kHead, record, size);
    own.used += room;
    own.state.records += 1;
}

// As CUPTI does: the lower half of pthread_self() where nobody asked for the system's.
std::uint32_t threadNumber(const Fake& own) {
    return own.systemThreads ? static_cast<std::uint32_t>(::gettid()) : static_cast<std::uint32_t>(::pthread_self());
}

}  // namespace

#define CUPTI_FAKE extern "C" __attribute__((visibility("default")))

CUPTI_FAKE void fakeCuptiPlay(const FakeCuptiScript* script) {
    Fake& own = fake();
    const std::lock_guard lock(own.mutex);
    own.script = *script;
    handBack(own);
    own.dropped = 0;
    own.state.records = own.state.dropped = own.state.buffersAsked = own.state.buffersBack = own.state.flushes = 0;
    t_externals.clear();
}
CUPTI_FAKE FakeCuptiState fakeCuptiState() {
    Fake& own = fake();
    const std::lock_guard lock(own.mutex);
    FakeCuptiState state = own.state;
    state.enabled = static_cast<int>(own.kinds.size());
    state.graphEvents = static_cast<int>(own.graphEvents.size());
    for (const auto& [kind, ids] : t_externals) state.pushed += static_cast<int>(ids.size());
    return state;
}
CUPTI_FAKE std::uint64_t fakeCuptiTime(std::int64_t steadyNs) {
    const FakeCuptiScript& script = fake().script;
    const std::int64_t drift = static_cast<std::int64_t>(static_cast<double>(steadyNs) * (script.clockRate - 1.0));
    return static_cast<std::uint64_t>(steadyNs + drift + script.clockOffset);
}
CUPTI_FAKE std::uint32_t fakeCuptiCallBegins() {
    Fake& own = fake();
    const std::lock_guard lock(own.mutex);
    const std::uint32_t correlation = ++correlations;
    if (own.kinds.contains(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION))
        for (const auto& [kind, ids] : t_externals) {
            if (ids.empty()) continue;
            const CUpti_ActivityExternalCorrelation record{.kind = CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION,
                                                           .externalKind = static_cast<CUpti_ExternalCorrelationKind>(kind),
                                                           .externalId = ids.back(),
                                                           .correlationId = correlation,
                                                           .reserved = 0};
            play(own, &record, sizeof record);
        }
    return correlation;
}
CUPTI_FAKE void fakeCuptiCallEnds(CUpti_CallbackDomain domain, CUpti_CallbackId cbid, std::uint32_t correlation, std::uint64_t start) {
    Fake& own = fake();
    const std::lock_guard lock(own.mutex);
    const CUpti_ActivityKind kind = domain == CUPTI_CB_DOMAIN_RUNTIME_API ? CUPTI_ACTIVITY_KIND_RUNTIME : CUPTI_ACTIVITY_KIND_DRIVER;
    if (!own.kinds.contains(kind)) return;
    CUpti_ActivityAPI record{};
    record.kind = kind;
    record.cbid = cbid;
    record.start = start;
    record.end = fakeCuptiTime(steadyNow());
    record.processId = static_cast<std::uint32_t>(::getpid());
    record.threadId = threadNumber(own);
    record.correlationId = correlation;
    play(own, &record, sizeof record);
}
CUPTI_FAKE void fakeCuptiRecord(const void* record, std::size_t size) {
    Fake& own = fake();
    const std::lock_guard lock(own.mutex);
    play(own, record, size);
}
CUPTI_FAKE bool fakeCuptiRecords(CUpti_ActivityKind kind) {
    Fake& own = fake();
    const std::lock_guard lock(own.mutex);
    return own.kinds.contains(kind);
}
CUPTI_FAKE void fakeCuptiName(CUpti_CallbackDomain domain, CUpti_CallbackId cbid, const char* name) {
    Fake& own = fake();
    const std::lock_guard lock(own.mutex);
    own.names[{domain, cbid}] = name;
}
CUPTI_FAKE void fakeCuptiNode(CUpti_CallbackIdResource what, std::uint64_t node, std::uint64_t original) {
    Fake& own = fake();
    CUpti_CallbackFunc callback = nullptr;
    {
        const std::lock_guard lock(own.mutex);
        if (own.state.subscribers > 0 && own.graphEvents.contains(what)) callback = own.callback;
    }
    if (callback == nullptr) return;
    CUpti_GraphData graph{};
    graph.node = reinterpret_cast<CUgraphNode>(node);
    graph.originalNode = reinterpret_cast<CUgraphNode>(original);
    CUpti_ResourceData resource{};
    resource.resourceDescriptor = &graph;
    callback(nullptr, CUPTI_CB_DOMAIN_RESOURCE, what, &resource);
}

CUPTI_FAKE CUptiResult CUPTIAPI cuptiGetVersion(std::uint32_t* version) {
    *version = VERSION;
    return CUPTI_SUCCESS;
}
CUPTI_FAKE CUptiResult CUPTIAPI cuptiGetResultString(CUptiResult, const char** name) {
    *name = "CUPTI_ERROR_OF_THE_FAKE";
    return CUPTI_SUCCESS;
}
CUPTI_FAKE CUptiResult CUPTIAPI cuptiSubscribe(CUpti_SubscriberHandle* subscriber, CUpti_CallbackFunc callback, void*) {
    Fake& own = fake();
    const std::lock_guard lock(own.mutex);
    if (own.script.subscribe != CUPTI_SUCCESS) return own.script.subscribe;
    if (own.state.subscribers > 0) return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
    own.state.subscribers += 1;
    own.callback = callback;
    *subscriber = reinterpret_cast<CUpti_SubscriberHandle>(&own);
    return CUPTI_SUCCESS;
}
CUPTI_FAKE CUptiResult CUPTIAPI cuptiUnsubscribe(CUpti_SubscriberHandle) {
    Fake& own = fake();
    const std::lock_guard lock(own.mutex);
    if (own.state.subscribers == 0) return CUPTI_ERROR_INVALID_PARAMETER;
    own.state.subscribers -= 1;
    own.callback = nullptr;
    own.graphEvents.clear();
    return CUPTI_SUCCESS;
}
CUPTI_FAKE CUptiResult CUPTIAPI cuptiEnableCallback(std::uint32_t enable, CUpti_SubscriberHandle, CUpti_CallbackDomain domain, CUpti_CallbackId id) {
    Fake& own = fake();
    const std::lock_guard lock(own.mutex);
    if (domain != CUPTI_CB_DOMAIN_RESOURCE) return CUPTI_ERROR_INVALID_PARAMETER;
    if (enable != 0)
        own.graphEvents.insert(id);
    else
        own.graphEvents.erase(id);
    return CUPTI_SUCCESS;
}
CUPTI_FAKE CUptiResult CUPTIAPI cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc request, CUpti_BuffersCallbackCompleteFunc complete) {
    Fake& own = fake();
    const std::lock_guard lock(own.mutex);
    own.request = request;
    own.complete = complete;
    return CUPTI_SUCCESS;
}
CUPTI_FAKE CUptiResult CUPTIAPI cuptiActivityEnable(CUpti_ActivityKind kind) {
    Fake& own = fake();
    const std::lock_guard lock(own.mutex);
    const bool ofKernels = kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL || kind == CUPTI_ACTIVITY_KIND_KERNEL;
    const bool needed = ofKernels || kind == CUPTI_ACTIVITY_KIND_MEMCPY || kind == CUPTI_ACTIVITY_KIND_MEMSET;
    const CUptiResult answer = ofKernels ? own.script.enableKernels : needed ? CUPTI_SUCCESS : own.script.enableOthers;
    if (answer == CUPTI_SUCCESS) own.kinds.insert(kind);
    return answer;
}
CUPTI_FAKE CUptiResult CUPTIAPI cuptiSetThreadIdType(CUpti_ActivityThreadIdType type) {
    Fake& own = fake();
    const std::lock_guard lock(own.mutex);
    own.systemThreads = type == CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM;
    return CUPTI_SUCCESS;
}
CUPTI_FAKE CUptiResult CUPTIAPI cuptiActivityDisable(CUpti_ActivityKind kind) {
    Fake& own = fake();
    const std::lock_guard lock(own.mutex);
    own.kinds.erase(kind);
    return CUPTI_SUCCESS;
}
#ifndef WITHOUT_FLUSH
CUPTI_FAKE CUptiResult CUPTIAPI cuptiActivityFlushAll(std::uint32_t) {
    Fake& own = fake();
    if (const int seconds = own.script.flushSeconds; seconds > 0) std::this_thread::sleep_for(std::chrono::seconds(seconds));
    const std::lock_guard lock(own.mutex);
    own.state.flushes += 1;
    if (own.script.flushCalls && own.kinds.contains(CUPTI_ACTIVITY_KIND_DRIVER)) {
        CUpti_ActivityAPI record{};
        record.kind = CUPTI_ACTIVITY_KIND_DRIVER;
        record.cbid = CUPTI_DRIVER_TRACE_CBID_cuCtxSynchronize;
        record.start = fakeCuptiTime(steadyNow());
        record.end = record.start + 1000;
        record.processId = static_cast<std::uint32_t>(::getpid());
        record.threadId = threadNumber(own);
        record.correlationId = ++correlations;
        play(own, &record, sizeof record);
    }
    if (own.script.flush == CUPTI_SUCCESS && !own.script.keepsRecords) handBack(own);
    return own.script.flush;
}
#endif
CUPTI_FAKE CUptiResult CUPTIAPI cuptiActivityGetNextRecord(std::uint8_t* buffer, std::size_t valid, CUpti_Activity** record) {
    std::size_t at = 0;
    std::uint64_t room = 0;
    if (*record != nullptr) {
        at = static_cast<std::size_t>(reinterpret_cast<std::uint8_t*>(*record) - buffer) - kHead;
        std::memcpy(&room, buffer + at, sizeof room);
        at += room;
    }
    if (at >= valid) return CUPTI_ERROR_MAX_LIMIT_REACHED;
    std::memcpy(&room, buffer + at, sizeof room);
    if (room < kHead + sizeof(CUpti_Activity) || room > valid - at) return CUPTI_ERROR_INVALID_KIND;
    *record = reinterpret_cast<CUpti_Activity*>(buffer + at + kHead);
    return CUPTI_SUCCESS;
}
CUPTI_FAKE CUptiResult CUPTIAPI cuptiActivityGetNumDroppedRecords(CUcontext context, std::uint32_t, std::size_t* dropped) {
    Fake& own = fake();
    const std::lock_guard lock(own.mutex);
    *dropped = context == nullptr ? std::exchange(own.dropped, 0) : 0;
    return CUPTI_SUCCESS;
}
CUPTI_FAKE CUptiResult CUPTIAPI cuptiActivityPushExternalCorrelationId(CUpti_ExternalCorrelationKind kind, std::uint64_t id) {
    t_externals[kind].push_back(id);
    return CUPTI_SUCCESS;
}
CUPTI_FAKE CUptiResult CUPTIAPI cuptiActivityPopExternalCorrelationId(CUpti_ExternalCorrelationKind kind, std::uint64_t* last) {
    auto& ids = t_externals[kind];
    if (ids.empty()) return CUPTI_ERROR_QUEUE_EMPTY;
    *last = ids.back();
    ids.pop_back();
    return CUPTI_SUCCESS;
}
CUPTI_FAKE CUptiResult CUPTIAPI cuptiGetTimestamp(std::uint64_t* now) {
    *now = fakeCuptiTime(steadyNow());
    return CUPTI_SUCCESS;
}
CUPTI_FAKE CUptiResult CUPTIAPI cuptiGetCallbackName(CUpti_CallbackDomain domain, std::uint32_t cbid, const char** name) {
    Fake& own = fake();
    const std::lock_guard lock(own.mutex);
    const auto found = own.names.find({domain, cbid});
    if (found == own.names.end()) return CUPTI_ERROR_INVALID_PARAMETER;
    *name = found->second.c_str();
    return CUPTI_SUCCESS;
}
CUPTI_FAKE CUptiResult CUPTIAPI cuptiGetGraphNodeId(CUgraphNode node, std::uint64_t* id) {
    *id = reinterpret_cast<std::uint64_t>(node);
    return *id != 0 ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}
