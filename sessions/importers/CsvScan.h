// CsvScan: the rows of a CSV file that comes in pieces (RFC 4180: quotes, doubled quotes, line breaks within them; also LF or CR alone, a byte order
// mark, semicolons or tabs where the first line has those and no comma). A row takes the memory of its own text, which is bounded. Used by CsvLog.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/Result.h"

namespace stepscope::importing {

class CsvScan {
public:
    struct Row {
        std::int64_t line = 0, byte = 0;  // where it begins: from 1, from 0
        bool whole = true;                // false: the file ends in it, without a line break
        std::vector<std::string_view> fields;
    };
    // Of one row; text that holds for this call.
    using Take = std::function<Status(const Row&)>;

    CsvScan(std::string path, Take take) : m_path(std::move(path)), m_take(std::move(take)) {}

    // Errors name the file, the line and the byte.
    Status add(std::string_view piece);
    Status finish();  // what is behind the last line break is a row, too

    char separator() const { return m_separator; }
    Error wrongAt(std::int64_t line, std::int64_t byte, const std::string& why) const;

private:
    enum class In { FieldBegin, Field, Quoted, QuoteInQuoted };
    Status decide(bool all);
    Status scan(std::string_view text);
    Status character(char c);
    Status endRow(bool whole);
    void endField();

    const std::string m_path;
    const Take m_take;
    char m_separator = '\0';  // not known yet
    std::string m_first;      // until it is
    In m_in = In::FieldBegin;
    bool m_afterReturn = false;  // a line feed belongs to it
    std::string m_text;          // of the row
    std::vector<std::size_t> m_ends;
    Row m_row;
    std::int64_t m_line = 1, m_byte = 0, m_rowLine = 1, m_rowByte = 0;
};

}  // namespace stepscope::importing
