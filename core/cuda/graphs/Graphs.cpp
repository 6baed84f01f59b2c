// The door of libstepscope_cuda_graphs.so: capture into at::cuda::CUDAGraph. LibTorch's exceptions end here. Called through CudaGraphs by
// core/cuda/loader on the trainer thread.
#include <ATen/core/CachingHostAllocator.h>
#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <cuda_runtime_api.h>

#include <memory>
#include <string>
#include <vector>

#include "core/cuda/CudaGraphs.h"

namespace stepscope {
namespace {

struct Graph {
    at::cuda::CUDAGraph graph{/*keep_graph=*/true};  // kept until its nodes are counted
    c10::DeviceIndex device = 0;
    c10::MempoolId_t pool;
    bool capturing = false;
};

template <class Function>
const char* said(Function function) {
    thread_local std::string sentence;
    try {
        function();
        return nullptr;
    } catch (const std::exception& thrown) {
        sentence = thrown.what();
        return sentence.c_str();
    }
}

std::int64_t kernelsOf(cudaGraph_t graph) {
    std::size_t count = 0;
    C10_CUDA_CHECK(cudaGraphGetNodes(graph, nullptr, &count));
    std::vector<cudaGraphNode_t> nodes(count);
    C10_CUDA_CHECK(cudaGraphGetNodes(graph, nodes.data(), &count));
    std::int64_t kernels = 0;
    for (const cudaGraphNode_t node : nodes) {
        cudaGraphNodeType type{};
        C10_CUDA_CHECK(cudaGraphNodeGetType(node, &type));
        kernels += type == cudaGraphNodeTypeKernel ? 1 : 0;
    }
    return kernels;
}

// A capture that something forbidden has broken ends with an error, after which LibTorch's allocators, the device's and that of pinned memory, still
// believe in it: they would go on asking a graph that is gone whether an allocation is its own. Where a capture did not even begin, one that was not
// told of it must not count a user less: the pool may be that of an earlier graph.
void giveUp(Graph& own) {
    if (said([&] { own.graph.capture_end(); }) == nullptr) return;
    cudaGetLastError();
    const auto leave = [&](auto end, auto release) {
        if (said(end) == nullptr || own.capturing) said(release);
    };
    namespace ofDevice = c10::cuda::CUDACachingAllocator;
    leave([&] { ofDevice::endAllocateToPool(own.device, own.pool); }, [&] { ofDevice::releasePool(own.device, own.pool); });
    const auto ofHost = [] { return at::getHostAllocator(at::kCUDA); };
    leave([&] { ofHost()->end_allocate_to_pool(own.pool); }, [&] { ofHost()->release_pool(own.pool); });
}

const char* begin(std::int32_t device, void* sharesWith, void** made) {
    return said([&] {
        auto graph = std::make_unique<Graph>();
        graph->device = static_cast<c10::DeviceIndex>(device);
        graph->pool = sharesWith != nullptr ? static_cast<Graph*>(sharesWith)->pool : at::cuda::graph_pool_handle();
        try {
            graph->graph.capture_begin(graph->pool, cudaStreamCaptureModeThreadLocal);
        } catch (...) {
            giveUp(*graph);  // it may have failed after the allocators had begun
            throw;
        }
        graph->capturing = true;
        *made = graph.release();
    });
}

const char* end(void* handle, std::int64_t* kernels) {
    auto& own = *static_cast<Graph*>(handle);
    return said([&] {
        own.graph.capture_end();
        own.capturing = false;
        *kernels = kernelsOf(own.graph.raw_cuda_graph());
        own.graph.instantiate();
    });
}

const char* replay(void* handle) {
    return said([&] { static_cast<Graph*>(handle)->graph.replay(); });
}

void destroy(void* handle) {
    const std::unique_ptr<Graph> own(static_cast<Graph*>(handle));
    if (own->capturing) giveUp(*own);
}

constexpr CudaGraphs kGraphs = {.version = kCudaGraphsVersion, .begin = begin, .end = end, .replay = replay, .destroy = destroy};

}  // namespace
}  // namespace stepscope

extern "C" __attribute__((visibility("default"))) const stepscope::CudaGraphs* stepscope_cuda_graphs(int version) {
    return version == stepscope::kCudaGraphsVersion ? &stepscope::kGraphs : nullptr;
}
