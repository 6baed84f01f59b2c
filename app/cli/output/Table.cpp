#include "app/cli/output/Table.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>

#include "app/cli/output/Output.h"
#include "core/base/Check.h"

namespace stepscope::cli {

void Table::add(std::vector<std::string> cells) {
    SS_CHECK(cells.size() == m_columns.size());
    for (auto& cell : cells) {
        std::ranges::replace(cell, '\n', ' ');
        cell = printable(cell);
    }
    m_rows.push_back(std::move(cells));
}

std::string Table::text() const {
    std::vector<std::size_t> widths;
    std::vector<std::string> titles;
    for (std::size_t c = 0; c < m_columns.size(); ++c) {
        std::size_t width = displayWidth(printable(m_columns[c].title));
        for (const auto& row : m_rows) width = std::max(width, displayWidth(row[c]));
        widths.push_back(width);
        titles.push_back(printable(m_columns[c].title));
    }
    std::string all;
    const auto append = [&](const std::vector<std::string>& cells) {
        std::string line;
        for (std::size_t c = 0; c < cells.size(); ++c) {
            const std::string padding(widths[c] - displayWidth(cells[c]), ' ');
            if (c > 0) line += "  ";
            line += m_columns[c].align == Align::Right ? padding + cells[c] : cells[c] + padding;
        }
        line.erase(line.find_last_not_of(' ') + 1);
        all += line + "\n";
    };
    append(titles);
    for (const auto& row : m_rows) append(row);
    return all;
}

std::string relativeTime(std::int64_t unixMs, std::int64_t nowUnixMs) {
    const std::int64_t seconds = std::max<std::int64_t>(0, (nowUnixMs - unixMs) / 1000);
    if (seconds < 60) return "just now";
    if (seconds < 3600) return fmt::format("{} min ago", seconds / 60);
    if (seconds < 86400) return fmt::format("{} h ago", seconds / 3600);
    if (seconds < 7 * 86400) return fmt::format("{} day{} ago", seconds / 86400, seconds < 2 * 86400 ? "" : "s");
    return fmt::format("{:%d %b %Y}", fmt::localtime(static_cast<std::time_t>(unixMs / 1000)));
}

}  // namespace stepscope::cli
