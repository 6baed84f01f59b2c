// What feeds the views over captured slices (core/trace/Slice.h): a scan of a range of time, and joins by a number of theirs. What the views are and
// their columns say: SliceColumns.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "core/trace/SliceCodec.h"
#include "sessions/query/ChunkWalk.h"
#include "sessions/query/SliceColumns.h"

namespace stepscope::query {
namespace {

struct Place {
    std::shared_ptr<const SliceBlock> block;
    std::uint32_t slice = 0;
};

std::int64_t bytesOf(const SliceBlock& block) {
    std::size_t bytes = sizeof block + block.slices.size() * sizeof(Slice);
    for (const auto& text : block.strings) bytes += sizeof text + text.size();
    for (const auto& one : block.arguments) bytes += sizeof one + one.text.size() + one.extra.size();
    return static_cast<std::int64_t>(bytes);
}

// Slices by a number of theirs, for joins: made once a run of a query.
class SliceIndex {
public:
    void add(std::int64_t key, std::size_t block, std::uint32_t slice) { m_entries.push_back({key, static_cast<std::uint32_t>(block), slice}); }
    std::size_t keep(std::shared_ptr<const SliceBlock> block) {
        m_blocks.push_back(std::move(block));
        return m_blocks.size() - 1;
    }
    void sort() { std::ranges::sort(m_entries); }
    std::pair<std::size_t, std::size_t> range(std::int64_t key) const {
        const auto first = std::ranges::lower_bound(m_entries, key, {}, &Entry::key), end = std::ranges::upper_bound(m_entries, key, {}, &Entry::key);
        return {static_cast<std::size_t>(first - m_entries.begin()), static_cast<std::size_t>(end - m_entries.begin())};
    }
    std::int64_t entryBytes() const { return static_cast<std::int64_t>(m_entries.size() * sizeof(Entry)); }
    Place at(std::size_t entry) const { return {m_blocks[m_entries[entry].block], m_entries[entry].slice}; }

private:
    struct Entry {
        std::int64_t key;
        std::uint32_t block, slice;
        auto operator<=>(const Entry&) const = default;
    };
    std::vector<std::shared_ptr<const SliceBlock>> m_blocks;
    std::vector<Entry> m_entries;
};

class SliceRows : public Rows {
public:
    SliceRows(const QueryFile& file, const std::vector<Field>& fields) : m_cells(file), m_fields(fields) {}
    Cell cell(int column) override {
        return m_cells.of(*m_place.block, m_place.block->slices[m_place.slice], m_fields[static_cast<std::size_t>(column)]);
    }

protected:
    Place m_place;

private:
    SliceCells m_cells;
    const std::vector<Field>& m_fields;
};

class ScannedSlices final : public SliceRows {
public:
    ScannedSlices(QueryFile& file, QueryGuard& guard, const SliceViewFacts& view, const Asked& asked)
        : SliceRows(file, view.fields), m_walk(file, guard, isSlices, decodeSlices, asked.from, asked.to), m_kinds(view.kinds), m_asked(asked) {}

    Result<bool> next() override {
        for (;;) {
            if (m_place.block) {
                const auto& slices = m_place.block->slices;
                for (; m_next < slices.size(); ++m_next) {
                    const Slice& slice = slices[m_next];
                    if ((kindBit(slice.kind) & m_kinds) == 0 || slice.start < m_asked.from || slice.start > m_asked.to) continue;
                    m_place.slice = static_cast<std::uint32_t>(m_next++);
                    return true;
                }
            }
            auto block = m_walk.next();
            if (!block) return block.error();
            if (!*block) return false;
            m_place.block = std::move(*block);
            m_next = 0;
        }
    }

private:
    ChunkWalk<SliceBlock> m_walk;
    std::uint32_t m_kinds;
    Asked m_asked;
    std::size_t m_next = 0;
};

class FoundSlices final : public SliceRows {
public:
    FoundSlices(const QueryFile& file, const SliceViewFacts& view, std::shared_ptr<const SliceIndex> index, std::int64_t key)
        : SliceRows(file, view.fields), m_index(std::move(index)) {
        std::tie(m_next, m_end) = m_index->range(key);
    }
    Result<bool> next() override {
        if (m_next == m_end) return false;
        m_place = m_index->at(m_next++);
        return true;
    }

private:
    std::shared_ptr<const SliceIndex> m_index;
    std::size_t m_next = 0, m_end = 0;
};

// The rows that could not be: their error comes with the first.
class NoRows final : public Rows {
public:
    explicit NoRows(Error error) : m_error(std::move(error)) {}
    Result<bool> next() override { return m_error; }
    Cell cell(int) override { return {}; }

private:
    Error m_error;
};

class SliceSource final : public RowSource {
public:
    SliceSource(const QueryView& view, const SliceViewFacts& facts, QueryFile& file, QueryGuard& guard)
        : RowSource(view), m_facts(facts), m_file(file), m_guard(guard) {}

    std::vector<int> keys() const override {
        std::vector<int> all;
        for (std::size_t i = 0; i < m_facts.fields.size(); ++i)
            if (const Field field = m_facts.fields[i]; field == Field::Correlation || field == Field::External || field == Field::Sequence)
                all.push_back(static_cast<int>(i));
        return all;
    }
    double expectedRows() override { return m_file.records(kSlices) + m_file.records(kSlicesBefore); }
    std::unique_ptr<Rows> rows(const Asked& asked) override {
        if (!asked.key) return std::make_unique<ScannedSlices>(m_file, m_guard, m_facts, asked);
        auto index = indexOf(m_facts.fields[static_cast<std::size_t>(asked.key->first)]);
        if (!index) return std::make_unique<NoRows>(index.error());
        return std::make_unique<FoundSlices>(m_file, m_facts, std::move(*index), asked.key->second);
    }

private:
    Result<std::shared_ptr<const SliceIndex>> indexOf(Field field) {
        auto& known = m_indices[field];
        if (known) return known;
        constexpr std::size_t kMost = 2'000'000;  // slices held, some 250 MB
        auto made = std::make_shared<SliceIndex>();
        ChunkWalk<SliceBlock> walk(m_file, m_guard, isSlices, decodeSlices, std::numeric_limits<std::int64_t>::min(),
                                   std::numeric_limits<std::int64_t>::max());
        SliceCells cells(m_file);
        std::size_t held = 0;
        for (;;) {
            const auto block = walk.next();
            if (!block) return block.error();
            if (!*block) break;
            std::optional<std::size_t> place;
            const std::int64_t entries = made->entryBytes();
            const auto& slices = (*block)->slices;
            for (std::size_t i = 0; i < slices.size(); ++i) {
                if ((kindBit(slices[i].kind) & m_facts.kinds) == 0) continue;
                const Cell cell = cells.of(**block, slices[i], field);
                const auto* key = std::get_if<std::int64_t>(&cell);
                if (key == nullptr) continue;
                if (!place) {
                    place = made->keep(*block);
                    held += slices.size();
                    m_guard.hold(bytesOf(**block));
                }
                made->add(*key, *place, static_cast<std::uint32_t>(i));
            }
            m_guard.hold(made->entryBytes() - entries);
            if (held > kMost)
                return makeError(
                    ErrorCode::OutOfMemory,
                    fmt::format("Joining \"{0}\" by {1} would need too much memory; join WITH x AS MATERIALIZED (SELECT … FROM {0} WHERE "
                                "start_ns …) instead.",
                                m_facts.name, factsOf(field).name()));
        }
        if (m_guard.over()) return *m_guard.error();
        made->sort();
        known = std::move(made);
        return known;
    }

    const SliceViewFacts& m_facts;
    QueryFile& m_file;
    QueryGuard& m_guard;
    std::map<Field, std::shared_ptr<const SliceIndex>> m_indices;
};

}  // namespace

void addSliceSources(RowSources& into, QueryFile& file, QueryGuard& guard) {
    for (const auto& view : sliceViewFacts()) into.push_back(std::make_unique<SliceSource>(viewNamed(view.name), view, file, guard));
}

}  // namespace stepscope::query
