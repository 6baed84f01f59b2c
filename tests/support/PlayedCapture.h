// PlayedCapture: steps captured without a GPU: a graph is played by running its work again, over the memory where its capture made the gradients.
// What a test's graphs have done, and what they are to do, is in Played.
#pragma once
#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <c10/core/GradMode.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "core/cuda/loader/CudaPlugin.h"
#include "core/fused/Optimizer.h"
#include "core/memory/HostAllocator.h"
#include "core/program/GraphProgram.h"

namespace stepscope::testing {

constexpr std::int64_t kPlayedKernels = 10;  // of each graph
constexpr double kPlayedMaxNorm = 0.5;

// What one test's graphs have done, and what they are to do.
struct Played {
    int captures = 0, replays = 0, alive = 0;
    int failsAt = 0;          // the number of the capture that throws, from 1; 0 = none does
    bool capturing = false;   // the work is recorded, so nothing of it may reach the State
    bool replaying = false;   // neither: it is rehearsed
    int rehearsals = 0;       // of updates
    std::int64_t cached = 0;  // the most that lay in the allocator's cache when a capture began
    const CapturedGraph* first = nullptr;
    std::vector<at::Tensor> gradients;  // as the captured update knows them
};

// A real graph's first backward pass writes gradients anew into the memory where its capture made them, and further ones add to that.
class PlayedGraph final : public CapturedGraph {
public:
    PlayedGraph(std::shared_ptr<Played> played, std::function<void()> work, bool isFirst)
        : m_played(std::move(played)), m_work(std::move(work)), m_isFirst(isFirst) {
        ++m_played->alive;
    }
    ~PlayedGraph() override { --m_played->alive; }
    void replay() override {
        ++m_played->replays;
        if (m_isFirst)
            for (auto& gradient : m_played->gradients) gradient.zero_();
        const c10::AutoGradMode asWhenCaptured(true);
        m_played->replaying = true;
        m_work();
        m_played->replaying = false;
    }
    std::int64_t kernels() const override { return kPlayedKernels; }

private:
    std::shared_ptr<Played> m_played;
    std::function<void()> m_work;
    bool m_isFirst;
};

inline void leaveInTheCache() {
    const host_memory::Mode former = host_memory::setMode(host_memory::Mode::Caching);
    at::empty({1 << 20}).reset();
    host_memory::setMode(former);
}

class PlayedCapture final : public StepCapture {
public:
    explicit PlayedCapture(std::shared_ptr<Played> played) : m_played(std::move(played)) {}
    c10::Stream stream(at::Device device) const override { return c10::Stream(c10::Stream::DEFAULT, device); }
    std::unique_ptr<CapturedGraph> capture(at::Device, const CapturedGraph* sharesWith, const std::function<void()>& work) const override {
        m_played->cached = std::max(m_played->cached, host_memory::usage().cached.count);
        m_played->capturing = true;
        work();
        m_played->capturing = false;
        if (++m_played->captures == m_played->failsAt) {
            leaveInTheCache();
            throw std::runtime_error("the device is busy\nand where that was found");
        }
        auto graph = std::make_unique<PlayedGraph>(m_played, work, sharesWith == nullptr);
        if (sharesWith == nullptr)
            m_played->first = graph.get();
        else
            EXPECT_EQ(sharesWith, m_played->first);
        return graph;
    }

private:
    std::shared_ptr<Played> m_played;
};

inline std::vector<at::Tensor> playedGradients(const std::vector<ParameterGroup>& groups) {
    std::vector<at::Tensor> all;
    for (const auto& group : groups) all.insert(all.end(), group.gradients.begin(), group.gradients.end());
    return all;
}

// As float32 holds it, which is how a captured step reads it.
inline double playedNorm(const std::vector<ParameterGroup>& groups) {
    return static_cast<float>(fused::globalNorm(playedGradients(groups)));
}

inline fused::AdamWLists playedLists(const ParameterGroup& group) {
    return {group.parameters, group.gradients, group.firstMoments, group.secondMoments, group.lowWeights};
}

inline void playedUpdate(const AdamWStep& step, ParameterGroup& group) {
    fused::adamW(step, playedLists(group));
}

// What the GPU's kernels do with what lies on the device; they themselves, where this is linked to their form for the host.
inline CapturedOptimizer capturedOnTheCpu(const std::shared_ptr<Played>& played) {
    const auto measure = [played](const std::vector<ParameterGroup>& groups, const at::Tensor& into) {
        const auto gradients = playedGradients(groups);
        if (played->capturing) {
            played->gradients = gradients;
            for (auto& gradient : played->gradients) gradient.fill_(std::nan(""));  // memory that nothing has written yet
            return;
        }
        played->rehearsals += played->replaying ? 0 : 1;
        for (std::size_t i = 0; played->replaying && i < gradients.size(); ++i)
            ASSERT_EQ(gradients[i].data_ptr(), played->gradients.at(i).data_ptr()) << "a graph knows the address";
        if (cudaPlugin().interface)
            fused::globalNormTo(into, gradients);
        else
            into.fill_(playedNorm(groups));
    };
    const auto apply = [played](ParameterGroup& group, const at::Tensor& step, const at::Tensor& norm, double maxNorm) {
        if (played->capturing) return;
        EXPECT_TRUE(played->replaying || std::isnan(norm.item<double>())) << "a rehearsed update must change nothing";
        if (cudaPlugin().interface) return fused::adamWFrom(step, norm, maxNorm, playedLists(group));
        if (!std::isfinite(norm.item<double>())) return;
        AdamWStep numbers = *static_cast<const AdamWStep*>(step.data_ptr());
        numbers.gradientScale = static_cast<float>(std::min(1.0, maxNorm / (norm.item<double>() + 1e-6)));
        playedUpdate(numbers, group);
    };
    return {.norm = measure, .update = apply};
}

// Of a captured step over TinyTraining's data.
inline ProgramParts playedParts(std::int64_t accumulation, bool lowPrecision, const std::shared_ptr<Played>& played) {
    ProgramParts parts;
    if (lowPrecision) parts.autocast = parts.validationAutocast = at::kBFloat16;
    parts.batchSize = 4;
    parts.context = 12;
    parts.accumulation = accumulation;
    parts.maxNorm = kPlayedMaxNorm;
    parts.optimizer = [](ParameterGroup& group, const AdamW& s) { playedUpdate(adamWStep(s, group.decays), group); };
    parts.normForOptimizer = playedNorm;
    parts.optimizerWritesLow = true;
    parts.captured = capturedOnTheCpu(played);
    return parts;
}

}  // namespace stepscope::testing
