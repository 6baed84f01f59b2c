// The handler of SIGBUS runs on the thread that read: it may only look at atomics and call the kernel.
#include "core/data/CutShortFiles.h"

#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <mutex>

namespace stepscope::cut_short_files {
namespace {

struct Watched {
    std::atomic<std::uintptr_t> begin{0}, end{0};  // end 0 = free; begin is written before end
    std::atomic<bool> cutShort{false};
};
std::array<Watched, 4096> g_watched;  // tens of GB of shards are hundreds of files
std::mutex g_placesMutex;             // of watch() and forget(); the handler takes none
struct sigaction g_former {};
std::uintptr_t g_page = 4096;

void onMissingPage(int signal, siginfo_t* info, void* context) {
    const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
    for (Watched& one : g_watched) {
        const std::uintptr_t end = one.end.load(std::memory_order_acquire);
        if (address >= end || address < one.begin.load(std::memory_order_acquire)) continue;
        const std::uintptr_t page = address & ~(g_page - 1);
        // All that follows is gone as well.
        void* zeros = ::mmap(reinterpret_cast<void*>(page), end - page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
        if (zeros == MAP_FAILED) break;
        one.cutShort.store(true, std::memory_order_release);
        return;
    }
    if ((g_former.sa_flags & SA_SIGINFO) != 0 && g_former.sa_sigaction != nullptr) return g_former.sa_sigaction(signal, info, context);
    // The read is tried again, and meets what was there before us.
    ::sigaction(SIGBUS, &g_former, nullptr);
}

void installOnce() {
    static std::once_flag once;
    std::call_once(once, [] {
        g_page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
        struct sigaction action {};
        action.sa_sigaction = onMissingPage;
        action.sa_flags = SA_SIGINFO | SA_ONSTACK;
        ::sigaction(SIGBUS, &action, &g_former);
    });
}

}  // namespace

int watch(const void* address, std::size_t size) {
    installOnce();
    const std::lock_guard lock(g_placesMutex);
    for (std::size_t place = 0; place < g_watched.size(); ++place) {
        Watched& one = g_watched[place];
        if (one.end.load() != 0) continue;
        one.cutShort.store(false);
        one.begin.store(reinterpret_cast<std::uintptr_t>(address));
        one.end.store(reinterpret_cast<std::uintptr_t>(address) + size);
        return static_cast<int>(place);
    }
    return -1;
}

void forget(int place) {
    if (place < 0) return;
    const std::lock_guard lock(g_placesMutex);
    g_watched[static_cast<std::size_t>(place)].end.store(0);
}

bool wasCutShort(int place) {
    return place >= 0 && g_watched[static_cast<std::size_t>(place)].cutShort.load(std::memory_order_acquire);
}

}  // namespace stepscope::cut_short_files
