// BatchFeed: a Program's batches as tensors on its device: cut on the host by a BatchLoader and copied, or cut on the device itself.
// Every Program owns one, so that the switches about data mean the same for all of them. Trainer thread.
#pragma once
#include "core/data/BatchLoader.h"

#include <ATen/core/Tensor.h>
#include <memory>

namespace stepscope {

// What the switches about data say.
struct FeedSettings {
    TokenPlace place = TokenPlace::Mapped;
    BatchCreation creation = BatchCreation::Vectorised;
    std::int64_t workers = 0, prefetch = 2;
    bool pinned = false;       // host memory that a GPU can read by itself
    bool nonBlocking = false;  // the copy runs on while the host goes on
};

class BatchFeed {
public:
    BatchFeed(const FeedSettings& settings, at::Device device, std::int64_t batch, std::int64_t context);
    ~BatchFeed();
    BatchFeed(const BatchFeed&) = delete;
    BatchFeed& operator=(const BatchFeed&) = delete;

    struct Batch {
        at::Tensor inputs, targets;  // (batch, context) int64, contiguous
    };

    // The two halves of "the next batch", so that each is timed as its own phase. On a CPU the tensors are the host's own and are
    // overwritten after the next cut(). Throws DataChanged.
    void cut(const BatchSource& source, std::uint64_t seed, std::int64_t cursor);  // training sequences cursor ...
    Batch copy() const;

    // Validation sequences cursor ...: never through the queue of training.
    Batch validation(const BatchSource& source, std::int64_t cursor);

private:
    at::Tensor cutOnDevice(const BatchSource& source, const std::vector<std::int64_t>& starts);
    Batch copied(const at::Tensor& host) const;

    FeedSettings m_settings;
    at::Device m_device;
    std::int64_t m_batch, m_context;
    std::shared_ptr<const TokenRow> m_copiedRow;  // whose tokens are on the device
    at::Tensor m_deviceTokens;                    // (all tokens) int32
    at::Tensor m_cut;                             // (2, batch, context), on the host or on the device
    std::unique_ptr<BatchLoader> m_loader;        // null when batches are cut on the device
};

}  // namespace stepscope
