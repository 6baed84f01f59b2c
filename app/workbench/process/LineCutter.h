// LineCutter: cuts what comes in pieces into lines, each of a bounded length. For LibraryLines; a pure value.
#pragma once
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace stepscope {

class LineCutter {
public:
    using Tell = std::function<void(std::string line)>;

    explicit LineCutter(std::size_t longest) : m_longest(longest) {}

    // Tells each line that ends in the text, without its end ("\n" or "\r", which draws over a line). Of a line longer than `longest` bytes its
    // beginning, with "…" behind it. Lines of nothing but spaces are left out.
    void add(std::string_view text, const Tell& tell);
    // Tells what has no end yet.
    void end(const Tell& tell);
    bool unfinished() const { return !m_line.empty(); }

private:
    std::size_t m_longest;
    std::string m_line;
    bool m_cut = false;
};

}  // namespace stepscope
