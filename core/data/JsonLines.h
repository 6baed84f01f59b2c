// Reads .jsonl: one JSON object a line, whose field "text" is a document. It is fed the file's bytes in pieces, so that no more of it lies in memory
// than a line. Used by TextReader.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/Result.h"

namespace stepscope {

// Parsing a line takes a few times its length, so a longer one, which no document is, is refused unread.
constexpr std::size_t kLongestJsonLine = std::size_t{128} << 20;

class JsonLines {
public:
    // take: gets the documents in turn; what it fails with ends the reading. Errors name `name` and the number of the line.
    using Take = std::function<Status(std::string_view document)>;
    JsonLines(std::string name, Take take) : m_name(std::move(name)), m_take(std::move(take)) {}

    // The bytes that follow. A line costs the memory of itself and of its longest string, whatever it holds: no tree of it is built.
    Status more(std::string_view bytes);
    // Behind all bytes: the last line may be without its end.
    Status end();

    bool anyText() const { return m_anyText; }             // a document that is not empty
    std::int64_t mendedLines() const { return m_mended; }  // those in which half of a surrogate pair stood alone and was read as U+FFFD

private:
    Status line(std::string_view line);
    Status hold(std::string_view beginning);
    Error wrong(std::string_view what, std::string cause = {}) const;
    Error tooLong() const;
    Status check(std::string_view line) const;

    std::string m_name;
    Take m_take;
    std::string m_held;  // of a line whose end has not come
    std::int64_t m_number = 1, m_mended = 0;
    bool m_anyText = false;
};

}  // namespace stepscope
