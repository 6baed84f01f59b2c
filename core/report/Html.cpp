#include "core/report/Html.h"

#include <fmt/format.h>

#include "core/report/Svg.h"

namespace stepscope::report {
namespace {

const char* const kStyle = R"(
:root { color-scheme: light dark; --ground: #ffffff; --text: #1b1f24; --muted: #5b6470; --line: #d5dae0; --accent: #0b6bcb; --good: #12794a;
  --bad: #a4540a; --zone: #12794a22; --band: #0b6bcb2e; --code: #f2f4f7; }
@media (prefers-color-scheme: dark) { :root { --ground: #16191d; --text: #e6e9ed; --muted: #a0a9b4; --line: #363d46; --accent: #63b0ff;
  --good: #55c58f; --bad: #eaa860; --zone: #55c58f26; --band: #63b0ff33; --code: #20252b; } }
@media print { :root { --ground: #fff; --text: #000; --muted: #444; --line: #bbb; --accent: #0b6bcb; --good: #12794a; --bad: #a4540a;
  --zone: #12794a22; --band: #0b6bcb2e; --code: #f4f4f4; } body { max-width: none; margin: 0; } .wide { overflow: visible; } .wide td { white-space: normal; } h2, table, svg, pre { break-inside: avoid; } }
body { background: var(--ground); color: var(--text); font: 15px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; margin: 0; } h2 { font-size: 1.1rem; margin: 1.8rem 0 .4rem; } .sub { color: var(--muted); margin: .2rem 0 1.2rem; }
.verdict { font-size: 1.25rem; font-weight: 600; margin: 1rem 0; } .good { color: var(--good); } .bad { color: var(--bad); }
.wide { overflow-x: auto; } table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { text-align: right; padding: .25rem .7rem .25rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
th { color: var(--muted); font-weight: 500; } td { white-space: nowrap; }
.t { text-align: left; overflow-wrap: anywhere; white-space: normal; min-width: 8rem; }
pre { background: var(--code); padding: .6rem .8rem; white-space: pre-wrap; overflow-wrap: anywhere; border-radius: 4px; }
svg { width: 100%; height: auto; display: block; } svg text { fill: var(--muted); font: 12px system-ui, sans-serif; }
.axis { stroke: var(--line); } .one { stroke: var(--muted); stroke-dasharray: 4 3; } .zone { fill: var(--zone); } .band { fill: var(--band); }
.bar { fill: var(--accent); opacity: .75; } .bar.strong { opacity: 1; } .bar.open { fill: none; stroke: var(--muted); stroke-dasharray: 3 2; } .slower { fill: var(--bad); } .whisker { stroke: var(--text); stroke-width: 1.5; } svg .name { fill: var(--text); }
.group { fill: var(--muted); opacity: .07; } .dot { fill: var(--accent); } .left { fill: none; stroke: var(--muted); }
)";

class Writer {
public:
    std::string text;

    void operator()(const Heading& heading) { text += "<h2>" + escaped(heading.text) + "</h2>\n"; }
    void operator()(const Paragraph& paragraph) { text += "<p>" + escaped(paragraph.text) + "</p>\n"; }
    void operator()(const Verdict& verdict) {
        const char* tone = verdict.tone == Verdict::Tone::Good ? " good" : verdict.tone == Verdict::Tone::Bad ? " bad" : "";
        text += fmt::format("<p class=\"verdict{}\">{}</p>\n", tone, escaped(verdict.text));
    }
    void operator()(const Code& code) { text += "<pre>" + escaped(code.text) + "</pre>\n"; }
    void operator()(const Table& table) {
        text += "<div class=\"wide\"><table>\n";
        if (!table.head.empty()) row(table.head, "th", table.textColumns);
        for (const auto& cells : table.rows) row(cells, "td", table.textColumns);
        text += "</table></div>\n";
    }
    void operator()(const PairPicture& picture) { text += toSvg(picture); }
    void operator()(const BarPicture& picture) { text += toSvg(picture); }
    void operator()(const SharePicture& picture) { text += toSvg(picture); }

private:
    void row(const std::vector<std::string>& cells, const char* tag, std::size_t textColumns) {
        text += "<tr>";
        for (std::size_t i = 0; i < cells.size(); ++i)
            text += fmt::format("<{0}{1}>{2}</{0}>", tag, i < textColumns ? " class=\"t\"" : "", escaped(cells[i]));
        text += "</tr>\n";
    }
};

}  // namespace

std::string escaped(const std::string& text) {
    std::string safe;
    for (const char c : plainText(text)) {
        switch (c) {
            case '&':
                safe += "&amp;";
                break;
            case '<':
                safe += "&lt;";
                break;
            case '>':
                safe += "&gt;";
                break;
            case '"':
                safe += "&quot;";
                break;
            case '\'':
                safe += "&#39;";
                break;
            default:
                safe += c;
        }
    }
    return safe;
}

std::string toHtml(const Document& document) {
    Writer writer;
    writer.text = fmt::format(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width\">\n"
        "<title>{}</title>\n<style>{}</style>\n</head>\n<body>\n<h1>{}</h1>\n<p class=\"sub\">{}</p>\n",
        escaped(document.title), kStyle, escaped(document.title), escaped(document.subtitle));
    for (const Block& block : document.blocks) std::visit(writer, block);
    return writer.text + "</body>\n</html>\n";
}

}  // namespace stepscope::report
