#include "core/cuda/cupti/Records.h"

#include <string_view>

namespace stepscope::cupti {
namespace {

template <class Record>
const Record& as(const CUpti_Activity& record) {
    return reinterpret_cast<const Record&>(record);
}

// The number of a stream, an event or a device; -1 of what is of none.
std::int64_t numberOf(std::uint32_t number) {
    return number == CUPTI_SYNCHRONIZATION_INVALID_VALUE ? -1 : static_cast<std::int64_t>(number);
}

// Which record of an event: all ones, of 32 bits or of 64, where there is none.
std::int64_t recordOf(std::uint64_t number) {
    return number == CUPTI_SYNCHRONIZATION_INVALID_VALUE || number == ~std::uint64_t{0} ? -1 : static_cast<std::int64_t>(number);
}

template <class Record>
void readDeviceWork(const Record& record, CudaActivity& into) {
    into.device = record.deviceId;
    into.context = record.contextId;
    into.stream = numberOf(record.streamId);
    into.start = record.start;
    into.end = record.end;
    into.correlation = record.correlationId;
    into.graph = record.graphId;
    into.graphNode = static_cast<std::int64_t>(record.graphNodeId);
}

void readKernel(const CUpti_ActivityKernel10& record, CudaActivity& into) {
    into.kind = CudaActivityKind::Kernel;
    readDeviceWork(record, into);
    into.name = record.name;
    const std::int64_t grid[3] = {record.gridX, record.gridY, record.gridZ}, block[3] = {record.blockX, record.blockY, record.blockZ};
    for (int i = 0; i < 3; ++i) {
        into.grid[i] = grid[i];
        into.block[i] = block[i];
    }
    into.registers = record.registersPerThread;
    into.sharedBytes = std::int64_t{record.staticSharedMemory} + record.dynamicSharedMemory;
}

template <class Record>
void readCopy(const Record& record, CudaActivity& into) {
    into.kind = CudaActivityKind::Memcpy;
    readDeviceWork(record, into);
    into.bytes = static_cast<std::int64_t>(record.bytes);
    into.copyKind = record.copyKind;
    into.from = record.srcKind;
    into.to = record.dstKind;
}

void readMemset(const CUpti_ActivityMemset4& record, CudaActivity& into) {
    into.kind = CudaActivityKind::Memset;
    readDeviceWork(record, into);
    into.bytes = static_cast<std::int64_t>(record.bytes);
    into.to = record.memoryKind;
}

void readCall(const Library& library, const CUpti_ActivityAPI& record, bool runtime, CudaActivity& into) {
    into.kind = runtime ? CudaActivityKind::Runtime : CudaActivityKind::Driver;
    into.start = record.start;
    into.end = record.end;
    into.correlation = record.correlationId;
    into.process = record.processId;
    into.thread = record.threadId;
    into.what = static_cast<std::int32_t>(record.cbid);
    if (library.callbackName(runtime ? CUPTI_CB_DOMAIN_RUNTIME_API : CUPTI_CB_DOMAIN_DRIVER_API, record.cbid, &into.name) != CUPTI_SUCCESS)
        into.name = nullptr;
}

void readSynchronisation(const CUpti_ActivitySynchronization2& record, CudaActivity& into) {
    into.kind = CudaActivityKind::Synchronisation;
    into.what = record.type;
    into.context = record.contextId;
    into.stream = numberOf(record.streamId);
    into.start = record.start;
    into.end = record.end;
    into.correlation = record.correlationId;
    // Of a wait for a stream or a context the two say nothing.
    if (record.type != CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE && record.type != CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT)
        return;
    into.event = numberOf(record.cudaEventId);
    into.eventRecord = recordOf(record.cudaEventSyncId);
}

void readEventRecord(const CUpti_ActivityCudaEvent2& record, CudaActivity& into) {
    into.kind = CudaActivityKind::EventRecord;
    into.device = numberOf(record.deviceId);
    into.context = record.contextId;
    into.stream = numberOf(record.streamId);
    into.correlation = record.correlationId;
    into.event = record.eventId;
    into.eventRecord = recordOf(record.cudaEventSyncId);
}

void readOverhead(const CUpti_ActivityOverhead3& record, CudaActivity& into) {
    into.kind = CudaActivityKind::Overhead;
    into.what = record.overheadKind;
    into.start = record.start;
    into.end = record.end;
    into.correlation = record.correlationId;
    if (record.objectKind == CUPTI_ACTIVITY_OBJECT_PROCESS || record.objectKind == CUPTI_ACTIVITY_OBJECT_THREAD) {
        into.process = record.objectId.pt.processId;
        into.thread = record.objectKind == CUPTI_ACTIVITY_OBJECT_THREAD ? record.objectId.pt.threadId : 0;
    } else if (record.objectKind != CUPTI_ACTIVITY_OBJECT_UNKNOWN) {
        into.device = record.objectId.dcs.deviceId;
        into.context = record.objectId.dcs.contextId;
    }
}

void readExternal(const CUpti_ActivityExternalCorrelation& record, CudaActivity& into) {
    into.kind = CudaActivityKind::External;
    into.correlation = record.correlationId;
    into.external = static_cast<std::int64_t>(record.externalId);
}

}  // namespace

bool onlyAsks(const CudaActivity& call) {
    if ((call.kind != CudaActivityKind::Runtime && call.kind != CudaActivityKind::Driver) || call.name == nullptr) return false;
    const std::string_view all = call.name, name = all.substr(0, all.find("_v"));  // "cudaGetDevice_v3020"
    for (const std::string_view one :
         {"cudaGetDevice", "cudaGetLastError", "cudaPeekAtLastError", "cudaGetErrorString", "cudaGetErrorName", "cudaStreamIsCapturing",
          "cuCtxGetCurrent", "cuCtxGetDevice", "cuDevicePrimaryCtxGetState", "cuGetErrorString"})
        if (name == one) return true;
    return false;
}

bool read(const Library& library, const CUpti_Activity& record, CudaActivity& into) {
    into = {};
    switch (static_cast<int>(record.kind)) {
        case CUPTI_ACTIVITY_KIND_KERNEL:
        case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
            readKernel(as<CUpti_ActivityKernel10>(record), into);
            return true;
        case CUPTI_ACTIVITY_KIND_MEMCPY:
            readCopy(as<CUpti_ActivityMemcpy6>(record), into);
            return true;
        case CUPTI_ACTIVITY_KIND_MEMCPY2:
            readCopy(as<CUpti_ActivityMemcpyPtoP4>(record), into);
            return true;
        case CUPTI_ACTIVITY_KIND_MEMSET:
            readMemset(as<CUpti_ActivityMemset4>(record), into);
            return true;
        case CUPTI_ACTIVITY_KIND_RUNTIME:
            readCall(library, as<CUpti_ActivityAPI>(record), true, into);
            return true;
        case CUPTI_ACTIVITY_KIND_DRIVER:
            readCall(library, as<CUpti_ActivityAPI>(record), false, into);
            return true;
        case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
            readSynchronisation(as<CUpti_ActivitySynchronization2>(record), into);
            return true;
        case CUPTI_ACTIVITY_KIND_CUDA_EVENT:
            readEventRecord(as<CUpti_ActivityCudaEvent2>(record), into);
            return true;
        case CUPTI_ACTIVITY_KIND_OVERHEAD:
            readOverhead(as<CUpti_ActivityOverhead3>(record), into);
            return true;
        case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION:
            readExternal(as<CUpti_ActivityExternalCorrelation>(record), into);
            return true;
        default:
            return false;
    }
}

}  // namespace stepscope::cupti
