// What stepscope-parquet writes to its stdout and ParquetTexts.cpp reads: frames of a letter, a length of 32 bits and as many bytes. The last one is
// Done or Failed; without it the reader broke off. Both sides are built together, so there is no version.
#pragma once
#include <cstdint>

namespace stepscope::parquet_frames {

enum Kind : char {
    Text = 'T',    // of one row
    Done = 'D',    // 8 bytes: rows without a text (null), little-endian
    Failed = 'E',  // the rest of a sentence that begins with the file's name
};

#pragma pack(push, 1)
struct Head {
    char kind = 0;
    std::uint32_t bytes = 0;
};
#pragma pack(pop)
static_assert(sizeof(Head) == 5);

// A text of a row that is longer is refused, as a line of .jsonl is.
constexpr std::uint32_t kLongestText = std::uint32_t{128} << 20;
constexpr std::uint32_t kLongestSentence = 2000;

}  // namespace stepscope::parquet_frames
