// Table: rows of text with aligned columns for a person's terminal; numbers to the right. Main thread.
#pragma once
#include <string>
#include <vector>

namespace stepscope::cli {

class Table {
public:
    enum class Align { Left, Right };
    struct Column {
        std::string title;
        Align align = Align::Left;
    };

    explicit Table(std::vector<Column> columns) : m_columns(std::move(columns)) {}
    void add(std::vector<std::string> cells);  // as many as there are columns
    std::string text() const;

private:
    std::vector<Column> m_columns;
    std::vector<std::vector<std::string>> m_rows;
};

std::string relativeTime(std::int64_t unixMs, std::int64_t nowUnixMs);  // "3 min ago", "12 Nov 2025"

}  // namespace stepscope::cli
