// host-memory: how LibTorch gets CPU memory. Acts inside the allocator that main installed (core/memory/HostAllocator).
#include "core/optimizations/registry/Switch.h"

namespace stepscope {

Switch hostMemory() {
    return {.id = "host-memory",
            .title = "Host memory",
            .group = SwitchGroup::Memory,
            .why =
                "\"system\" takes every large buffer from the C library, which gives it back to the system each step, so that its pages are faulted "
                "in anew. "
                "\"caching\" keeps freed buffers on huge pages and hands them out again.",
            .cost = "Memory that a step freed stays with the program until the run ends.",
            .reported = "no figure is known",
            .values = Choices{{"system", "caching"}},
            .byDefault = "caching",
            .resolve = [](PlanDraft& draft,
                          const Value& value) { draft.plan.hostMemory = word(value) == "caching" ? HostMemory::Caching : HostMemory::System; },
            .racing = {.promise = 50}};
}

}  // namespace stepscope
