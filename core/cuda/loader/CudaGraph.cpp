#include "core/cuda/loader/CudaGraph.h"

#include <stdexcept>

#include "core/base/OperationSpan.h"
#include "core/cuda/loader/CudaPlugin.h"

namespace stepscope {
namespace {

void check(const char* why) {
    if (why != nullptr) throw std::runtime_error(why);
}

const CudaGraphs& graphs() {
    const CudaPlugin& plugin = cudaPlugin();
    if (plugin.graphs == nullptr) throw std::runtime_error(plugin.whyNoGraphs);
    return *plugin.graphs;
}

}  // namespace

CudaGraph CudaGraph::capture(int device, const CudaGraph* sharesWith, const std::function<void()>& work) {
    const CudaGraphs& table = graphs();
    CudaGraph made;
    void* graph = nullptr;
    check(table.begin(device, sharesWith != nullptr ? sharesWith->m_graph.get() : nullptr, &graph));
    made.m_graph = std::shared_ptr<void>(graph, table.destroy);
    work();
    check(table.end(graph, &made.m_kernels));
    return made;
}

void CudaGraph::replay() const {
    const OperationSpan span("CUDA graph");
    check(graphs().replay(m_graph.get()));
}

}  // namespace stepscope
