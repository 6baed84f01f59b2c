// BatchFeed: a Program's batches as tensors on its device: cut on the host by a BatchLoader and copied, or cut on the device itself.
// Every Program owns one, so that the switches about data mean the same for all of them. Trainer thread.
#pragma once
#include <ATen/core/Tensor.h>

#include <memory>

#include "core/data/BatchLoader.h"

namespace stepscope {

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
    // Training sequences cursor ...; stride: as BatchLoader::next() has it.
    void cut(const BatchSource& source, std::uint64_t seed, std::int64_t cursor, std::int64_t stride = 0);
    Batch copy() const;

    // For a step that is captured: all that changes from one batch to the next lies in one tensor of the device, the slot, at the same address in
    // every step. It is the ids, or where batches are cut on the device the places of the sequences. prepare() comes before each cut(); true: what is
    // on the device is another, and graphs that read it are of no use.
    bool prepare(const BatchSource& source);
    bool cutsOnDevice() const { return m_loader == nullptr; }
    std::int64_t slotSize() const;                                            // of a slot, which is (slotSize) int64
    void copyInto(at::Tensor& slot) const;                                    // the batch that was cut: one copy
    const std::vector<std::int64_t>& places() const { return m_starts; }      // or what to copy there, for who has more to copy; when cutsOnDevice()
    Batch read(const at::Tensor& slot) const { return read(slot, m_batch); }  // the work of the graph

    // `count` validation sequences from `cursor` on, as many as a batch has at most: never through the queue of training.
    Batch validation(const BatchSource& source, std::int64_t cursor, std::int64_t count);

private:
    at::Tensor hostPart() const;
    Batch onDevice(const at::Tensor& hostPart, std::int64_t sequences) const;
    Batch read(const at::Tensor& slot, std::int64_t sequences) const;

    FeedSettings m_settings;
    at::Device m_device;
    std::int64_t m_batch, m_context;
    std::shared_ptr<const TokenRow> m_copiedRow;  // whose tokens are on the device
    at::Tensor m_deviceTokens;                    // (all tokens) int32
    at::Tensor m_window;                          // (2, 1, context): inputs and targets, from where a sequence begins
    at::Tensor m_cut;                             // (2, batch, context), on the host
    std::vector<std::int64_t> m_starts;           // of the sequences, when batches are cut on the device
    std::unique_ptr<BatchLoader> m_loader;        // null when batches are cut on the device
};

}  // namespace stepscope
