// NVIDIA's NCCL, opened at run time: it adds up what lies on several GPUs. The few functions that are used are declared here by its documented C
// interface, so that the program is built where NCCL is not; where its header is, HeaderAgrees.cpp holds the two against each other. LibTorch's CUDA
// half has loaded it already, and that very copy answers. Torch-free and CUDA-free; any thread.
#pragma once
#include <array>
#include <climits>
#include <cstddef>
#include <string>

namespace stepscope {

// ncclResult_t.
enum class NcclResult : int {
    Success = 0,
    UnhandledCudaError = 1,
    SystemError = 2,
    InternalError = 3,
    InvalidArgument = 4,
    InvalidUsage = 5,
    RemoteError = 6,
    InProgress = 7
};
// ncclDataType_t, as far as it is used.
enum class NcclType : int { Float32 = 7, BFloat16 = 9 };
// ncclRedOp_t, as far as it is used.
enum class NcclReduction : int { Sum = 0 };

// ncclUniqueId: made by one worker, the same with all of a group.
struct NcclKey {
    std::array<char, 128> bytes{};
};

// The beginning of ncclConfig_t, as versions from 2.14 on have it: whoever reads it takes what stands behind its size as not said.
struct NcclConfig {
    std::size_t size = sizeof(NcclConfig);
    unsigned magic = 0xcafebeef;
    unsigned version = 21400;
    int blocking = 0;              // a call returns at once, and is asked about: so there are time limits
    int cgaClusterSize = INT_MIN;  // not said
};

struct NcclComm;  // opaque

struct NcclLibrary {
    NcclResult (*getVersion)(int* version) = nullptr;
    NcclResult (*getUniqueId)(NcclKey* key) = nullptr;
    NcclResult (*commInitRankConfig)(NcclComm** comm, int size, NcclKey key, int rank, NcclConfig* config) = nullptr;
    NcclResult (*commAbort)(NcclComm* comm) = nullptr;
    NcclResult (*commGetAsyncError)(NcclComm* comm, NcclResult* error) = nullptr;
    const char* (*getErrorString)(NcclResult result) = nullptr;
    const char* (*getLastError)(NcclComm* comm) = nullptr;
    NcclResult (*allReduce)(const void* from, void* into, std::size_t count, NcclType type, NcclReduction reduction, NcclComm* comm,
                            void* stream) = nullptr;
    NcclResult (*broadcast)(const void* from, void* into, std::size_t count, NcclType type, int root, NcclComm* comm, void* stream) = nullptr;
    NcclResult (*groupStart)() = nullptr;
    NcclResult (*groupEnd)() = nullptr;

    int version = 0;     // 22809 for 2.28.9
    std::string whyNot;  // a sentence when it cannot be used, else empty
};

// path: a stand-in, opened by its file; null: libnccl.so.2. Opened once for each; lives as long as the process.
const NcclLibrary& ncclLibrary(const char* path = nullptr);

// "2.28.9".
std::string ncclVersionWords(int version);

}  // namespace stepscope
