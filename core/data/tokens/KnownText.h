// What the text of a token cache was put together of: the files of a folder, lines of JSON, parquet, what was packed. Beside PATH.bin lies
// PATH.bin.sources, and while those files are the same, the tokens are taken without putting the text together again. Used by Corpus and
// TokenCacheFolder; any thread.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "core/data/Hash128.h"

namespace stepscope {

// Files as the system tells of them, nothing of them is read: name, device, inode, size, and to the nanosecond when they were modified and changed.
// The time of a change cannot be set back by who writes a file, so an edit shows even where the time of modification was.
struct FilesSeen {
    Hash128 hash;
    std::int64_t newestNs = 0;  // since 1970: when the one changed last was
    std::uint64_t bytes = 0;    // of all of them
    bool packed = false;        // some are, so that their text is longer
};
// Of a text at `path`, a file or a folder of them; `how` it is read is a part of the hash. Nothing: it is not there, cannot be told, or `wanted`,
// asked now and then, says no.
std::optional<FilesSeen> filesSeen(const std::string& path, std::string_view how, const std::function<bool()>& wanted = {});
// What was written within the smallest time that a file system tells apart, or into memory that the file is mapped to, may look the same before and
// after. Of files that none has changed for `forNs` nothing of the kind is to be feared.
constexpr std::int64_t kSettledNs = 60'000'000'000;
bool isSettled(const FilesSeen& files, std::int64_t forNs);
std::int64_t nowForFilesNs();  // by the clock that files are stamped with

struct KnownText {
    Hash128 files;            // FilesSeen::hash
    Hash128 text;             // of the whole text
    std::string title, note;  // SourceText's
    // Not 0: the files were not settled then, and this is when it was put together. Whoever has been opening the text since before that may take it:
    // what it would read itself is no newer.
    std::int64_t unsettledAtNs = 0;
    std::string tokenizer = {};  // Tokenizer::toJson() of one that was counted in the text (char), which nobody has beforehand; else empty
    bool operator==(const KnownText&) const = default;
};
// Beside the token cache at `cache`. What cannot be written is left out: the text is then put together again.
void rememberText(const std::string& cache, const KnownText& known);
// In the folder of token caches, by its files, for who has been opening it since then.
std::optional<KnownText> rememberedText(const std::string& folder, const Hash128& files, std::int64_t sinceNs);
std::string sourcesPath(const std::string& cache);
// What is locked by who puts the text of these files together (OneMaker.h).
std::string makingPath(const std::string& folder, const Hash128& files);
// What lies in such a file, and back.
std::string knownTextJson(const KnownText& known);
std::optional<KnownText> parseKnownText(std::string_view json);

}  // namespace stepscope
