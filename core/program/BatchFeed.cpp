#include "core/program/BatchFeed.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/stack.h>

#include <algorithm>

#include "core/base/Check.h"

namespace stepscope {
namespace {

constexpr std::int64_t kCopiedAtOnce = 1 << 20;

at::TensorOptions hostIds(bool pinned = false) {
    return at::TensorOptions().dtype(at::kLong).pinned_memory(pinned);
}

// int32 holds every vocabulary and is half of what an index needs.
at::Tensor tokensOn(at::Device device, const TokenRow& row) {
    at::Tensor all = at::empty({row.size()}, at::TensorOptions().dtype(at::kInt).device(device));
    std::vector<std::int64_t> part(static_cast<std::size_t>(std::min(kCopiedAtOnce, row.size())));
    for (std::int64_t begin = 0; begin < row.size(); begin += kCopiedAtOnce) {
        const std::int64_t count = std::min(kCopiedAtOnce, row.size() - begin);
        row.copy(begin, count, part.data());
        all.narrow(0, begin, count).copy_(at::from_blob(part.data(), {count}, hostIds()));
    }
    return all;
}

// (batch)
at::Tensor placesOf(const std::vector<std::int64_t>& starts) {
    return at::from_blob(const_cast<std::int64_t*>(starts.data()), {static_cast<std::int64_t>(starts.size())}, hostIds());
}

}  // namespace

BatchFeed::BatchFeed(const FeedSettings& settings, at::Device device, std::int64_t batch, std::int64_t context)
    : m_settings(settings), m_device(device), m_batch(batch), m_context(context) {
    if (settings.place == TokenPlace::Device) return;
    const bool pinned = settings.pinned && !device.is_cpu(), copyRunsOn = settings.nonBlocking && !device.is_cpu();
    m_loader = std::make_unique<BatchLoader>(BatchLoader::Settings{.place = settings.place,
                                                                   .creation = settings.creation,
                                                                   .batch = batch,
                                                                   .context = context,
                                                                   .workers = settings.workers,
                                                                   .prefetch = settings.prefetch,
                                                                   .reuseBlocks = !copyRunsOn},
                                             [=]() -> TokenBlock {
                                                 // A pinned block that is let go while a copy still reads it is kept by LibTorch's host allocator
                                                 // until the copy is done.
                                                 auto tensor = std::make_shared<at::Tensor>(at::empty({2, batch, context}, hostIds(pinned)));
                                                 auto* data = tensor->data_ptr<std::int64_t>();
                                                 return {std::move(tensor), data};
                                             });
}

BatchFeed::~BatchFeed() = default;

bool BatchFeed::prepare(const BatchSource& source) {
    // The row goes to the device once; only the places of the sequences are copied at each step.
    if (!cutsOnDevice() || m_copiedRow == source.corpus().tokens) return false;
    m_copiedRow = source.corpus().tokens;
    m_deviceTokens = tokensOn(m_device, *m_copiedRow);
    const at::Tensor window = at::arange(m_context, at::TensorOptions().dtype(at::kLong).device(m_device));
    m_window = at::stack({window, window + 1}).unsqueeze(1);
    return true;
}

void BatchFeed::cut(const BatchSource& source, std::uint64_t seed, std::int64_t cursor, std::int64_t stride) {
    if (cutsOnDevice()) {
        prepare(source);
        m_starts = source.starts(Split::Train, seed, cursor, m_batch, m_context);
        return;
    }
    const TokenBlock block = m_loader->next(source, seed, cursor, stride);
    m_cut = *static_cast<const at::Tensor*>(block.owner.get());
}

// What changes from batch to batch, on the host: the ids, or where the sequences begin.
at::Tensor BatchFeed::hostPart() const {
    if (cutsOnDevice()) return placesOf(m_starts);
    SS_CHECK(m_cut.defined());
    return m_cut;
}

BatchFeed::Batch BatchFeed::copy() const {
    return onDevice(hostPart(), m_batch);
}

BatchFeed::Batch BatchFeed::validation(const BatchSource& source, std::int64_t cursor, std::int64_t count) {
    SS_CHECK(count >= 1 && count <= m_batch);
    const auto starts = source.starts(Split::Validation, 0, cursor, count, m_context);
    if (cutsOnDevice()) {
        prepare(source);
        return onDevice(placesOf(starts), count);
    }
    const at::Tensor host = at::empty({2, count, m_context}, hostIds());
    auto* into = host.data_ptr<std::int64_t>();
    cutBatch(*source.tokens(m_settings.place), m_settings.creation, starts, m_context, source.corpus().vocabulary, into, into + count * m_context);
    return onDevice(host, count);
}

// One copy, whatever it is of.
BatchFeed::Batch BatchFeed::onDevice(const at::Tensor& hostPart, std::int64_t sequences) const {
    return read(hostPart.to(m_device, at::kLong, m_settings.nonBlocking), sequences);
}

std::int64_t BatchFeed::slotSize() const {
    return cutsOnDevice() ? m_batch : 2 * m_batch * m_context;
}

void BatchFeed::copyInto(at::Tensor& slot) const {
    slot.copy_(hostPart().view({-1}), m_settings.nonBlocking);
}

BatchFeed::Batch BatchFeed::read(const at::Tensor& slot, std::int64_t sequences) const {
    at::Tensor ids = slot;
    if (cutsOnDevice()) {
        // Every place of inputs and targets at once: three operations, and both halves are contiguous.
        const at::Tensor where = (slot.view({1, sequences, 1}) + m_window).view({-1});
        ids = m_deviceTokens.index_select(0, where).to(at::kLong);
    }
    ids = ids.view({2, sequences, m_context});
    return {ids.select(0, 0), ids.select(0, 1)};
}

}  // namespace stepscope
