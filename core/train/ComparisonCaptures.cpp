// The captured windows of a comparison: which tell why one arm is faster, and what memory each holds.
#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <optional>
#include <vector>

#include "core/analysis/JudgedSentence.h"
#include "core/analysis/Statistics.h"
#include "core/base/CounterRandom.h"
#include "core/base/OperationSpan.h"
#include "core/cuda/loader/CudaPlugin.h"
#include "core/events/Event.h"
#include "core/memory/DeviceMemory.h"
#include "core/memory/HostAllocator.h"
#include "core/profile/KernelSource.h"
#include "core/profile/MemorySource.h"
#include "core/profile/OperationSource.h"
#include "core/profile/OperationTable.h"
#include "core/train/CaptureWindow.h"
#include "core/train/Comparison.h"

namespace stepscope {
namespace {

constexpr double kCaptured = 0.3;  // seconds of steps in a captured window, of at least
constexpr std::int64_t kLeastCaptured = 2, kMostCaptured = 20;
constexpr double kWellEnough = 0.1;
constexpr std::int64_t kMostWindows = 40;  // of each arm, however long the budget: they are stored, step by step

constexpr std::array kBothArms{Arm::A, Arm::B};

// Whether captured windows tell the difference that the pairs found to a tenth of it: half of Student's 95 % interval of theirs, logarithms as the
// pairs' are. What a record costs moves all of them alike. Of what the pairs did not decide, nothing more is asked.
bool toldWellEnough(const std::vector<double>& differences, const PairedVerdict& verdict) {
    if (verdict.outcome != PairedOutcome::Faster && verdict.outcome != PairedOutcome::Slower) return true;
    if (differences.size() < 2 || !(verdict.ratio > 0)) return false;
    const auto count = static_cast<double>(differences.size());
    const double centre = mean(differences);
    double squares = 0;
    for (const double one : differences) squares += (one - centre) * (one - centre);
    const boost::math::students_t t(count - 1);
    const double half = boost::math::quantile(boost::math::complement(t, 0.025)) * std::sqrt(squares / (count - 1) / count);
    return half <= kWellEnough * std::abs(std::log(verdict.ratio));
}

}  // namespace

// Windows rather than one long capture: whatever this machine does meanwhile meets both. Both arms are made anew between them, as between pairs: the
// luck of one instance with memory is as large as a small difference.
Status Comparison::captureBoth() {
    const TimeNs began = m_setup.clock->now();
    const auto passed = [&](TimeNs since) { return (m_setup.clock->now() - since).seconds(); };
    const auto first = [&](std::int64_t window, std::uint64_t stream) {
        return counterRandomBelow(m_setup.rules.seed, stream, static_cast<std::uint64_t>(window), 2) == 1 ? Arm::B : Arm::A;
    };
    m_setup.sink->publish(Preparing{began, kLookingWhy, kUnknown});
    double building = 0;
    const auto buildAnew = [&](Arm builtFirst) {
        const TimeNs begin = m_setup.clock->now();
        Status built = build(builtFirst);
        building = passed(begin);
        return built;
    };
    if (auto built = buildAnew(Arm::A); !built) return built;
    for (const Arm arm : kBothArms)
        if (auto captured = captureMemory(arm); !captured) return captured;
    std::vector<double> differences;
    TimeNs ofInstance = m_setup.clock->now();
    double longest = 0;  // seconds of a window of both
    for (std::int64_t window = 0; !stopAsked(); ++window) {
        const bool enough = toldWellEnough(differences, m_course.verdict()) || passed(began) > m_setup.whySeconds || window >= kMostWindows;
        if (window >= m_setup.whyWindows && enough) break;
        // One says more than none, however slow steps are; the others keep to the time that was given to all of it.
        if (window > 0 && passed(m_begin) + longest > m_setup.rules.budgetSeconds + m_setup.whySeconds) break;
        const TimeNs windowBegan = m_setup.clock->now();
        if (passed(ofInstance) * m_setup.rules.rebuildShare > building) {
            if (auto built = buildAnew(first(window, 0x6275696c)); !built) return built;
            m_capturedBefore = m_capturedUntil;
            ofInstance = m_setup.clock->now();
        }
        const Arm begins = first(window, 0x77687963);
        std::array<double, 2> seconds{};
        for (const Arm arm : {begins, begins == Arm::A ? Arm::B : Arm::A}) {
            const auto captured = captureWindow(arm);
            if (!captured) return captured.error();
            seconds[armPlace(arm)] = *captured;
        }
        differences.push_back(std::log(seconds[0] / seconds[1]));
        longest = std::max(longest, passed(windowBegan));
    }
    return {};
}

Result<double> Comparison::captureWindow(Arm arm) {
    turnTo(arm);
    StepResult result;
    const std::int64_t warmUp = std::max<std::int64_t>(1, m_course.plan() ? m_course.plan()->warmUp[armPlace(arm)] : 1);
    TimeNs begin;
    for (std::int64_t i = 0; i < warmUp && !stopAsked(); ++i) {
        begin = m_setup.clock->now();
        if (auto stepped = step(arm, result); !stepped) return stepped.error();
    }
    device_memory::synchronise(deviceOf(arm));
    const double seconds = std::max(1e-6, (m_setup.clock->now() - begin).seconds());
    return captureSteps(arm, std::clamp<std::int64_t>(static_cast<std::int64_t>(kCaptured / seconds), kLeastCaptured, kMostCaptured));
}

CaptureOutlet Comparison::outletOf(Arm arm) {
    return {.sink = m_setup.sink,
            .clock = m_setup.clock,
            .rank = arm == Arm::A ? 0 : 1,
            .process = toString(arm),
            .gpu = deviceOf(arm).is_cuda() || cudaPlugin().onHost,
            .lasting = [this, arm] { return lastingMemory(stateOf(arm)); }};
}

void Comparison::tellLost(const std::string& lost) {
    if (lost.empty() || !m_lost.insert(lost).second) return;  // the same of every window is said once
    m_setup.sink->publish(LogLine{m_setup.clock->now(), m_newestStep, LogLevel::Warning, lost});
}

// Who takes memory in two steps, apart from the windows whose times count: each block that is taken costs its step some time.
Status Comparison::captureMemory(Arm arm) {
    constexpr int kSteps = 2;
    if (m_setup.sink == nullptr || !host_memory::installed()) return {};
    turnTo(arm);
    StepResult result;
    if (auto stepped = step(arm, result); !stepped) return stepped;
    MemorySource source(outletOf(arm));
    for (int i = 0; i < kSteps && !stopAsked(); ++i) {
        {
            const StepRange range({.kind = RangeFacts::Kind::Step, .step = stateOf(arm).updates + 1});
            if (auto stepped = step(arm, result); !stepped) return stepped;
            device_memory::synchronise(deviceOf(arm));
        }
        source.stepDone();
    }
    CaptureDone unused;
    tellLost(source.finish(unused));
    return {};
}

Result<double> Comparison::captureSteps(Arm arm, std::int64_t steps) {
    const CudaPlugin& plugin = cudaPlugin();
    const CaptureOutlet outlet = outletOf(arm);
    StepResult result;
    {
        // The first step that is observed meets names and shapes for the first time.
        const OperationTable unkept;
        if (auto stepped = step(arm, result); !stepped) return stepped.error();
    }
    double seconds = 0;
    std::int64_t tokens = 0;
    OperationSource source(outlet);
    std::optional<KernelSource> kernels;  // what a GPU did is told beside what the thread did
    if (outlet.gpu && outlet.sink != nullptr && plugin.interface != nullptr) kernels.emplace(outlet, plugin);
    for (std::int64_t i = 0; i < steps && !stopAsked(); ++i) {
        const std::int64_t number = m_capturedBefore + stateOf(arm).updates + 1;
        m_capturedUntil = std::max(m_capturedUntil, number);
        const TimeNs begin = m_setup.clock->now();
        {
            const StepRange range({.kind = RangeFacts::Kind::Step, .step = number});
            if (auto stepped = step(arm, result); !stepped) return stepped.error();
            device_memory::synchronise(deviceOf(arm));
        }
        seconds += (m_setup.clock->now() - begin).seconds();
        tokens += result.tokens;
        source.stepDone();
    }
    CaptureDone unused;
    tellLost(source.finish(unused));
    if (kernels) tellLost(kernels->finish(unused));
    return seconds / static_cast<double>(std::max<std::int64_t>(1, tokens));
}

}  // namespace stepscope
