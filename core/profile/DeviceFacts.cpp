#include "core/profile/DeviceFacts.h"

#include <fmt/format.h>

#include <cstring>

namespace stepscope {

ChunkPtr deviceFacts(const CudaInterface& cuda, std::int64_t device, TimeNs at) {
    CudaGpuDescription gpu{};
    if (cuda.describeGpu == nullptr || cuda.describeGpu(static_cast<std::int32_t>(device), &gpu) != nullptr) return nullptr;
    std::string name;
    for (const char* c = gpu.name; *c != '\0' && c < gpu.name + sizeof gpu.name; ++c)
        if (*c >= 0x20 && *c != '"' && *c != '\\') name += *c;
    const std::string text = fmt::format(
        R"({{"id":{},"name":"{}","totalGlobalMem":{},"computeMajor":{},"computeMinor":{},"maxThreadsPerBlock":{},"maxThreadsPerMultiprocessor":{},)"
        R"("regsPerBlock":{},"warpSize":{},"sharedMemPerBlock":{},"numSms":{},"regsPerMultiprocessor":{},"sharedMemPerBlockOptin":{},)"
        R"("sharedMemPerMultiprocessor":{},"l2Bytes":{},"clockKHz":{},"memoryClockKHz":{},"memoryBusBits":{},"bandwidthBytesPerSecond":{:.0f}}})",
        device, name, gpu.memoryBytes, gpu.computeMajor, gpu.computeMinor, gpu.threadsPerBlock, gpu.threadsPerMultiprocessor, gpu.registersPerBlock,
        gpu.warp, gpu.sharedPerBlockBytes, gpu.multiprocessors, gpu.registersPerMultiprocessor, gpu.sharedPerBlockAtMostBytes,
        gpu.sharedPerMultiprocessorBytes, gpu.l2Bytes, gpu.clockKHz, gpu.memoryClockKHz, gpu.memoryBusBits, gpu.bandwidthBytesPerSecond);
    auto chunk = std::make_shared<Chunk>(Chunk{.kind = kDeviceFacts, .lane = device, .begin = at, .end = at + TimeNs{1}, .count = 1});
    chunk->bytes.resize(text.size());
    std::memcpy(chunk->bytes.data(), text.data(), text.size());
    return chunk;
}

}  // namespace stepscope
