// ProgramScope: applies a Program's process-wide and thread-local settings around one call and restores the former ones, so that
// two Programs can be alternated, each under its own. Without it every A/B would compare B with B.
#pragma once
#include <ATen/Context.h>

#include <array>
#include <optional>

#include "core/memory/HostAllocator.h"

namespace stepscope {

struct ScopeSettings {
    at::Float32MatmulPrecision matmulPrecision = at::Float32MatmulPrecision::HIGHEST;
    struct {
        bool math = true, flash = true, efficient = true, cudnn = true;
    } sdpa;
    bool cudnnBenchmark = false;
    int threads = 0;  // that LibTorch shares an operation among, and workers of a planned step's team; 0 = as many as the calling thread has set
    host_memory::Mode hostMemory = host_memory::Mode::System;
};

class ProgramScope {
public:
    explicit ProgramScope(const ScopeSettings& settings);
    ~ProgramScope();
    ProgramScope(const ProgramScope&) = delete;
    ProgramScope& operator=(const ProgramScope&) = delete;

private:
    ScopeSettings m_former;
};

// Autocast is thread-local state of its own; it wraps only the forward pass. dtype empty = off. Weight casts are cached within
// one scope and dropped when it ends.
class AutocastScope {
public:
    AutocastScope(at::DeviceType device, std::optional<at::ScalarType> dtype);
    ~AutocastScope();
    AutocastScope(const AutocastScope&) = delete;
    AutocastScope& operator=(const AutocastScope&) = delete;

private:
    at::DeviceType m_device;
    bool m_wasEnabled = false;
    at::ScalarType m_formerDtype = at::kFloat;
};

}  // namespace stepscope
