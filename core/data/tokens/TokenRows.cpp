#include "core/data/tokens/TokenRows.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/CounterRandom.h"

namespace stepscope {
namespace {

constexpr std::int64_t kRowsBlock = 1 << 16;

// Keeps these draws apart from those that place the batches, whatever the seed.
constexpr std::uint64_t kRandomIdsStream = 0x72616e646f6d2069;

class RandomRow final : public TokenRow {
public:
    RandomRow(std::uint64_t seed, std::int64_t vocabulary, std::int64_t size) : m_seed(seed), m_vocabulary(vocabulary), m_size(size) {
        SS_CHECK(vocabulary > 0 && size > 0);
    }
    std::int64_t size() const override { return m_size; }
    void copy(std::int64_t begin, std::int64_t count, std::int64_t* into) const override {
        checkRange(begin, count, m_size);
        for (std::int64_t i = 0; i < count; ++i)
            into[i] = static_cast<std::int64_t>(
                counterRandomBelow(m_seed, kRandomIdsStream, static_cast<std::uint64_t>(begin + i), static_cast<std::uint64_t>(m_vocabulary)));
    }

private:
    std::uint64_t m_seed;
    std::int64_t m_vocabulary, m_size;
};

class WatchedRow final : public TokenRow {
public:
    WatchedRow(std::shared_ptr<const TokenRow> row, std::shared_ptr<const MappedFile> file) : m_row(std::move(row)), m_file(std::move(file)) {}

    std::int64_t size() const override { return m_row->size(); }
    void copy(std::int64_t begin, std::int64_t count, std::int64_t* into) const override {
        m_row->copy(begin, count, into);
        requireWhole(*m_file);
    }
    void copyPair(std::int64_t begin, std::int64_t count, std::int64_t* ids, std::int64_t* next) const override {
        m_row->copyPair(begin, count, ids, next);
        requireWhole(*m_file);
    }

private:
    std::shared_ptr<const TokenRow> m_row;
    std::shared_ptr<const MappedFile> m_file;
};

class JoinedRow final : public TokenRow {
public:
    explicit JoinedRow(std::vector<std::shared_ptr<const TokenRow>> rows) : m_rows(std::move(rows)) {
        for (const auto& row : m_rows) {
            m_begins.push_back(m_size);
            m_size += row->size();
        }
    }
    std::int64_t size() const override { return m_size; }
    bool randomAccess() const override {
        return std::ranges::all_of(m_rows, [](const auto& row) { return row->randomAccess(); });
    }
    Status prepare(const std::function<bool()>& wanted) const override {
        for (const auto& row : m_rows)
            if (auto ready = row->prepare(wanted); !ready) return ready;
        return {};
    }
    void copy(std::int64_t begin, std::int64_t count, std::int64_t* into) const override {
        checkRange(begin, count, m_size);
        auto at = static_cast<std::size_t>(std::upper_bound(m_begins.begin(), m_begins.end(), begin) - m_begins.begin()) - 1;
        for (; count > 0; ++at) {
            const std::int64_t from = begin - m_begins[at], here = std::min(count, m_rows[at]->size() - from);
            if (here > 0) m_rows[at]->copy(from, here, into);
            begin += here;
            into += here;
            count -= here;
        }
    }

private:
    std::vector<std::shared_ptr<const TokenRow>> m_rows;
    std::vector<std::int64_t> m_begins;  // of each row
    std::int64_t m_size = 0;
};

template <class Id>
std::shared_ptr<const TokenRow> owning(std::vector<Id> ids) {
    auto owner = std::make_shared<const std::vector<Id>>(std::move(ids));
    const std::span<const Id> view(*owner);
    return std::make_shared<SpanRow<Id>>(std::move(owner), view);
}

template <class Id>
std::shared_ptr<const TokenRow> narrowed(const TokenRow& row) {
    std::vector<Id> ids(static_cast<std::size_t>(row.size()));
    std::vector<std::int64_t> block(kRowsBlock);
    for (std::int64_t at = 0; at < row.size(); at += kRowsBlock) {
        const std::int64_t count = std::min(kRowsBlock, row.size() - at);
        row.copy(at, count, block.data());
        for (std::int64_t i = 0; i < count; ++i) ids[static_cast<std::size_t>(at + i)] = static_cast<Id>(block[static_cast<std::size_t>(i)]);
    }
    return owning(std::move(ids));
}

}  // namespace

void TokenRow::copyPair(std::int64_t begin, std::int64_t count, std::int64_t* ids, std::int64_t* next) const {
    SS_CHECK(count > 0);
    copy(begin, count, ids);
    std::copy(ids + 1, ids + count, next);
    copy(begin + count, 1, next + count - 1);
}

void requireWhole(const MappedFile& file) {
    if (file.cutShort())
        throw DataChanged(
            fmt::format("{} was cut short by another program while the run read it; put it back and resume from the last checkpoint", file.path()));
}

std::shared_ptr<const TokenRow> watched(std::shared_ptr<const TokenRow> row, std::shared_ptr<const MappedFile> file) {
    return std::make_shared<WatchedRow>(std::move(row), std::move(file));
}

std::shared_ptr<const TokenRow> inRam(std::vector<std::uint16_t> ids) {
    return owning(std::move(ids));
}
std::shared_ptr<const TokenRow> inRam(std::vector<std::uint32_t> ids) {
    return owning(std::move(ids));
}

Bytes sizeInRam(const TokenRow& row, std::int64_t vocabulary) {
    if (dynamic_cast<const RandomRow*>(&row) != nullptr) return {0};
    return {row.size() * (vocabulary <= 0x10000 ? 2 : 4)};
}

std::shared_ptr<const TokenRow> copiedToRam(const std::shared_ptr<const TokenRow>& row, std::int64_t vocabulary) {
    if (dynamic_cast<const RandomRow*>(row.get()) != nullptr) return row;
    return vocabulary <= 0x10000 ? narrowed<std::uint16_t>(*row) : narrowed<std::uint32_t>(*row);
}

std::shared_ptr<const TokenRow> joined(std::vector<std::shared_ptr<const TokenRow>> rows) {
    SS_CHECK(!rows.empty());
    if (rows.size() == 1) return std::move(rows.front());
    return std::make_shared<JoinedRow>(std::move(rows));
}

std::shared_ptr<const TokenRow> randomRow(std::uint64_t seed, std::int64_t vocabulary, std::int64_t size) {
    return std::make_shared<RandomRow>(seed, vocabulary, size);
}

IdScan scanIds(const TokenRow& row, std::int64_t bound, const std::atomic<bool>& cancelled) {
    IdScan scan;
    std::vector<std::int64_t> block(kRowsBlock);
    for (std::int64_t at = 0; at < row.size() && !cancelled; at += kRowsBlock) {
        const std::int64_t count = std::min(kRowsBlock, row.size() - at);
        row.copy(at, count, block.data());
        const auto end = block.begin() + count;
        scan.largest = std::max(scan.largest, *std::max_element(block.begin(), end));
        if (scan.firstBeyond >= 0 || scan.largest < bound) continue;
        const auto beyond = std::find_if(block.begin(), end, [&](std::int64_t id) { return id >= bound; });
        scan.firstBeyond = at + (beyond - block.begin());
        scan.idBeyond = *beyond;
    }
    return scan;
}

}  // namespace stepscope
