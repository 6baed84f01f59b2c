#include "core/data/TextReader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <utility>
#include <vector>

#include "core/base/Format.h"
#include "core/base/Utf8.h"
#include "core/data/Corpus.h"
#include "core/data/JsonLines.h"
#include "core/data/ParquetTexts.h"
#include "core/data/TextCheck.h"
#include "core/data/TextSpool.h"
#include "core/data/Zstd.h"
#include "core/data/tokenizers/Tokenizer.h"

namespace stepscope {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kNamedInNote = 3;
constexpr std::size_t kPieceLooked = 4 << 20;   // between two questions whether anybody still wants to know
constexpr std::size_t kToldOfCheck = 64 << 20;  // bytes between two words of how far it is

std::string extensionOf(const fs::path& path) {
    std::string extension = path.extension().string();
    std::ranges::transform(extension, extension.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return extension;
}

bool isPacked(const fs::path& path) {
    return extensionOf(path) == ".zst";
}

// Of what is packed, what it is unpacked.
std::string kindOf(const fs::path& path) {
    return extensionOf(isPacked(path) ? path.stem() : path);
}

bool isJsonLines(const fs::path& path) {
    return kindOf(path) == ".jsonl" || kindOf(path) == ".ndjson";
}

bool isParquet(const fs::path& path) {
    return kindOf(path) == ".parquet";
}

// Where files of this kind stand in a folder they are meant, and what is wrong with them is a mistake to mend; a picture among texts is not.
bool mustBeGood(const fs::path& path) {
    return isJsonLines(path) || isPacked(path) || isParquet(path);
}

Error cancelledReading(const std::string& path) {
    return makeError(ErrorCode::Cancelled, fmt::format("Reading {} was cancelled.", path));
}

Error packedTokens(const std::string& path) {
    return makeError(ErrorCode::BadInput,
                     fmt::format("{} holds packed {}; unpack it with zstd -d.", path,
                                 isParquet(path) ? "parquet, which is packed in itself" : "tokens, and tokens are mapped from the disk"));
}

// Neither is unpacked: what lies in it is read from the disk, place by place.
bool isPackedInVain(const std::string& path) {
    return isPacked(path) && (kindOf(path) == ".bin" || isParquet(path));
}

Error noRowHoldsText(const std::string& path) {
    return makeError(ErrorCode::BadInput, fmt::format("{} is empty: no row holds a text in its column \"text\".", path));
}

Error noLineHoldsText(const std::string& path) {
    return makeError(ErrorCode::BadInput, fmt::format("{} is empty: no line holds a text.", path));
}

Error noTextIn(const std::string& folder, std::size_t files) {
    return makeError(
        ErrorCode::BadInput,
        fmt::format("The folder {} is empty of text: none of its {} files is UTF-8 text or .jsonl (name a .bin of tokens itself).", folder, files));
}

// Documents one after the other into a spool, what stands between two of them before each but the first.
class Documents {
public:
    // Where all of it has to lie in RAM, what `free` has no room for is refused.
    Documents(TextSpool& into, std::string name, Bytes free, Separator separator)
        : m_into(into), m_name(std::move(name)), m_free(free), m_between(separator == Separator::EndOfText ? kEndOfText : "\n\n") {}

    Status add(std::string_view text) {
        const auto size = static_cast<std::int64_t>(m_into.size() + (m_first ? 0 : m_between.size()) + text.size());
        if (m_into.onlyInRam() && size > mostThatGrows(m_free).count)
            return noRoom(fmt::format("The texts of {} are put together in RAM, where they are more than {}", m_name, format::bytes({size})), m_free,
                          "make a folder for the cache of tokens usable, or give fewer");
        if (!std::exchange(m_first, false))
            if (auto put = m_into.append(m_between); !put) return put;
        return m_into.append(text);
    }

private:
    TextSpool& m_into;
    std::string m_name;
    Bytes m_free;
    std::string_view m_between;
    bool m_first = true;
};

std::string leftOut(std::int64_t rows, const std::string& path) {
    if (rows == 0) return {};
    return fmt::format("{} row{} of {} held no text and {} left out", format::count(rows), rows == 1 ? "" : "s", path, rows == 1 ? "was" : "were");
}

std::string mended(std::int64_t lines) {
    if (lines == 0) return {};
    return fmt::format("{} line{} held half of a surrogate pair alone, read as U+FFFD", format::count(lines), lines == 1 ? "" : "s");
}

// The texts of all rows; what a person should know of them.
Result<std::string> appendParquet(const std::string& path, const std::atomic<bool>& cancelled, Documents documents) {
    bool anyText = false;
    const std::function<bool()> isCancelled = [&cancelled] { return cancelled.load(); };
    const auto rows = readParquet(path, isCancelled, [&](std::string_view text) -> Result<bool> {
        anyText |= !text.empty();
        if (auto added = documents.add(text); !added) return added.error();
        return true;
    });
    if (!rows) return rows.error();
    if (!anyText) return noRowHoldsText(path);
    return leftOut(rows->nulls, path);
}

// What a file holds, in pieces: as it is, or unpacked.
Status eachPiece(const MappedFile& file, const std::string& path, const std::atomic<bool>& cancelled, std::size_t most,
                 const std::function<Status(std::string_view)>& take) {
    if (isPacked(path)) {
        const std::function<Result<bool>(std::string_view)> takeMore = [&take](std::string_view piece) -> Result<bool> {
            if (auto taken = take(piece); !taken) return taken.error();
            return true;
        };
        return eachUnpacked(
            file.bytes(), path, [&cancelled] { return cancelled.load(); }, takeMore, most);
    }
    for (std::string_view left = file.bytes(); !left.empty(); left.remove_prefix(std::min(kPieceLooked, left.size()))) {
        if (cancelled) return cancelledReading(path);
        if (auto taken = take(left.substr(0, kPieceLooked)); !taken) return taken;
        file.letGo(left.substr(0, kPieceLooked));
    }
    return {};
}

Status takeText(TextSpool& spool, SourceText& into) {
    auto text = spool.finish();
    if (!text) return text.error();
    into.file = std::move(text->file);
    into.owned = std::move(text->owned);
    into.isCopy = !into.file.bytes().empty();
    return {};
}

// How the texts of a run are read.
struct Reading {
    const std::atomic<bool>& cancelled;
    Bytes free;
    Separator separator;
    std::string spoolFolder;
    std::function<void(std::size_t)> grew;
};

Error wasCutShort(const std::string& path) {
    return makeError(ErrorCode::Io, fmt::format("{} was cut short by another program while it was read; start the run again.", path));
}

// The whole of a text, however long.
Status checkAll(const MappedFile& file, std::string_view text, const std::string& path, const Reading& reading) {
    TextCheck check(text, path);
    Status good;
    for (std::size_t looked = 0; good && !check.done(); looked += kPieceLooked) {
        if (reading.cancelled) return cancelledReading(path);
        if (reading.grew && looked > 0 && looked % kToldOfCheck == 0) reading.grew(looked);
        const std::size_t before = check.looked();
        good = check.more(kPieceLooked);
        file.letGo(text.substr(before, check.looked() - before));
    }
    if (file.cutShort()) return wasCutShort(path);
    return good;
}

// Of what is unpacked.
std::size_t mostOf(const TextSpool& spool, Bytes free) {
    return spool.onlyInRam() ? std::min(kMostUnpacked, static_cast<std::size_t>(std::max<std::int64_t>(0, mostThatGrows(free).count)))
                             : std::string::npos;
}

// The documents of all lines; what a person should know of them.
Result<std::string> appendJsonLines(const MappedFile& file, const std::string& path, const Reading& reading, TextSpool& spool) {
    Documents documents(spool, path, reading.free, reading.separator);
    JsonLines lines(path, [&documents](std::string_view text) { return documents.add(text); });
    Status read =
        eachPiece(file, path, reading.cancelled, mostOf(spool, reading.free), [&lines](std::string_view piece) { return lines.more(piece); });
    if (read.ok()) read = lines.end();
    if (file.cutShort()) return wasCutShort(path);
    if (!read) return read.error();
    if (!lines.anyText()) return noLineHoldsText(path);  // separators alone are nothing to train on
    return mended(lines.mendedLines());
}

Result<SourceText> readParquetFile(const std::string& path, const Reading& reading) {
    if (auto file = MappedFile::open(path); !file) return file.error();  // it is there, may be read, and is no pipe
    TextSpool spool(reading.spoolFolder, reading.free);
    spool.tell(reading.grew);
    auto note = appendParquet(path, reading.cancelled, {spool, path, reading.free, reading.separator});
    if (!note) return note.error();
    SourceText source{.name = path, .title = path, .note = std::move(*note)};
    if (auto taken = takeText(spool, source); !taken) return taken.error();
    return source;
}

Result<SourceText> readOne(const std::string& path, const Reading& reading) {
    if (isPackedInVain(path)) return packedTokens(path);
    auto file = MappedFile::open(path);
    if (!file) return file.error();
    SourceText source{.name = path, .title = path};
    TextSpool spool(reading.spoolFolder, reading.free);
    spool.tell(reading.grew);
    if (isJsonLines(path) && !file->bytes().empty()) {
        auto note = appendJsonLines(*file, path, reading, spool);
        if (!note) return note.error();
        source.note = std::move(*note);
        if (auto taken = takeText(spool, source); !taken) return taken.error();
        return source;
    }
    if (isPacked(path)) {
        const Status read =
            eachPiece(*file, path, reading.cancelled, mostOf(spool, reading.free), [&spool](std::string_view piece) { return spool.append(piece); });
        if (file->cutShort()) return wasCutShort(path);
        if (!read) return read.error();
        if (auto taken = takeText(spool, source); !taken) return taken.error();
    } else {
        source.file = std::move(*file);
    }
    if (auto checked = checkAll(source.file, source.text(), path, reading); !checked) return checked.error();
    if (source.text().starts_with(kByteOrderMark)) source.skip = kByteOrderMark.size();
    return source;
}

// size: of what was put together of the folder's texts, with that of `path`.
Error noRoomFor(const std::string& folder, std::int64_t size, const std::string& path, const Reading& reading) {
    return noRoom(fmt::format("The texts of {} are put together in RAM, where they are {} with {} and are copied as they grow", folder,
                              format::bytes({size}), fs::path(path).lexically_relative(folder).string()),
                  reading.free, "join the files into one (cat), which is mapped, or give fewer");
}

// A plain file of a folder goes where the rest goes while it is looked at, for a long one is read from the disk each time, and out of there again
// where it turns out to be no text: then BadInput. Where there is RAM alone it is looked at first, and has to fit.
Status appendPlain(const std::string& path, const std::string& folder, std::string_view between, const Reading& reading, TextSpool& spool) {
    auto file = MappedFile::open(path);
    if (!file) return file.error();
    if (spool.onlyInRam()) {
        if (auto good = checkAll(*file, file->bytes(), path, reading); !good) return good;
        const auto size = static_cast<std::int64_t>(spool.size() + between.size() + file->bytes().size());
        if (size > mostThatGrows(reading.free).count) return noRoomFor(folder, size, path, reading);
    }
    const std::size_t before = spool.size();
    std::string_view left = file->bytes();
    TextCheck check(left, path);
    Status good = spool.append(between);
    if (left.starts_with(kByteOrderMark)) left.remove_prefix(kByteOrderMark.size());
    while (good && !check.done()) {
        if (reading.cancelled) return cancelledReading(path);
        good = check.more(kPieceLooked);
        const std::string_view piece = left.substr(0, left.size() - std::min(left.size(), file->bytes().size() - check.looked()));
        if (good) good = spool.append(piece);
        file->letGo(piece);
        left.remove_prefix(piece.size());
    }
    if (file->cutShort()) return wasCutShort(path);
    if (!good && good.error().code == ErrorCode::BadInput)
        if (auto cut = spool.cutTo(before); !cut) return cut;
    return good;
}

// Regular files below `folder`, hidden ones left out, in the order of their paths.
Result<std::vector<fs::path>> filesBelow(const std::string& folder, const std::function<bool()>& wanted) {
    constexpr std::size_t kEntriesAtOnce = 256;
    std::vector<fs::path> files;
    std::error_code problem;
    std::size_t entries = 0;
    for (fs::recursive_directory_iterator at(folder, problem), end; !problem && at != end; at.increment(problem)) {
        if (wanted && ++entries % kEntriesAtOnce == 0 && !wanted()) return cancelledReading(folder);
        std::error_code ignored;
        const bool hidden = at->path().filename().string().starts_with('.');
        if (hidden && at->is_directory(ignored)) at.disable_recursion_pending();
        if (!hidden && at->is_regular_file(ignored)) files.push_back(at->path());
    }
    if (problem) return makeError(ErrorCode::Io, fmt::format("The folder {} cannot be read: {}.", folder, problem.message()), problem.message());
    std::ranges::sort(files);
    return files;
}

Result<SourceText> readFolder(const std::string& folder, const Reading& reading) {
    auto files = filesBelow(folder, [&reading] { return !reading.cancelled; });
    if (!files) return files.error();
    TextSpool spool(reading.spoolFolder, reading.free);
    spool.tell(reading.grew);
    std::vector<std::string> skipped, notes;
    std::size_t used = 0;
    const char* between = reading.separator == Separator::EndOfText ? kEndOfText : "\n";
    for (const auto& path : *files) {
        if (reading.cancelled) return cancelledReading(folder);
        if (isParquet(path) && !isPacked(path)) {
            if (auto put = used++ > 0 ? spool.append(between) : Status{}; !put) return put.error();
            auto note = appendParquet(path.string(), reading.cancelled, {spool, path.string(), reading.free, reading.separator});
            if (!note) return note.error();
            if (!note->empty()) notes.push_back(std::move(*note));
            continue;
        }
        // What is unpacked of a line at a time goes where all of it shall be, and not by a file of its own.
        if (std::error_code ignored; isJsonLines(path) && fs::file_size(path, ignored) > 0 && !ignored) {
            const auto file = MappedFile::open(path.string());
            if (!file) return file.error();
            if (auto put = used++ > 0 ? spool.append(between) : Status{}; !put) return put.error();
            const auto note = appendJsonLines(*file, path.string(), reading, spool);
            if (!note) return note.error();
            if (!note->empty()) notes.push_back(fmt::format("{}: {}", path.lexically_relative(folder).string(), *note));
            continue;
        }
        if (!mustBeGood(path)) {
            const Status put = appendPlain(path.string(), folder, used > 0 ? between : "", reading, spool);
            if (put) ++used;
            if (!put && put.error().code != ErrorCode::BadInput) return put.error();
            if (!put) skipped.push_back(path.lexically_relative(folder).string());
            continue;
        }
        const auto held = static_cast<std::int64_t>(spool.inRam());
        const auto grew = [&](std::size_t bytes) {
            if (reading.grew) reading.grew(spool.size() + bytes);
        };
        auto one = readOne(path.string(), {reading.cancelled, {reading.free.count - held}, reading.separator, reading.spoolFolder, grew});
        if (!one) return one.error();
        const std::int64_t size = held + static_cast<std::int64_t>(one->text().size()) + 1;
        if (spool.onlyInRam() && size > mostThatGrows(reading.free).count - static_cast<std::int64_t>(one->owned.size()))
            return noRoomFor(folder, size, path.string(), reading);
        if (auto put = used++ > 0 ? spool.append(between) : Status{}; !put) return put.error();
        for (std::string_view left = one->text(); !left.empty(); left.remove_prefix(std::min(kPieceLooked, left.size()))) {
            if (reading.cancelled) return cancelledReading(folder);
            if (auto put = spool.append(left.substr(0, kPieceLooked)); !put) return put.error();
        }
        if (!one->note.empty()) notes.push_back(fmt::format("{}: {}", path.lexically_relative(folder).string(), one->note));
    }
    if (used == 0) return noTextIn(folder, files->size());
    SourceText all{.name = folder};
    if (auto taken = takeText(spool, all); !taken) return taken.error();
    all.title = fmt::format("folder {} ({} file{})", folder, used, used == 1 ? "" : "s");
    if (!skipped.empty()) {
        const auto named = std::min(skipped.size(), kNamedInNote);
        notes.push_back(fmt::format("{} skipped that {} not UTF-8 text: {}{}",
                                    skipped.size() == 1 ? "1 file" : fmt::format("{} files", skipped.size()), skipped.size() == 1 ? "is" : "are",
                                    fmt::join(skipped.begin(), skipped.begin() + static_cast<std::ptrdiff_t>(named), ", "),
                                    skipped.size() > named ? ", ..." : ""));
    }
    if (notes.size() > kNamedInNote) {
        const std::size_t more = notes.size() - kNamedInNote;
        notes.resize(kNamedInNote);
        notes.push_back(fmt::format("and {} files more of which something was left out", more));
    }
    all.note = fmt::format("{}", fmt::join(notes, "; "));
    return all;
}

// `beginning` of all lines, in pieces.
Status checkLines(std::string_view beginning, bool isWhole, const std::string& path, const std::function<bool()>& wanted) {
    JsonLines lines(path, [](std::string_view) { return Status{}; });
    for (; !beginning.empty(); beginning.remove_prefix(std::min(kPieceLooked, beginning.size()))) {
        if (!wanted()) return cancelledReading(path);
        if (auto good = lines.more(beginning.substr(0, kPieceLooked)); !good) return good;
    }
    if (!isWhole) return {};
    if (auto good = lines.end(); !good) return good;
    return lines.anyText() ? Status{} : noLineHoldsText(path);
}

Status checkLetters(std::string_view text, bool isWhole, const std::string& path, const std::function<bool()>& wanted) {
    // Where it was cut stands part of a letter, which is no mistake of the text.
    const auto last = [&] { return static_cast<unsigned char>(text.back()); };
    for (int i = 0; !isWhole && i < 3 && !text.empty() && (last() & 0xC0) == 0x80; ++i) text.remove_suffix(1);
    if (!isWhole && !text.empty() && last() >= 0xC0) text.remove_suffix(1);
    TextCheck check(text, path);
    Status good;
    while (good && !check.done()) {
        if (!wanted()) return cancelledReading(path);
        good = check.more(kPieceLooked);
    }
    return good;
}

Status checkRows(const std::string& path, std::size_t most, const std::function<bool()>& wanted, std::size_t& looked) {
    if (auto file = MappedFile::open(path); !file) return file.error();
    bool anyText = false;
    std::size_t here = 0;
    const auto rows = readParquet(
        path, [&wanted] { return !wanted(); },
        [&](std::string_view text) -> Result<bool> {
            anyText |= !text.empty();
            return (here += text.size()) < most;
        });
    looked += here;
    if (!rows) return rows.error();
    return anyText ? Status{} : noRowHoldsText(path);
}

// looked: grows by the bytes that were looked at, as they are unpacked.
Status checkBeginningOfOne(const std::string& path, std::size_t most, const std::function<bool()>& wanted, std::size_t& looked) {
    if (isPackedInVain(path)) return packedTokens(path);
    if (isParquet(path)) return checkRows(path, most, wanted, looked);
    auto file = MappedFile::open(path);
    if (!file) return file.error();
    std::string unpacked;
    std::string_view bytes = file->bytes();
    if (isPacked(path)) {
        const std::function<bool()> unwanted = [&wanted] { return !wanted(); };
        auto text = unpackZstd(bytes, path, unwanted, most, Beyond::LeftOut);
        if (!text) return text.error();
        unpacked = std::move(*text);
        bytes = unpacked;
    }
    // What was unpacked up to the limit may go on.
    const bool isWhole = isPacked(path) ? bytes.size() < most : bytes.size() <= most;
    bytes = bytes.substr(0, most);
    looked += bytes.size();
    Status good;
    if (isJsonLines(path) && !bytes.empty())
        good = checkLines(bytes, isWhole, path, wanted);
    else
        good = checkLetters(bytes, isWhole, path, wanted);
    if (file->cutShort()) return {};  // its zeros are none of the file's
    return good;
}

Status checkBeginningOfFolder(const std::string& folder, std::size_t most, const std::function<bool()>& wanted) {
    const auto files = filesBelow(folder, wanted);
    if (!files) return files.error();
    bool anyText = false;
    std::size_t looked = 0;
    for (const auto& path : *files) {
        if (!wanted()) return cancelledReading(folder);
        if (anyText && looked >= most) return {};
        if (anyText && !mustBeGood(path)) continue;  // the run skips it where it is no text
        std::size_t here = 0;
        Status good = checkBeginningOfOne(path.string(), most - looked, wanted, here);
        if (!good && (mustBeGood(path) || good.error().code != ErrorCode::BadInput)) return good;
        if (!good) continue;
        anyText = true;
        looked += here;  // a picture is known by its first bytes
    }
    if (!anyText) return noTextIn(folder, files->size());
    return {};
}

}  // namespace

Result<std::vector<fs::path>> filesOfText(const std::string& path, const std::function<bool()>& wanted) {
    std::error_code ignored;
    if (fs::is_directory(path, ignored)) return filesBelow(path, wanted);
    return std::vector<fs::path>{path};
}

bool isPackedText(const std::string& path) {
    return isPacked(path) || isParquet(path);
}

bool isPlainTextFile(const std::string& path) {
    std::error_code ignored;
    return fs::is_regular_file(path, ignored) && !mustBeGood(path) && !isReadyTokens(path);
}

Result<SourceText> readText(const std::string& path, const std::atomic<bool>& cancelled, Bytes free, Separator separator,
                            const std::string& spoolFolder, const std::function<void(std::size_t)>& grew) {
    std::error_code ignored;
    const Reading reading{cancelled, free, separator, spoolFolder, grew};
    if (fs::is_directory(path, ignored)) return readFolder(path, reading);
    if (isParquet(path) && !isPacked(path)) return readParquetFile(path, reading);
    return readOne(path, reading);
}

Status checkBeginning(const std::string& path, std::size_t most, const std::function<bool()>& wanted) {
    std::error_code ignored;
    std::size_t looked = 0;
    return fs::is_directory(path, ignored) ? checkBeginningOfFolder(path, most, wanted) : checkBeginningOfOne(path, most, wanted, looked);
}

}  // namespace stepscope
