// What the head takes beside logits when linear + cross-entropy is one operation (core/kernels/linear_cross_entropy): in a planned step for good,
// under autograd while it runs. Sizes are in bytes. Used by EagerMemory and PlannedMemory.
#pragma once
#include <unistd.h>

#include <algorithm>
#include <cmath>

namespace stepscope {

// Linear + cross-entropy as LinearCrossEntropy.cpp shares it among threads.
struct HeadMemory {
    static constexpr double kMost = 52e6, kTile = 384, kPanel = 32, kSumLanes = 16, kFloat = 4;
    double element, rows, vocabulary, width, threads;

    // Five eighths of this machine's second-level cache, within bounds.
    static double blockBytes() {
        return std::clamp(std::floor(static_cast<double>(::sysconf(_SC_LEVEL2_CACHE_SIZE)) / 8) * 5, 640.0 * 1024, 1280.0 * 1024);
    }

    // Of each thread, whose exponentials are kept at a time: parts of equal size, 32 at least.
    double rowsOfAPart() const {
        const double own = std::ceil(rows / threads), parts = std::ceil(own / std::max(32.0, std::floor(kMost / threads / rowBytes() / 32) * 32));
        return std::ceil(std::ceil(own / std::max(parts, 1.0)) / 32) * 32;
    }
    double keptExponentials() const { return rowBytes() * threads * rowsOfAPart(); }
    // What the threads have for themselves: a block of rows with its tile of logits, its hidden state and its gradient; a panel of the weights.
    double blocks() const {
        const double most = std::floor(blockBytes() / (width * (kFloat + element) + kTile * element) / 32) * 32;
        const double block = std::min(std::clamp(most, 32.0, 256.0), rowsOfAPart());
        return threads * (block * (element * (kTile + width) + kFloat * (width + kSumLanes + 3)) + element * kPanel * width + kFloat * width);
    }

private:
    double rowBytes() const { return element * std::ceil(vocabulary / kTile) * kTile; }
};

// The head's weights packed for the forward and for the backward product.
inline double packedHead(double element, double vocabulary, double width) {
    return 2 * element * vocabulary * width;
}

}  // namespace stepscope
