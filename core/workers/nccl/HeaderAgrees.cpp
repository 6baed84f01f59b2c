// Compiled where NCCL's header is, of a version that has all of it (packaging/cmake/NcclHeader.cmake): what NcclLibrary.h declares is what stands
// there.
#include <nccl.h>

#include <cstddef>
#include <type_traits>

#include "core/workers/nccl/NcclLibrary.h"

namespace stepscope {
namespace {

static_assert(NCCL_MAJOR == 2, "core/workers/nccl was written for NCCL 2: read its header again");

static_assert(sizeof(ncclResult_t) == sizeof(NcclResult) && sizeof(ncclDataType_t) == sizeof(NcclType) &&
              sizeof(ncclRedOp_t) == sizeof(NcclReduction));
static_assert(ncclSuccess == static_cast<int>(NcclResult::Success) && ncclUnhandledCudaError == static_cast<int>(NcclResult::UnhandledCudaError) &&
              ncclSystemError == static_cast<int>(NcclResult::SystemError) && ncclInternalError == static_cast<int>(NcclResult::InternalError) &&
              ncclInvalidArgument == static_cast<int>(NcclResult::InvalidArgument) &&
              ncclInvalidUsage == static_cast<int>(NcclResult::InvalidUsage) && ncclRemoteError == static_cast<int>(NcclResult::RemoteError) &&
              ncclInProgress == static_cast<int>(NcclResult::InProgress));
static_assert(ncclFloat32 == static_cast<int>(NcclType::Float32) && ncclBfloat16 == static_cast<int>(NcclType::BFloat16));
static_assert(ncclSum == static_cast<int>(NcclReduction::Sum));
static_assert(sizeof(ncclUniqueId) == sizeof(NcclKey));
static_assert(offsetof(ncclConfig_t, size) == offsetof(NcclConfig, size) && offsetof(ncclConfig_t, magic) == offsetof(NcclConfig, magic) &&
              offsetof(ncclConfig_t, version) == offsetof(NcclConfig, version) &&
              offsetof(ncclConfig_t, blocking) == offsetof(NcclConfig, blocking) &&
              offsetof(ncclConfig_t, cgaClusterSize) == offsetof(NcclConfig, cgaClusterSize) && NCCL_CONFIG_UNDEF_INT == INT_MIN);

template <class Declared>
constexpr bool is(Declared) {
    return true;
}
// A pointer to each is what its type here says.
static_assert(is<ncclResult_t (*)(int*)>(ncclGetVersion));
static_assert(is<ncclResult_t (*)(ncclUniqueId*)>(ncclGetUniqueId));
static_assert(is<ncclResult_t (*)(ncclComm_t*, int, ncclUniqueId, int, ncclConfig_t*)>(ncclCommInitRankConfig));
static_assert(is<ncclResult_t (*)(ncclComm_t)>(ncclCommAbort));
static_assert(is<ncclResult_t (*)(ncclComm_t, ncclResult_t*)>(ncclCommGetAsyncError));
static_assert(is<const char* (*)(ncclResult_t)>(ncclGetErrorString));
static_assert(is<const char* (*)(ncclComm_t)>(ncclGetLastError));
static_assert(is<ncclResult_t (*)(const void*, void*, std::size_t, ncclDataType_t, ncclRedOp_t, ncclComm_t, cudaStream_t)>(ncclAllReduce));
static_assert(is<ncclResult_t (*)(const void*, void*, std::size_t, ncclDataType_t, int, ncclComm_t, cudaStream_t)>(ncclBroadcast));
static_assert(is<ncclResult_t (*)()>(ncclGroupStart) && is<ncclResult_t (*)()>(ncclGroupEnd));

}  // namespace
}  // namespace stepscope
