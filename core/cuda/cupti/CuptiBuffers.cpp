#include "core/cuda/cupti/CuptiBuffers.h"

#include <cstdlib>
#include <mutex>
#include <vector>

namespace stepscope::cupti {
namespace {

constexpr std::size_t kAlignment = 8;  // ACTIVITY_RECORD_ALIGNMENT of NVIDIA's samples

// What CUPTI's callbacks touch. Nothing of CUPTI is called while its mutex is held, and it is never destroyed: CUPTI may still hold a buffer when the
// process ends.
struct Buffers {
    std::mutex mutex;
    std::vector<std::uint8_t*> free;
    std::deque<FilledBuffer> filled;
    std::size_t bytes = std::size_t{1} << 20;  // of one; never changed once one was made
    std::size_t made = 0, most = 64;
    bool fixed = false;
};
Buffers& buffers() {
    static auto* all = new Buffers;
    return *all;
}

}  // namespace

void makeRoom(const CudaCaptureOptions& options) {
    Buffers& all = buffers();
    const std::lock_guard lock(all.mutex);
    if (!all.fixed && options.bufferBytes >= 4096) {
        all.bytes = static_cast<std::size_t>(options.bufferBytes) / kAlignment * kAlignment;
        all.fixed = true;
    }
    all.most = static_cast<std::size_t>(options.mostBytes > 0 ? options.mostBytes : 0) / all.bytes;
    if (all.most < 2) all.most = 2;
}

void CUPTIAPI bufferRequested(std::uint8_t** buffer, std::size_t* size, std::size_t* mostRecords) {
    Buffers& all = buffers();
    *buffer = nullptr;
    *size = 0;
    *mostRecords = 0;
    const std::lock_guard lock(all.mutex);
    if (all.free.empty() && all.made < all.most)
        if (auto* made = static_cast<std::uint8_t*>(std::aligned_alloc(kAlignment, all.bytes))) {
            all.made += 1;
            all.free.push_back(made);
        }
    if (all.free.empty()) return;  // CUPTI drops what comes, and counts it
    *buffer = all.free.back();
    *size = all.bytes;
    all.free.pop_back();
}

void CUPTIAPI bufferCompleted(CUcontext context, std::uint32_t stream, std::uint8_t* buffer, std::size_t, std::size_t valid) {
    if (buffer == nullptr) return;
    Buffers& all = buffers();
    const std::lock_guard lock(all.mutex);
    all.filled.push_back({context, stream, buffer, valid});
}

void giveBack(std::uint8_t* buffer) {
    Buffers& all = buffers();
    const std::lock_guard lock(all.mutex);
    all.free.push_back(buffer);
}

std::deque<FilledBuffer> takeFilled() {
    std::deque<FilledBuffer> filled;
    Buffers& all = buffers();
    const std::lock_guard lock(all.mutex);
    filled.swap(all.filled);
    return filled;
}

void forgetFilled() {
    for (const FilledBuffer& one : takeFilled()) giveBack(one.bytes);
}

}  // namespace stepscope::cupti
