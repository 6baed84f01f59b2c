// From one fibre's stack to another's, for Emulation.cpp. On x86-64 without a system call: swapcontext asks the kernel for the signal mask at each
// switch, and a block of 256 threads with ten barriers switches five thousand times. Elsewhere, and under the thread sanitizer, which knows
// swapcontext: that. The address sanitizer knows it too, but forgets the whole stack at each switch; here it is told where a switch leads.
#pragma once

#include <cstddef>

#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__) && !defined(__SHSTK__)
#define STEPSCOPE_SWITCH_BY_HAND 1
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#else
#include <ucontext.h>
#endif

namespace stepscope::emulation {

#ifdef STEPSCOPE_SWITCH_BY_HAND
// Where a stack was left: its pointer, on which lie the registers that a function must keep (System V ABI, AMD64, 3.2.1) and the address to return
// to.
struct Context {
    void* top = nullptr;
#ifdef __SANITIZE_ADDRESS__
    const void* stack = nullptr;
    std::size_t size = 0;
#endif
};

extern "C" void stepscopeEmulationSwitch(void** left, void* entered);

inline void switchTo(Context& left, const Context& entered) {
#ifdef __SANITIZE_ADDRESS__
    void* frames = nullptr;
    __sanitizer_start_switch_fiber(&frames, entered.stack, entered.size);
    stepscopeEmulationSwitch(&left.top, entered.top);
    __sanitizer_finish_switch_fiber(frames, nullptr, nullptr);
#else
    stepscopeEmulationSwitch(&left.top, entered.top);
#endif
}

// What `entry` does first: `from` is who switched to it.
inline void entered([[maybe_unused]] Context& from) {
#ifdef __SANITIZE_ADDRESS__
    __sanitizer_finish_switch_fiber(nullptr, &from.stack, &from.size);
#endif
}

// `context` begins with `entry`, which never returns, when it is first switched to.
inline void begin(Context& context, char* stack, std::size_t size, void (*entry)()) {
    constexpr std::size_t kRegisters = 6;
    const auto end = reinterpret_cast<std::size_t>(stack + size) & ~std::size_t{15};
    auto* const slots = reinterpret_cast<void**>(end) - 2;  // the entry finds the stack as after a call: 8 bytes past a multiple of 16
    slots[0] = reinterpret_cast<void*>(entry);
    slots[1] = nullptr;
    for (std::size_t i = 1; i <= kRegisters; ++i) slots[-static_cast<std::ptrdiff_t>(i)] = nullptr;
#ifdef __SANITIZE_ADDRESS__
    if (context.top != nullptr)  // the frames above where it was left for the last time never returned
        __asan_unpoison_memory_region(context.top, static_cast<std::size_t>(stack + size - static_cast<char*>(context.top)));
    context.stack = stack;
    context.size = size;
#endif
    context.top = slots - kRegisters;
}
#else
struct Context {
    ucontext_t state{};
};

inline void switchTo(Context& left, const Context& entered) {
    swapcontext(&left.state, &entered.state);
}

inline void entered(Context&) {}

inline void begin(Context& context, char* stack, std::size_t size, void (*entry)()) {
    getcontext(&context.state);
    context.state.uc_stack.ss_sp = stack;
    context.state.uc_stack.ss_size = size;
    context.state.uc_link = nullptr;
    makecontext(&context.state, entry, 0);
}
#endif

}  // namespace stepscope::emulation
