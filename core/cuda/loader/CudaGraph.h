// CudaGraph: work of LibTorch's current stream, captured once and replayed as one launch, through libstepscope_cuda_graphs.so. Owned by
// GraphProgram; trainer thread. Torch-free.
#pragma once
#include <functional>
#include <memory>

#include "core/cuda/CudaGraphs.h"

namespace stepscope {

class CudaGraph {
public:
    CudaGraph() = default;  // empty
    // Captures what work() puts onto the current stream; nothing of it runs yet. Throws what work() throws, and std::runtime_error with the
    // reason when the capture fails; LibTorch is then as if it had not been tried. sharesWith: CudaGraphs::begin.
    static CudaGraph capture(int device, const CudaGraph* sharesWith, const std::function<void()>& work);

    void replay() const;
    std::int64_t kernels() const { return m_kernels; }

private:
    std::shared_ptr<void> m_graph;
    std::int64_t m_kernels = 0;
};

}  // namespace stepscope
