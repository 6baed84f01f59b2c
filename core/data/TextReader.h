// Text from the user's disk: a UTF-8 file, a folder of them, .jsonl (each may be packed as .zst), or parquet. Called while a corpus is opened.
#pragma once
#include <atomic>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/Result.h"
#include "core/data/FreeMemory.h"
#include "core/data/MappedFile.h"

namespace stepscope {

// What stands between two documents of .jsonl or parquet, and two files of a folder.
enum class Separator { BlankLine, EndOfText };

struct SourceText {
    std::string name;      // for sentences: the path as the person gave it
    std::string title;     // for the description: "notes.txt", "folder essays (12 files)"
    std::string note;      // what a person should know: "2 files skipped because they are not text: ..."; may be empty
    MappedFile file;       // the text lies here,
    std::string owned;     // or here when it was unpacked or put together
    std::size_t skip = 0;  // a byte order mark
    bool isCopy = false;   // `file` is none of the person's: room on the disk that is given back when it is let go

    std::string_view text() const { return (file.bytes().empty() ? std::string_view(owned) : file.bytes()).substr(skip); }
};

// Refuses empty, binary and non-UTF-8 files with one sentence that names the file and, where there is one, the byte.
// Of a folder (recursive, sorted by path, hidden files left out) such files are skipped, and the note says which.
// A plain file is mapped. What is unpacked, or put together of a folder, of lines of JSON or of parquet, goes into a file in `spoolFolder` when it is
// long (TextSpool.h); without such a folder it has to lie in RAM, and what `free` has no room for is refused. grew: called now and then, with the
// bytes of text that were read so far.
Result<SourceText> readText(const std::string& path, const std::atomic<bool>& cancelled, Bytes free = kUnbounded,
                            Separator separator = Separator::BlankLine, const std::string& spoolFolder = {},
                            const std::function<void(std::size_t)>& grew = {});

// Looks at the first `most` bytes (unpacked) of what readText would read, without keeping them: a sentence of readText's where they are enough to
// know that it would refuse. Of a folder whether there is any text in it, and the beginnings of those files that have to be good, `most` bytes of
// them together. Cancelled when `wanted`, asked every few megabytes at least, says no.
Status checkBeginning(const std::string& path, std::size_t most, const std::function<bool()>& wanted);

// The files that readText would read for it: itself, or of a folder the regular ones below it, hidden ones left out, in the order of their paths.
// Cancelled: `wanted`, asked now and then, says no.
Result<std::vector<std::filesystem::path>> filesOfText(const std::string& path, const std::function<bool()>& wanted = {});

// By its name: what it unpacks to is not known before. So of parquet.
bool isPackedText(const std::string& path);

// A regular file that readText maps and reads as it is: no .jsonl, no parquet, nothing packed, no ready tokens.
bool isPlainTextFile(const std::string& path);

}  // namespace stepscope
