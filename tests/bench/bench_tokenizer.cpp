// How fast GPT-2's tokens are made, on one thread. Called by tests/bench/tokenizing: bench_tokenizer FILE REPEATS reads pieces of text (a line with
// the number of bytes, then these), makes the tokens of all of them so many times and prints a line of JSON: {"seconds": [of each time], "ids": [of
// the first few of each piece], "tokens": in all}.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "core/data/MappedFile.h"
#include "core/data/tokenizers/Tokenizer.h"

namespace stepscope {
namespace {

constexpr std::size_t kCompared = 50;  // ids of a piece

[[noreturn]] void give(const std::string& sentence) {
    fmt::print(stderr, "{}\n", sentence);
    std::exit(2);
}

std::vector<std::string_view> piecesOf(std::string_view file) {
    std::vector<std::string_view> pieces;
    while (!file.empty()) {
        std::size_t bytes = 0;
        const std::size_t line = file.find('\n');
        if (line == std::string_view::npos || std::from_chars(file.data(), file.data() + line, bytes).ptr != file.data() + line ||
            bytes > file.size() - line - 1)
            give("The file does not hold pieces, each behind a line with its number of bytes.");
        pieces.push_back(file.substr(line + 1, bytes));
        file.remove_prefix(line + 1 + bytes);
    }
    return pieces;
}

int run(const char* path, int repeats) {
    const auto file = MappedFile::open(path);
    if (!file) give(file.error().sentence);
    const auto tokenizer = gpt2Tokenizer();
    if (!tokenizer) give(tokenizer.error().sentence);
    const auto pieces = piecesOf(file->bytes());
    std::vector<double> seconds;
    std::vector<std::vector<std::int32_t>> ids;
    std::size_t tokens = 0;
    for (int repeat = 0; repeat < repeats; ++repeat) {
        const auto begin = std::chrono::steady_clock::now();
        for (const std::string_view piece : pieces) {
            auto made = (*tokenizer)->encode(piece);
            if (!made) give(made.error().sentence);
            if (repeat > 0) continue;
            tokens += made->size();
            made->resize(std::min(made->size(), kCompared));
            ids.push_back(std::move(*made));
        }
        seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    }
    fmt::print("{{\"seconds\": {}, \"tokens\": {}, \"ids\": {}}}\n", seconds, tokens, ids);
    return 0;
}

}  // namespace
}  // namespace stepscope

int main(int count, char** words) {
    if (count != 3) {
        fmt::print(stderr, "bench_tokenizer FILE REPEATS\n");
        return 2;
    }
    return stepscope::run(words[1], std::max(1, std::atoi(words[2])));
}
