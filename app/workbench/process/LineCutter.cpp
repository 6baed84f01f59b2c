#include "app/workbench/process/LineCutter.h"

#include <algorithm>
#include <utility>

#include "core/base/Utf8.h"

namespace stepscope {

void LineCutter::add(std::string_view text, const Tell& tell) {
    while (!text.empty()) {
        const std::size_t length = std::min(text.find_first_of("\n\r"), text.size());
        // A character more than fits, so that it is known whether one is cut in two.
        const std::size_t room = m_longest + 4 - std::min(m_longest + 4, m_line.size());
        m_cut = m_cut || length > room;
        m_line.append(text.substr(0, std::min(length, room)));
        if (length == text.size()) return;
        end(tell);
        text.remove_prefix(length + 1);
    }
}

void LineCutter::end(const Tell& tell) {
    std::string line = std::exchange(m_line, {});
    const bool cut = std::exchange(m_cut, false) || line.size() > m_longest;
    if (line.find_first_not_of(" \t\v\f") == std::string::npos) return;
    if (cut) line = std::string(firstBytes(line, m_longest)) + "…";
    tell(std::move(line));
}

}  // namespace stepscope
