// The kinds of TokenRow: ids of 16 or 32 bits in memory that somebody owns (a mapped file, RAM), and computed random ids.
// Made while a corpus is opened, read on the trainer thread and by loader workers.
#pragma once
#include <span>
#include <vector>

#include "core/base/Check.h"
#include "core/data/Corpus.h"
#include "core/data/MappedFile.h"

namespace stepscope {

inline void checkRange(std::int64_t begin, std::int64_t count, std::int64_t size) {
    SS_CHECK(begin >= 0 && count >= 0 && begin <= size && count <= size - begin);
}

template <class Id>
class SpanRow final : public TokenRow {
public:
    SpanRow(std::shared_ptr<const void> owner, std::span<const Id> ids) : m_owner(std::move(owner)), m_ids(ids) {}

    std::int64_t size() const override { return static_cast<std::int64_t>(m_ids.size()); }
    void copy(std::int64_t begin, std::int64_t count, std::int64_t* into) const override {
        checkRange(begin, count, size());
        const Id* from = m_ids.data() + begin;
        for (std::int64_t i = 0; i < count; ++i) into[i] = from[i];
    }
    void copyPair(std::int64_t begin, std::int64_t count, std::int64_t* ids, std::int64_t* next) const override {
        SS_CHECK(count > 0);
        checkRange(begin, count + 1, size());
        const Id* from = m_ids.data() + begin;
        ids[0] = from[0];
        for (std::int64_t i = 1; i < count; ++i) ids[i] = next[i - 1] = from[i];
        next[count - 1] = from[count];
    }

private:
    std::shared_ptr<const void> m_owner;
    std::span<const Id> m_ids;
};

// The ids that lie in `bytes`, which `owner` keeps alive.
template <class Id>
std::shared_ptr<const TokenRow> rowOf(std::string_view bytes, std::shared_ptr<const void> owner) {
    return std::make_shared<SpanRow<Id>>(std::move(owner), std::span(reinterpret_cast<const Id*>(bytes.data()), bytes.size() / sizeof(Id)));
}

// `row`, which lies in `file`; reading it throws DataChanged once the file was cut short.
std::shared_ptr<const TokenRow> watched(std::shared_ptr<const TokenRow> row, std::shared_ptr<const MappedFile> file);
// Throws DataChanged with the file's name when it was cut short.
void requireWhole(const MappedFile& file);

// The same ids in RAM of our own.
std::shared_ptr<const TokenRow> inRam(std::vector<std::uint16_t> ids);
std::shared_ptr<const TokenRow> inRam(std::vector<std::uint32_t> ids);
// Random ids are computed, so there is nothing to copy: they are `row` itself.
Bytes sizeInRam(const TokenRow& row, std::int64_t vocabulary);
std::shared_ptr<const TokenRow> copiedToRam(const std::shared_ptr<const TokenRow>& row, std::int64_t vocabulary);

// The rows one after the other, as one. At least one.
std::shared_ptr<const TokenRow> joined(std::vector<std::shared_ptr<const TokenRow>> rows);

// `size` uniform ids in [0, vocabulary): a function of (seed, position), nothing is stored.
std::shared_ptr<const TokenRow> randomRow(std::uint64_t seed, std::int64_t vocabulary, std::int64_t size);

// The largest id and where the first id >= bound lies (-1 = nowhere).
struct IdScan {
    std::int64_t largest = -1;
    std::int64_t firstBeyond = -1;
    std::int64_t idBeyond = -1;
};
IdScan scanIds(const TokenRow& row, std::int64_t bound, const std::atomic<bool>& cancelled);

}  // namespace stepscope
