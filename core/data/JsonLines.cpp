#include "core/data/JsonLines.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "core/base/Format.h"
#include "core/base/JsonDepth.h"

namespace stepscope {
namespace {

using nlohmann::json;

constexpr std::string_view kSpaces = " \t\r";

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

Error JsonLines::wrong(std::string_view what, std::string cause) const {
    return makeError(ErrorCode::BadInput,
                     fmt::format("{} line {} {}; each line must be an object like {{\"text\": \"...\"}}.", m_name, m_number, what), std::move(cause));
}

// What is known of a line, or of the beginning of one, before it is parsed.
Status JsonLines::check(std::string_view line) const {
    const std::size_t begin = line.find_first_not_of(kSpaces);
    if (begin != std::string_view::npos && line[begin] == '[')
        return wrong(m_number == 1 ? "begins a JSON array, so this is no .jsonl: jq -c '.[]' makes one of it" : "is a JSON array and not an object");
    if (begin != std::string_view::npos && line.size() > kLongestJsonLine) return tooLong();
    return {};
}

Error JsonLines::tooLong() const {
    return wrong("is longer than " + format::bytes({static_cast<std::int64_t>(kLongestJsonLine)}));
}

Status JsonLines::line(std::string_view line) {
    if (auto checked = check(line); !checked) return checked;
    if (line.find_first_not_of(kSpaces) == std::string_view::npos) return {};
    TextField parsed;
    bool good = json::sax_parse(line, &parsed);
    if (!good && !parsed.tooDeep) {
        if (const auto mended = withoutHalves(line)) {
            parsed = {};
            good = json::sax_parse(*mended, &parsed);
            m_mended += good ? 1 : 0;
        }
    }
    if (parsed.tooDeep) return wrong("nests its brackets deeper than any document does");
    if (!good) return wrong("is not JSON", parsed.problem);
    if (!parsed.object) return wrong("is not an object");
    if (!parsed.found) return wrong("has no field \"text\"");
    if (!parsed.text) return wrong("has a field \"text\" that is not a string");
    m_anyText |= !parsed.text->empty();
    return m_take(*parsed.text);
}

Status JsonLines::hold(std::string_view beginning) {
    if (m_held.empty()) beginning.remove_prefix(std::min(beginning.find_first_not_of(kSpaces), beginning.size()));
    if (m_held.empty())
        if (auto checked = check(beginning); !checked) return checked;
    if (m_held.size() + beginning.size() > kLongestJsonLine) return tooLong();
    m_held += beginning;
    return {};
}

Status JsonLines::more(std::string_view bytes) {
    while (!bytes.empty()) {
        const std::size_t end = bytes.find('\n');
        if (end == std::string_view::npos) return hold(bytes);
        if (!m_held.empty())
            if (auto held = hold(bytes.substr(0, end)); !held) return held;
        if (auto read = line(m_held.empty() ? bytes.substr(0, end) : std::string_view(m_held)); !read) return read;
        m_held.clear();
        bytes.remove_prefix(end + 1);
        ++m_number;
    }
    return {};
}

Status JsonLines::end() {
    return line(std::exchange(m_held, {}));
}

}  // namespace stepscope
