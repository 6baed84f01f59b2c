#include "core/data/JsonLines.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/base/Format.h"
#include "core/base/JsonDepth.h"

namespace stepscope {
namespace {

using nlohmann::json;

// Keeps the field "text" of the outermost object and nothing else.
class TextField final : public nlohmann::json_sax<json> {
public:
    std::optional<std::string> text;
    bool object = false, found = false, tooDeep = false;
    std::string problem;

    bool null() override { return value(); }
    bool boolean(bool) override { return value(); }
    bool number_integer(number_integer_t) override { return value(); }
    bool number_unsigned(number_unsigned_t) override { return value(); }
    bool number_float(number_float_t, const string_t&) override { return value(); }
    bool binary(binary_t&) override { return value(); }
    bool string(string_t& held) override {
        if (m_depth == 1 && m_isText) text = std::move(held);
        return value();
    }
    bool key(string_t& name) override {
        if (m_depth == 1) m_isText = name == "text";
        if (m_depth == 1 && m_isText) {
            found = true;
            text.reset();  // of two fields of that name the last one counts, as everywhere
        }
        return true;
    }
    bool start_object(std::size_t) override {
        object |= m_depth == 0;
        return deeper();
    }
    bool start_array(std::size_t) override { return deeper(); }
    bool end_object() override { return shallower(); }
    bool end_array() override { return shallower(); }
    bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception& what) override {
        problem = what.what();
        return false;
    }

private:
    bool value() { return true; }
    bool deeper() {
        tooDeep = ++m_depth > kDeepestJson;
        return !tooDeep;
    }
    bool shallower() {
        --m_depth;
        return true;
    }

    std::size_t m_depth = 0;
    bool m_isText = false;
};

// The four hexadecimal digits of "\\uXXXX" at `at`; nothing where there are none.
std::optional<unsigned> escapeAt(std::string_view line, std::size_t at) {
    if (at + 6 > line.size() || line[at] != '\\' || line[at + 1] != 'u') return std::nullopt;
    unsigned code = 0;
    for (const char c : line.substr(at + 2, 4)) {
        const int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
        if (digit < 0) return std::nullopt;
        code = code * 16 + static_cast<unsigned>(digit);
    }
    return code;
}

// The line with "\\ufffd" in place of each half of a surrogate pair that stands alone, as Python's json writes them; nothing where there is none.
std::optional<std::string> withoutHalves(std::string_view line) {
    std::string mended(line);
    bool any = false;
    for (std::size_t at = 0; at < line.size(); ++at) {
        if (line[at] != '\\') continue;
        const auto code = escapeAt(line, at);
        if (!code) {
            ++at;  // the character that is escaped
            continue;
        }
        const auto next = escapeAt(line, at + 6);
        const bool first = *code >= 0xD800 && *code <= 0xDBFF, second = *code >= 0xDC00 && *code <= 0xDFFF;
        if (first && next && *next >= 0xDC00 && *next <= 0xDFFF) {
            at += 11;
            continue;
        }
        if (first || second) {
            mended.replace(at, 6, "\\ufffd");
            any = true;
        }
        at += 5;
    }
    return any ? std::optional(std::move(mended)) : std::nullopt;
}

}  // namespace

Result<JsonLinesText> textOfJsonLines(std::string_view lines, const std::string& name, const std::string& separator,
                                      const std::atomic<bool>& cancelled, std::int64_t firstLine) {
    JsonLinesText all;
    const std::size_t most = lines.size();
    bool first = true, anyText = false;
    for (std::int64_t number = firstLine; !lines.empty(); ++number) {
        if (cancelled) return makeError(ErrorCode::Cancelled, fmt::format("Reading {} was cancelled.", name));
        const std::size_t end = std::min(lines.find('\n'), lines.size());
        const std::string_view line = lines.substr(0, end);
        lines.remove_prefix(std::min(end + 1, lines.size()));
        const std::size_t begin = line.find_first_not_of(" \t\r");
        if (begin == std::string_view::npos) continue;

        const auto wrong = [&](const char* what, std::string cause = {}) {
            return makeError(ErrorCode::BadInput,
                             fmt::format("{} line {} {}; each line must be an object like {{\"text\": \"...\"}}.", name, number, what),
                             std::move(cause));
        };
        if (line[begin] == '[')
            return wrong(number == 1 ? "begins a JSON array, so this is no .jsonl: jq -c '.[]' makes one of it"
                                     : "is a JSON array and not an object");
        if (line.size() > kLongestJsonLine) {
            static const std::string tooLong = "is longer than " + format::bytes({static_cast<std::int64_t>(kLongestJsonLine)});
            return wrong(tooLong.c_str());
        }
        TextField parsed;
        bool good = json::sax_parse(line, &parsed);
        if (!good && !parsed.tooDeep) {
            if (const auto mended = withoutHalves(line)) {
                parsed = {};
                good = json::sax_parse(*mended, &parsed);
                all.mended += good ? 1 : 0;
            }
        }
        if (parsed.tooDeep) return wrong("nests its brackets deeper than any document does");
        if (!good) return wrong("is not JSON", parsed.problem);
        if (!parsed.object) return wrong("is not an object");
        if (!parsed.found) return wrong("has no field \"text\"");
        if (!parsed.text) return wrong("has a field \"text\" that is not a string");
        if (first) all.text.reserve(most);  // once it is known that these are lines of JSON
        if (!first) all.text += separator;
        first = false;
        anyText |= !parsed.text->empty();
        all.text += *parsed.text;
    }
    if (!anyText) all.text.clear();  // separators alone are nothing to train on
    return all;
}

}  // namespace stepscope
