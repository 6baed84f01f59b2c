// Thinned: what a run leaves behind step by step, in bounded memory: all of it up to a limit, then every second value, every fourth, and so on,
// evenly over the whole run. Not synchronised.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

namespace stepscope {

template <class T, std::size_t kMost = 1 << 16>
class Thinned {
public:
    void add(const T& value) {
        if (m_seen++ % m_every != 0) return;
        m_values.push_back(value);
        if (m_values.size() < kMost) return;
        for (std::size_t i = 0; 2 * i < m_values.size(); ++i) m_values[i] = m_values[2 * i];
        m_values.resize((m_values.size() + 1) / 2);
        m_every *= 2;
    }
    void clear() { *this = {}; }

    std::span<const T> values() const { return m_values; }
    std::size_t seen() const { return m_seen; }
    std::size_t every() const { return m_every; }  // of the values seen, one is held

private:
    std::vector<T> m_values;
    std::size_t m_seen = 0, m_every = 1;
};

}  // namespace stepscope
