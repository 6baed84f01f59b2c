#include "core/report/Markdown.h"

#include <fmt/format.h>

#include <algorithm>

namespace stepscope::report {
namespace {

// On one line, with every character that Markdown or HTML would take for its own written out.
std::string inlined(const std::string& text) {
    std::string safe;
    for (const char c : plainText(text)) {
        if (c == '\n' || c == '\t') {
            safe += ' ';
            continue;
        }
        if (c == '&') {
            safe += "&amp;";
            continue;
        }
        if (c == '<') {
            safe += "&lt;";
            continue;
        }
        if (std::string("\\`*_[]|#~>").find(c) != std::string::npos) safe += '\\';
        safe += c;
    }
    return safe;
}

// As a paragraph of its own: what would make a list or a rule of it is written out, and what would make code of it left out.
std::string paragraphOf(const std::string& text) {
    std::string safe = inlined(text);
    safe.erase(0, safe.find_first_not_of(' '));
    const auto ends = [&](std::size_t at) { return at >= safe.size() || safe[at] == ' '; };
    const std::size_t digits = std::min(safe.find_first_not_of("0123456789"), safe.size());
    if ((safe.starts_with('-') && (ends(1) || safe[1] == '-')) || (safe.starts_with('+') && ends(1)))
        safe.insert(0, 1, '\\');
    else if (digits > 0 && digits < safe.size() && (safe[digits] == '.' || safe[digits] == ')') && ends(digits + 1))
        safe.insert(digits, 1, '\\');
    return safe;
}

// A fence that is longer than any run of backticks within.
std::string fenceFor(const std::string& code) {
    std::size_t longest = 2, run = 0;
    for (const char c : code) {
        run = c == '`' ? run + 1 : 0;
        longest = std::max(longest, run);
    }
    return std::string(longest + 1, '`');
}

class MarkdownWriter {
public:
    std::string text;

    void operator()(const Heading& heading) { text += "## " + inlined(heading.text) + "\n\n"; }
    void operator()(const Paragraph& paragraph) { text += paragraphOf(paragraph.text) + "\n\n"; }
    void operator()(const Verdict& verdict) { text += "**" + inlined(verdict.text) + "**\n\n"; }
    void operator()(const Code& code) {
        const std::string plain = plainText(code.text), fence = fenceFor(plain);
        text += fence + "sh\n" + plain + "\n" + fence + "\n\n";
    }
    void operator()(const Table& table) {
        if (table.rows.empty()) return;
        const std::size_t columns = table.rows.front().size();
        row(table.head.empty() ? std::vector<std::string>(columns) : table.head);
        text += '|';
        for (std::size_t i = 0; i < columns; ++i) text += i < table.textColumns ? " --- |" : " ---: |";
        text += '\n';
        for (const auto& cells : table.rows) row(cells);
        text += '\n';
    }
    void operator()(const PairPicture& picture) {
        Table table{.head = {"pair", "built again", "ratio", "low", "high", ""}, .rows = {}, .textColumns = 0};
        for (std::size_t i = 0; i < picture.dots.size(); ++i) {
            const PairDot& dot = picture.dots[i];
            const bool known = dot.low > 0 && dot.high > 0;
            table.rows.push_back({std::to_string(i + 1), std::to_string(dot.group + 1), fmt::format("{:.4f}", dot.ratio),
                                  known ? fmt::format("{:.4f}", dot.low) : "", known ? fmt::format("{:.4f}", dot.high) : "",
                                  dot.leftOut ? "left out" : ""});
        }
        (*this)(table);
    }
    // The numbers of these two are in the table beside them.
    void operator()(const BarPicture&) {}
    void operator()(const SharePicture&) {}

private:
    void row(const std::vector<std::string>& cells) {
        text += '|';
        for (const std::string& cell : cells) text += ' ' + inlined(cell) + " |";
        text += '\n';
    }
};

}  // namespace

std::string toMarkdown(const Document& document) {
    MarkdownWriter writer;
    writer.text = "# " + inlined(document.title) + "\n\n";
    if (!document.subtitle.empty()) writer.text += paragraphOf(document.subtitle) + "\n\n";
    for (const Block& block : document.blocks) std::visit(writer, block);
    while (writer.text.ends_with("\n\n")) writer.text.pop_back();
    return writer.text;
}

}  // namespace stepscope::report
