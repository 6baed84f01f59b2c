// KernelSource: what a capture's steps put onto GPUs, as chunks of slices: kernels, copies, the calls that launched them and what was waited for,
// each with the operation that had it launched. CUPTI records it (core/cuda/cupti), a thread of this source's own fetches it every 200 ms and decodes
// it (activity/ActivityDecoder). GraphListening: what a CUDA graph's kernels belong to, remembered while the graph is captured.
#pragma once
#include <chrono>
#include <memory>
#include <string>

#include "core/cuda/loader/CudaPlugin.h"
#include "core/profile/CaptureSource.h"
#include "core/profile/OperationStream.h"

namespace stepscope {

class KernelSource final : public CaptureSource {
public:
    // How long CUPTI is left alone while a capture goes on: what runs is seen soon, and its buffers do not fill up.
    static constexpr std::chrono::milliseconds kFetch{200};
    // patience: how long CUPTI may take to hand its last records over before the capture goes on without them. Made and finished on the thread that
    // runs the steps; plugin and what the outlet names outlive it.
    KernelSource(const CaptureOutlet& outlet, const CudaPlugin& plugin, std::chrono::milliseconds patience = std::chrono::seconds(20));
    ~KernelSource() override;
    std::string finish(CaptureDone& into) override;

private:
    class Recording;
    std::chrono::milliseconds m_patience;
    std::string m_whyNot;  // a sentence where it could not begin
    std::shared_ptr<Recording> m_recording;
    std::unique_ptr<OperationListening> m_listening;
};

// Around the capture of a CUDA graph; on the thread that captures. Where CUPTI cannot be had it does nothing: who captures steps is told why.
class GraphListening {
public:
    explicit GraphListening(const CudaPlugin& plugin);
    ~GraphListening();
    GraphListening(const GraphListening&) = delete;
    GraphListening& operator=(const GraphListening&) = delete;

private:
    const CudaInterface* m_interface = nullptr;
    std::unique_ptr<OperationListening> m_listening;
};

}  // namespace stepscope
