// StopText: where a text that grows token by token ends, and how much of it can be shown before its end is known. On the thread that writes text.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace stepscope {

class StopText {
public:
    explicit StopText(std::vector<std::string> stops) : m_stops(std::move(stops)) {}

    bool empty() const { return m_stops.empty(); }
    std::size_t longest() const;  // bytes
    // Where the first of them that `text` holds begins; npos = it holds none.
    std::size_t find(std::string_view text) const;
    // The part of a text that more tokens cannot change: without an end that may become one of the stops, and without an unfinished character at its
    // end.
    std::string_view settled(std::string_view text) const;

private:
    std::vector<std::string> m_stops;  // none is empty
};

}  // namespace stepscope
