// Any bytes as .jsonl: texts that are valid UTF-8, or one sentence; the same ones in pieces, as the first byte cuts them.
#include <string>

#include "core/base/Check.h"
#include "core/data/JsonLines.h"
#include "core/data/tokenizers/Utf8.h"

namespace {

std::string said(std::string_view lines, std::size_t piece) {
    std::string all;
    stepscope::JsonLines reader("fuzz.jsonl", [&all](std::string_view text) {
        SS_CHECK(stepscope::utf8::findInvalid(text) == std::string::npos);
        all.append(text) += '\0';
        return stepscope::Status{};
    });
    stepscope::Status read;
    for (; read.ok() && !lines.empty(); lines.remove_prefix(std::min(piece, lines.size()))) read = reader.more(lines.substr(0, piece));
    if (read.ok()) read = reader.end();
    if (read.ok()) return all;
    SS_CHECK(read.error().sentence.find(" line ") != std::string::npos);
    return all + read.error().sentence;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    if (size == 0) return 0;
    const std::string_view lines(reinterpret_cast<const char*>(bytes) + 1, size - 1);
    SS_CHECK(said(lines, std::string_view::npos) == said(lines, bytes[0] + 1U));
    return 0;
}
