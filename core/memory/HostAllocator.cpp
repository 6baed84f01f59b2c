// LibTorch demands context == data pointer and one constant raw_deleter() for every block (oneDNN uses raw_allocate), so what a
// block is must be found from its address alone: a 64-byte header in front of it says.
#include "core/memory/HostAllocator.h"

#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>
#include <c10/util/Exception.h>
#include <malloc.h>
#include <sys/mman.h>

#include <array>
#include <atomic>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <vector>

#include "core/base/Format.h"
#include "core/base/SizeClasses.h"
#include "core/memory/MemoryObserver.h"
#include "core/memory/SystemMemory.h"

namespace stepscope::host_memory {
namespace {

using size_classes::binOf, size_classes::kHeader, size_classes::kHugePage, size_classes::kSmallestCached, size_classes::mappingFor;

struct Header {
    std::size_t size;    // asked for, without the header
    std::size_t mapped;  // whole mapping when cached; 0 = from the C library
    std::size_t bin;
};

std::atomic<Mode> g_mode{Mode::System};
std::atomic<std::int64_t> g_live{0}, g_peak{0}, g_cached{0}, g_budget{0};
std::atomic<int> g_sharing{1};
std::atomic<bool> g_installed{false};

std::mutex g_binsMutex;
std::array<std::vector<void*>, size_classes::kBins>& bins() {
    // Never destroyed: tensors of static storage may be freed after any other static object.
    static auto* all = new std::array<std::vector<void*>, size_classes::kBins>;
    return *all;
}

void raisePeak(std::int64_t live) {
    std::int64_t peak = g_peak.load(std::memory_order_relaxed);
    while (live > peak && !g_peak.compare_exchange_weak(peak, live, std::memory_order_relaxed)) {
    }
}

void* takeCached(std::size_t bin) {
    std::lock_guard lock(g_binsMutex);
    auto& free = bins()[bin];
    if (free.empty()) return nullptr;
    void* base = free.back();
    free.pop_back();
    g_cached.fetch_sub(static_cast<std::int64_t>(static_cast<Header*>(base)->mapped));
    return base;
}

void* mapFresh(std::size_t whole, std::size_t bin) {
    // Over-map and cut to a huge-page boundary: an unaligned mapping gets no huge pages at its edges.
    const std::size_t slack = whole >= kHugePage ? kHugePage : 0;
    void* raw = mmap(nullptr, whole + slack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (raw == MAP_FAILED) return nullptr;
    auto address = reinterpret_cast<std::uintptr_t>(raw);
    if (slack != 0) {
        const std::uintptr_t aligned = (address + kHugePage - 1) & ~(kHugePage - 1);
        if (aligned > address) munmap(raw, aligned - address);
        if (const std::size_t tail = address + slack - aligned; tail > 0) munmap(reinterpret_cast<void*>(aligned + whole), tail);
        address = aligned;
        madvise(reinterpret_cast<void*>(address), whole, MADV_HUGEPAGE);
    }
    auto* header = new (reinterpret_cast<void*>(address)) Header;
    header->mapped = whole;
    header->bin = bin;
    return header;
}

[[noreturn]] void refuse(std::size_t size, std::int64_t live) {
    TORCH_CHECK_WITH(OutOfMemoryError, false, "Out of memory: ", format::bytes({static_cast<std::int64_t>(size)}), " more were asked for with ",
                     format::bytes({live}), " in use and ", format::bytes({g_budget.load()}), " allowed");
}

void tell(void (MemoryObserver::*what)(const void*, std::int64_t, std::int64_t) noexcept, const void* block, std::int64_t bytes, std::int64_t live) {
    if (const auto all = memoryObservers.now())
        for (const auto& observer : *all) ((*observer).*what)(block, bytes, live);
}

void* allocateBytes(std::size_t size) {
    if (size == 0) return nullptr;
    const auto asked = static_cast<std::int64_t>(size);
    const std::int64_t live = g_live.fetch_add(asked) + asked;
    if (live > g_budget.load(std::memory_order_relaxed) || size > (std::size_t{1} << 62)) {
        g_live.fetch_sub(asked);
        refuse(size, live - asked);
    }
    void* base = nullptr;
    if (g_mode.load(std::memory_order_relaxed) == Mode::Caching && size >= kSmallestCached) {
        const std::size_t bin = binOf(size + kHeader);
        base = takeCached(bin);
        if (base == nullptr) {
            // Bounded: what is live and what is kept together stay within the budget.
            if (live + g_cached.load() > g_budget.load()) trim();
            base = mapFresh(mappingFor(size + kHeader), bin);
        }
    } else {
        if (posix_memalign(&base, 64, size + kHeader) != 0) base = nullptr;
        if (base != nullptr) new (base) Header{.size = size, .mapped = 0, .bin = 0};
    }
    if (base == nullptr) {
        g_live.fetch_sub(asked);
        refuse(size, live - asked);
    }
    static_cast<Header*>(base)->size = size;
    raisePeak(live);
    void* data = static_cast<char*>(base) + kHeader;
    if (!memoryObservers.empty()) tell(&MemoryObserver::taken, data, asked, live);
    return data;
}

void freeBytes(void* data) {
    if (data == nullptr) return;
    void* base = static_cast<char*>(data) - kHeader;
    auto* header = static_cast<Header*>(base);
    const auto bytes = static_cast<std::int64_t>(header->size);
    const std::int64_t live = g_live.fetch_sub(bytes) - bytes;
    if (!memoryObservers.empty()) tell(&MemoryObserver::givenBack, data, bytes, live);
    if (header->mapped == 0) {
        std::free(base);
        return;
    }
    std::lock_guard lock(g_binsMutex);
    bins()[header->bin].push_back(base);
    g_cached.fetch_add(static_cast<std::int64_t>(header->mapped));
}

class TorchAllocator final : public c10::Allocator {
public:
    c10::DataPtr allocate(std::size_t size) override {
        void* data = allocateBytes(size);
        return {data, data, &freeBytes, c10::Device(c10::DeviceType::CPU)};
    }
    c10::DeleterFnPtr raw_deleter() const override { return &freeBytes; }
    void copy_data(void* into, const void* from, std::size_t count) const override { std::memcpy(into, from, count); }
};

}  // namespace

void install() {
    if (g_installed.exchange(true)) return;
    refreshBudget();
    // Who tunes the C library's allocator wants large blocks kept. The trainer is not the main thread, and another thread's arena holds no
    // block over 64 MiB: it would be mapped anew at every step. One arena for all threads is the main one. Not otherwise: threads that
    // allocate in parallel wait for each other there (tests/bench/RESULTS.md, "One arena of the C library, or many", has command and times).
    if (const char* tuned = std::getenv("GLIBC_TUNABLES"); tuned != nullptr && std::strstr(tuned, "glibc.malloc.") != nullptr)
        mallopt(M_ARENA_MAX, 1);
    static auto* allocator = new TorchAllocator;
    c10::SetCPUAllocator(allocator, /*priority=*/100);
}

bool installed() {
    return g_installed.load();
}

Mode setMode(Mode mode) {
    // Nothing is given back here: two Programs in turn set the mode at every step. trim() is the run's business.
    return g_mode.exchange(mode);
}
Mode mode() {
    return g_mode.load();
}

void setBudget(Bytes budget) {
    g_budget.store(budget.count);
}
Bytes budget() {
    return {g_budget.load()};
}

Result<Bytes> limitOfEnvironment() {
    const char* wish = std::getenv("STEPSCOPE_MEMORY_LIMIT");
    if (wish == nullptr || *wish == '\0') return Bytes{0};
    std::int64_t count = 0;
    const char* const end = wish + std::strlen(wish);
    if (const auto [stop, problem] = std::from_chars(wish, end, count); problem != std::errc{} || stop != end || count <= 0)
        return makeError(ErrorCode::BadInput,
                         "STEPSCOPE_MEMORY_LIMIT is \"" + std::string(wish) + "\"; it takes a whole number of bytes, such as 2000000000.");
    return Bytes{count};
}

void shareAmong(int processes) {
    g_sharing.store(std::max(1, processes));
}

Bytes affordable() {
    const auto limit = limitOfEnvironment();
    std::int64_t allowed = limit ? limit->count : 0;
    if (allowed <= 0) {
        const std::int64_t sharing = g_sharing.load(), reachable = availableMemory().count / sharing + g_live.load() + g_cached.load();
        allowed = std::max<std::int64_t>(reachable - std::max<std::int64_t>(reachable / 20, 256'000'000 / sharing), 0);
    }
    return {allowed};
}

void refreshBudget() {
    setBudget(affordable());
}

Usage usage() {
    return {{g_live.load()}, {g_peak.load()}, {g_cached.load()}};
}
void resetPeak() {
    g_peak.store(g_live.load());
}

void trim() {
    std::lock_guard lock(g_binsMutex);
    for (auto& free : bins()) {
        for (void* base : free) {
            const std::size_t whole = static_cast<Header*>(base)->mapped;
            g_cached.fetch_sub(static_cast<std::int64_t>(whole));
            munmap(base, whole);
        }
        free.clear();
    }
}

}  // namespace stepscope::host_memory
