// NVIDIA's CUPTI, opened at run time: a machine without it trains all the same. Which file it is, which functions are used of it, and what a person
// is told when it refuses. Inside the plug-in only; any thread.
#pragma once
#include <cuda.h>
#include <cupti.h>

#include <string>

namespace stepscope::cupti {

struct Library {
    decltype(&cuptiGetVersion) getVersion = nullptr;
    decltype(&cuptiGetResultString) getResultString = nullptr;
    decltype(&cuptiSubscribe) subscribe = nullptr;
    decltype(&cuptiUnsubscribe) unsubscribe = nullptr;
    decltype(&cuptiEnableCallback) enableCallback = nullptr;
    decltype(&cuptiActivityRegisterCallbacks) registerCallbacks = nullptr;
    decltype(&cuptiActivityEnable) enable = nullptr;
    decltype(&cuptiActivityDisable) disable = nullptr;
    decltype(&cuptiActivityFlushAll) flushAll = nullptr;
    decltype(&cuptiActivityGetNextRecord) nextRecord = nullptr;
    decltype(&cuptiActivityGetNumDroppedRecords) droppedRecords = nullptr;
    decltype(&cuptiActivityPushExternalCorrelationId) pushExternal = nullptr;
    decltype(&cuptiActivityPopExternalCorrelationId) popExternal = nullptr;
    decltype(&cuptiGetTimestamp) timestamp = nullptr;
    decltype(&cuptiGetCallbackName) callbackName = nullptr;
    decltype(&cuptiGetGraphNodeId) graphNodeId = nullptr;
    decltype(&cuptiSetThreadIdType) threadIdType = nullptr;

    std::string whyNot;  // a sentence when it cannot be used, else empty
};

// path: a stand-in, opened by its file; null: the copy that LibTorch has loaded, the one beside the CUDA runtime (as the PyPI wheels lie), that of
// CUDA_HOME, that of /usr/local/cuda. Opened once for each; lives as long as the process.
const Library& library(const char* path);

// What a person is told of `result`, which CUPTI gave when it was asked to `asked` ("record kernels"): what it is and what to do. Lives as long as
// the process.
const char* sentence(const Library& library, CUptiResult result, const char* asked);

}  // namespace stepscope::cupti
