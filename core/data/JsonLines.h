// Reads .jsonl: one JSON object a line, whose field "text" is a document. Used by TextReader.
#pragma once
#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/Result.h"

namespace stepscope {

struct JsonLinesText {
    std::string text;         // the documents, `separator` between two of them
    std::int64_t mended = 0;  // lines in which half of a surrogate pair stood alone and was read as U+FFFD
};

// Parsing a line takes a few times its length, so a longer one, which no document is, is refused unread.
constexpr std::size_t kLongestJsonLine = std::size_t{128} << 20;

// Errors name `name` and the line number; the first of `lines` has the number `firstLine`. A line costs the memory of its longest string, whatever it
// holds: no tree of it is built.
Result<JsonLinesText> textOfJsonLines(std::string_view lines, const std::string& name, const std::string& separator,
                                      const std::atomic<bool>& cancelled, std::int64_t firstLine = 1);

}  // namespace stepscope
