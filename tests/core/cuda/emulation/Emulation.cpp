// A thread of a block is a fibre, but only as long as it waits: a fibre runs one thread after the other to its end, and only when
// one stops at a barrier another fibre goes on with the next, so that kernels without barriers switch nothing.
#include "Emulation.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <numeric>
#include <random>
#include <vector>

#include "Switch.h"

#undef threadIdx
#undef blockIdx
#undef blockDim
#undef gridDim

#ifdef STEPSCOPE_SWITCH_BY_HAND
asm(R"(
    .text
    .globl stepscopeEmulationSwitch
    .hidden stepscopeEmulationSwitch
    .type stepscopeEmulationSwitch, @function
stepscopeEmulationSwitch:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
    .size stepscopeEmulationSwitch, .-stepscopeEmulationSwitch
)");
#endif

namespace stepscope::emulation {
namespace {

constexpr std::size_t kStack = 256 * 1024;
constexpr unsigned kWarp = 32;

[[noreturn]] void fail(const char* what, const Place& at) {
    std::fprintf(stderr, "CUDA emulation: block (%u, %u), thread (%u, %u): %s\n", at.block.x, at.block.y, at.thread.x, at.thread.y, what);
    std::abort();
}

struct Fibre {
    Context context;
    std::unique_ptr<char[]> stack{new char[kStack]};
    unsigned thread = 0;  // the one it runs
};

enum class Thread : char { NotStarted, Running, AtBlock, AtWarp, Done };

class Device;
Device& theDevice();

class Device {
public:
    void run(dim3 grid, dim3 block, const std::function<void()>& kernel) {
        const std::lock_guard lock(m_launches);
        m_kernel = &kernel;
        m_place.blocks = grid;
        m_place.threads = block;
        m_count = block.x * block.y * block.z;
        const unsigned blocks = grid.x * grid.y * grid.z;
        if (m_count == 0 || m_count > 1024 || blocks == 0 || grid.y > 65535 || grid.z > 65535)
            fail("a grid or a block of this size cannot be launched", m_place);
        orderOf(m_blockOrder, blocks);
        orderOf(m_threadOrder, m_count);
        for (const unsigned b : m_blockOrder) {
            m_place.block = {b % grid.x, b / grid.x % grid.y, b / grid.x / grid.y};
            runBlock();
        }
        ++m_launch;
    }

    const Place& place() const { return m_place; }

    void waitForBlock() { waitAs(Thread::AtBlock); }

    float shuffleXor(unsigned mask, float value, int distance) {
        const unsigned thread = m_current->thread, partner = thread ^ static_cast<unsigned>(distance);
        if (mask != 0xffffffffu || m_count % kWarp != 0) fail("a shuffle is not of a whole warp", m_place);
        // Two sets: a thread can be one shuffle ahead of its warp, never two.
        const unsigned set = m_shuffles[thread]++ % 2;
        m_values[set][thread] = value;
        waitAs(Thread::AtWarp);
        return m_values[set][partner];
    }

    // A fibre: threads to their end, one after the other, until none is left.
    void work() {
        entered(m_scheduler);
        Fibre* const self = m_current;
        while (m_next < m_count) {
            const unsigned thread = m_threadOrder[m_next++];
            self->thread = thread;
            m_fibreOf[thread] = self;
            m_state[thread] = Thread::Running;
            enter(thread);
            (*m_kernel)();
            m_state[thread] = Thread::Done;
            ++m_done;
        }
    }

    // The end of a fibre: nobody comes back to it before it begins anew.
    void leave() { switchTo(m_current->context, m_scheduler); }

private:
    // Rising, falling, then at random: by the number of the launch, so that the same launch made twice is made in two orders.
    void orderOf(std::vector<unsigned>& order, unsigned count) const {
        order.resize(count);
        std::iota(order.begin(), order.end(), 0u);
        if (m_launch % 3 == 1)
            std::reverse(order.begin(), order.end());
        else if (m_launch % 3 == 2)
            std::shuffle(order.begin(), order.end(), std::mt19937(m_launch));
    }

    void runBlock() {
        m_state.assign(m_count, Thread::NotStarted);
        m_shuffles.assign(m_count, 0);
        for (auto& set : m_values) set.resize(m_count);
        m_fibreOf.assign(m_count, nullptr);
        m_next = m_done = 0;
        m_free.clear();
        for (const auto& fibre : m_fibres) m_free.push_back(fibre.get());
        while (m_done < m_count) {
            while (m_next < m_count) resume(freshFibre());
            if (m_done < m_count) releaseSome();
        }
    }

    // Lets go whoever waits for something that all others have reached.
    void releaseSome() {
        bool any = false;
        for (unsigned first = 0; first < m_count; first += kWarp) {
            const auto begin = m_state.begin() + first, end = begin + std::min(kWarp, m_count - first);
            if (!std::all_of(begin, end, [](Thread t) { return t == Thread::AtWarp; })) continue;
            std::fill(begin, end, Thread::Running);
            any = true;
        }
        if (!any) {
            // Threads that are done count as having come.
            for (const unsigned t : m_threadOrder)
                if (m_state[t] == Thread::AtWarp) {
                    enter(t);
                    fail("it waits in a shuffle that a thread of its warp does not reach", m_place);
                }
            std::replace(m_state.begin(), m_state.end(), Thread::AtBlock, Thread::Running);
        }
        for (const unsigned t : m_threadOrder)
            if (m_state[t] == Thread::Running) resume(m_fibreOf[t]);
    }

    Fibre* freshFibre() {
        if (m_free.empty()) {
            m_fibres.push_back(std::make_unique<Fibre>());
            m_free.push_back(m_fibres.back().get());
        }
        Fibre* const fibre = m_free.back();
        m_free.pop_back();
        begin(fibre->context, fibre->stack.get(), kStack, [] {
            theDevice().work();
            theDevice().leave();
        });
        return fibre;
    }

    void resume(Fibre* fibre) {
        m_current = fibre;
        enter(fibre->thread);
        switchTo(m_scheduler, fibre->context);
    }

    void enter(unsigned thread) {
        const dim3 size = m_place.threads;
        m_place.thread = {thread % size.x, thread / size.x % size.y, thread / size.x / size.y};
    }

    void waitAs(Thread what) {
        Fibre* const self = m_current;
        m_state[self->thread] = what;
        switchTo(self->context, m_scheduler);
    }

    std::mutex m_launches;
    const std::function<void()>* m_kernel = nullptr;
    Place m_place{};
    unsigned m_count = 0, m_next = 0, m_done = 0, m_launch = 0;
    std::vector<unsigned> m_blockOrder, m_threadOrder, m_shuffles;
    std::vector<Thread> m_state;
    std::vector<float> m_values[2];
    std::vector<Fibre*> m_fibreOf, m_free;
    std::vector<std::unique_ptr<Fibre>> m_fibres;
    Fibre* m_current = nullptr;
    Context m_scheduler;
};

Device& theDevice() {
    static Device device;
    return device;
}

LaunchObserver* g_observer = nullptr;

}  // namespace

void observeLaunches(LaunchObserver* observer) {
    g_observer = observer;
}
void launch(const Launch& launch, const std::function<void()>& kernel) {
    if (g_observer == nullptr)
        run(launch.grid, launch.block, kernel);
    else
        g_observer->launched(launch, [&] { run(launch.grid, launch.block, kernel); });
}

const Place& place() {
    return theDevice().place();
}
void run(dim3 grid, dim3 block, const std::function<void()>& kernel) {
    theDevice().run(grid, block, kernel);
}
void waitForBlock() {
    theDevice().waitForBlock();
}
float shuffleXor(unsigned mask, float value, int distance) {
    return theDevice().shuffleXor(mask, value, distance);
}

}  // namespace stepscope::emulation
