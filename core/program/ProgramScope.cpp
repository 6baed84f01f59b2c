#include "core/program/ProgramScope.h"

#include <ATen/Parallel.h>
#include <ATen/autocast_mode.h>

namespace stepscope {
namespace {

const char* wordOf(at::Float32MatmulPrecision precision) {
    switch (precision) {
        case at::Float32MatmulPrecision::HIGHEST:
            return "highest";
        case at::Float32MatmulPrecision::HIGH:
            return "high";
        case at::Float32MatmulPrecision::MEDIUM:
            return "medium";
    }
    return "highest";
}

ScopeSettings current() {
    auto& context = at::globalContext();
    ScopeSettings now;
    now.matmulPrecision = context.float32MatmulPrecision();
    now.sdpa = {context.userEnabledMathSDP(), context.userEnabledFlashSDP(), context.userEnabledMemEfficientSDP(), context.userEnabledCuDNNSDP()};
    now.cudnnBenchmark = context.benchmarkCuDNN();
    now.threads = at::get_num_threads();
    now.hostMemory = host_memory::mode();
    return now;
}

void apply(const ScopeSettings& settings) {
    auto& context = at::globalContext();
    // One family of float32-precision setters only: the other one refuses to be mixed with it.
    if (context.float32MatmulPrecision() != settings.matmulPrecision) context.setFloat32MatmulPrecision(wordOf(settings.matmulPrecision));
    context.setSDPUseMath(settings.sdpa.math);
    context.setSDPUseFlash(settings.sdpa.flash);
    context.setSDPUseMemEfficient(settings.sdpa.efficient);
    context.setSDPUseCuDNN(settings.sdpa.cudnn);
    context.setBenchmarkCuDNN(settings.cudnnBenchmark);
    if (settings.threads > 0 && at::get_num_threads() != settings.threads) at::set_num_threads(settings.threads);
    if (host_memory::mode() != settings.hostMemory) host_memory::setMode(settings.hostMemory);
}

}  // namespace

ProgramScope::ProgramScope(const ScopeSettings& settings) : m_former(current()) {
    apply(settings);
}
ProgramScope::~ProgramScope() {
    apply(m_former);
}

AutocastScope::AutocastScope(at::DeviceType device, std::optional<at::ScalarType> dtype)
    : m_device(device), m_wasEnabled(at::autocast::is_autocast_enabled(device)), m_formerDtype(at::autocast::get_autocast_dtype(device)) {
    at::autocast::increment_nesting();
    if (dtype) at::autocast::set_autocast_dtype(device, *dtype);
    at::autocast::set_autocast_enabled(device, dtype.has_value());
}

AutocastScope::~AutocastScope() {
    at::autocast::set_autocast_enabled(m_device, m_wasEnabled);
    at::autocast::set_autocast_dtype(m_device, m_formerDtype);
    if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
}

}  // namespace stepscope
