// IdColumn: what is known of many numbers that a file gives its calls and operations, in as few bytes as that takes: one entry behind the other as
// they come, by number once all have come. A hash table of the same takes four times as much. Used by KernelSummary; one thread.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

namespace stepscope {

// A number of 64 bits that lies where one of 32 does.
class Packed64 {
public:
    Packed64() = default;
    explicit Packed64(std::int64_t value)
        : m_low(static_cast<std::uint32_t>(static_cast<std::uint64_t>(value))),
          m_high(static_cast<std::uint32_t>(static_cast<std::uint64_t>(value) >> 32)) {}
    std::int64_t value() const { return static_cast<std::int64_t>(std::uint64_t{m_high} << 32 | m_low); }

private:
    std::uint32_t m_low = 0, m_high = 0;
};

template <class Value>
class IdColumn {
public:
    void add(std::int64_t id, const Value& value) {
        m_ordered = m_ordered && (m_entries.empty() || m_entries.back().id.value() < id);
        m_entries.push_back({Packed64(id), value});
    }

    // All have come. merge(first, later): the first of one number learns what a later one says.
    template <class Merge>
    void order(const Merge& merge) {
        if (m_ordered) return;
        std::ranges::stable_sort(m_entries, {}, [](const Entry& one) { return one.id.value(); });
        auto kept = m_entries.begin();
        for (auto next = kept + 1; next != m_entries.end(); ++next) {
            if (next->id.value() == kept->id.value())
                merge(kept->value, next->value);
            else
                *++kept = *next;
        }
        m_entries.erase(kept + 1, m_entries.end());
        m_ordered = true;
    }

    // Behind order(): where it is.
    std::optional<std::size_t> placeOf(std::int64_t id) const {
        const auto found = std::ranges::lower_bound(m_entries, id, {}, [](const Entry& one) { return one.id.value(); });
        if (found == m_entries.end() || found->id.value() != id) return std::nullopt;
        return static_cast<std::size_t>(found - m_entries.begin());
    }
    const Value& at(std::size_t place) const { return m_entries[place].value; }
    std::size_t size() const { return m_entries.size(); }
    static constexpr std::size_t bytesEach() { return sizeof(Entry); }

private:
    struct Entry {
        Packed64 id;
        Value value{};
    };
    std::deque<Entry> m_entries;  // which never moves all of them to grow
    bool m_ordered = true;
};

}  // namespace stepscope
