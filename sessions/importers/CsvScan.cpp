#include "sessions/importers/CsvScan.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/base/Utf8.h"

namespace stepscope::importing {
namespace {

constexpr std::size_t kLongestRow = std::size_t{16} << 20;
constexpr std::size_t kMostColumns = 10'000;

}  // namespace

Error CsvScan::wrongAt(std::int64_t line, std::int64_t byte, const std::string& why) const {
    return makeError(ErrorCode::BadInput, fmt::format("\"{}\" cannot be read as CSV: line {} (byte {}) {}.", m_path, line, byte, why))
        .about(Subject::Kind::File, m_path);
}

Status CsvScan::add(std::string_view piece) {
    if (m_separator != '\0') return scan(piece);
    m_first += piece;
    return decide(false);
}

Status CsvScan::finish() {
    if (m_separator == '\0')
        if (auto decided = decide(true); !decided) return decided;
    if (m_in == In::Quoted)
        return wrongAt(m_rowLine, m_rowByte, "begins a row whose last quotation mark is missing; the file is cut short or damaged: export it again");
    return m_text.empty() && m_ends.empty() && m_in == In::FieldBegin ? Status{} : endRow(false);
}

// By the first line, which has the names of the columns.
Status CsvScan::decide(bool all) {
    if (m_first.starts_with("\xff\xfe") || m_first.starts_with("\xfe\xff")) return wrongAt(1, 0, "is UTF-16; save the file as UTF-8");
    bool quoted = false;
    std::size_t commas = 0, semicolons = 0, tabs = 0, at = 0;
    for (; at < m_first.size() && (quoted || (m_first[at] != '\n' && m_first[at] != '\r')); ++at) {
        const char c = m_first[at];
        if (c == '"') quoted = !quoted;
        if (quoted) continue;
        commas += c == ',' ? 1 : 0;
        semicolons += c == ';' ? 1 : 0;
        tabs += c == '\t' ? 1 : 0;
    }
    if (at == m_first.size() && !all && at <= kLongestRow) return {};
    m_separator = commas > 0 ? ',' : semicolons > 0 ? ';' : tabs > 0 ? '\t' : ',';
    std::string first;
    first.swap(m_first);
    std::string_view text = first;
    if (text.starts_with(kByteOrderMark)) {
        text.remove_prefix(kByteOrderMark.size());
        m_byte = m_rowByte = static_cast<std::int64_t>(kByteOrderMark.size());
    }
    return scan(text);
}

Status CsvScan::scan(std::string_view text) {
    while (!text.empty()) {
        // What is nothing but text goes in one piece.
        const bool quoted = m_in == In::Quoted;
        if (quoted || m_in == In::Field) {
            const char ends[] = {'"', '\n', '\r', m_separator, '\0'};
            const std::size_t plain =
                std::min(quoted ? text.find_first_of(std::string_view(ends, 3)) : text.find_first_of(std::string_view(ends + 1, 3)), text.size());
            m_text.append(text.substr(0, plain));
            m_byte += static_cast<std::int64_t>(plain);
            text.remove_prefix(plain);
            if (m_text.size() > kLongestRow)
                return wrongAt(m_rowLine, m_rowByte,
                               "begins a row of more than 16 MiB, as no log has; look for a quotation mark that is missing there");
            if (text.empty()) return {};
        }
        if (auto good = character(text.front()); !good) return good;
        text.remove_prefix(1);
    }
    return {};
}

// One that may mean something where it stands.
Status CsvScan::character(char c) {
    const bool follows = std::exchange(m_afterReturn, false) && c == '\n';
    ++m_byte;
    if (m_in == In::Quoted) {
        if (c == '"') {
            m_in = In::QuoteInQuoted;
            return {};
        }
        m_text += c;
        m_line += c == '\n' ? 1 : 0;
        return {};
    }
    if (follows) {
        m_rowByte = m_byte;  // of the line break before
        return {};
    }
    if (m_in == In::QuoteInQuoted && c == '"') {
        m_text += c;
        m_in = In::Quoted;
        return {};
    }
    if (c == m_separator) {
        endField();
        if (m_ends.size() >= kMostColumns)
            return wrongAt(m_rowLine, m_rowByte, fmt::format("has more than {} columns; leave out what is of no use", kMostColumns));
        return {};
    }
    if (c == '\n' || c == '\r') {
        m_afterReturn = c == '\r';
        auto taken = endRow(true);
        m_rowLine = ++m_line;
        m_rowByte = m_byte;
        return taken;
    }
    if (m_in == In::QuoteInQuoted)
        return wrongAt(m_line, m_byte - 1, "has text behind a closing quotation mark; quotation marks within a field are doubled");
    if (m_in == In::FieldBegin && c == '"') {
        m_in = In::Quoted;
        return {};
    }
    m_text += c;
    m_in = In::Field;
    return {};
}

void CsvScan::endField() {
    m_ends.push_back(m_text.size());
    m_in = In::FieldBegin;
}

Status CsvScan::endRow(bool whole) {
    const bool isEmpty = m_text.empty() && m_ends.empty() && m_in != In::QuoteInQuoted;
    endField();
    m_row.line = m_rowLine;
    m_row.byte = m_rowByte;
    m_row.whole = whole;
    m_row.fields.clear();
    std::size_t from = 0;
    for (const std::size_t to : m_ends) {
        m_row.fields.push_back(std::string_view(m_text).substr(from, to - from));
        from = to;
    }
    auto taken = isEmpty ? Status{} : m_take(m_row);
    m_text.clear();
    m_ends.clear();
    return taken;
}

}  // namespace stepscope::importing
