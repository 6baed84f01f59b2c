#include "core/data/TextReader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <vector>

#include "core/base/Format.h"
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

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr std::size_t kNamedInNote = 3;
constexpr std::size_t kPieceLooked = 4 << 20;  // between two questions whether anybody still wants to know

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

// Appends the texts of all rows; what a person should know of them.
Result<std::string> appendParquet(const std::string& path, const std::atomic<bool>& cancelled, Bytes free, Separator separator, TextSpool& into) {
    bool first = true, anyText = false;
    const std::function<bool()> isCancelled = [&cancelled] { return cancelled.load(); };
    const auto rows = readParquet(path, isCancelled, [&](std::string_view text) -> Result<bool> {
        const auto size = static_cast<std::int64_t>(into.size() + text.size()) + 2;
        if (into.onlyInRam() && size > mostThatGrows(free).count)
            return noRoom(fmt::format("The texts of {} are put together in RAM, where they are more than {}", path, format::bytes({size})), free,
                          "make a folder for the cache of tokens usable, or give fewer");
        if (!first)
            if (auto put = into.append(separator == Separator::EndOfText ? kEndOfText : "\n\n"); !put) return put.error();
        first = false;
        anyText |= !text.empty();
        if (auto put = into.append(text); !put) return put.error();
        return true;
    });
    if (!rows) return rows.error();
    if (!anyText) return noRowHoldsText(path);
    if (rows->nulls == 0) return std::string();
    return fmt::format("{} row{} of {} held no text and {} left out", format::count(rows->nulls), rows->nulls == 1 ? "" : "s", path,
                       rows->nulls == 1 ? "was" : "were");
}

Status takeText(TextSpool& spool, SourceText& into) {
    auto text = spool.finish();
    if (!text) return text.error();
    into.file = std::move(text->file);
    into.owned = std::move(text->owned);
    into.isCopy = !into.file.bytes().empty();
    return {};
}

Result<SourceText> readParquetFile(const std::string& path, const std::atomic<bool>& cancelled, Bytes free, Separator separator,
                                   const std::string& spoolFolder) {
    if (auto file = MappedFile::open(path); !file) return file.error();  // it is there, may be read, and is no pipe
    TextSpool spool(spoolFolder, free);
    auto note = appendParquet(path, cancelled, free, separator, spool);
    if (!note) return note.error();
    SourceText source{.name = path, .title = path, .note = std::move(*note)};
    if (auto taken = takeText(spool, source); !taken) return taken.error();
    return source;
}

Result<SourceText> readOne(const std::string& path, const std::atomic<bool>& cancelled, Bytes free, Separator separator) {
    if (isPackedInVain(path)) return packedTokens(path);
    auto file = MappedFile::open(path);
    if (!file) return file.error();
    SourceText source{.name = path, .title = path};
    if (isPacked(path)) {
        auto text = unpackZstd(file->bytes(), path, cancelled, std::min(kMostUnpacked, static_cast<std::size_t>(mostThatGrows(free).count)));
        if (!text) return text.error();
        source.owned = std::move(*text);
    } else {
        source.file = std::move(*file);
    }
    if (isJsonLines(path) && !source.text().empty()) {
        const Bytes size{static_cast<std::int64_t>(source.text().size())};
        if (size.count > free.count - static_cast<std::int64_t>(source.owned.size()))
            return noRoom(fmt::format("{} has {}, and what its lines hold has to lie in RAM", path, format::bytes(size)), free,
                          "give a smaller file, its text as a plain file (which is mapped), or ready tokens (.bin)");
        auto documents = textOfJsonLines(source.text(), path, separator == Separator::EndOfText ? kEndOfText : "\n\n", cancelled);
        if (!documents) return documents.error();
        if (documents->text.empty()) return noLineHoldsText(path);
        if (documents->mended > 0)
            source.note = fmt::format("{} line{} held half of a surrogate pair alone, read as U+FFFD", format::count(documents->mended),
                                      documents->mended == 1 ? "" : "s");
        source.owned = std::move(documents->text);
        source.file = {};
        return source;
    }
    if (auto checked = checkText(source.text(), path); !checked) return checked.error();
    if (source.text().starts_with(kByteOrderMark)) source.skip = kByteOrderMark.size();
    return source;
}

// Regular files below `folder`, hidden ones left out, in the order of their paths.
Result<std::vector<fs::path>> filesBelow(const std::string& folder) {
    std::vector<fs::path> files;
    std::error_code problem;
    for (fs::recursive_directory_iterator at(folder, problem), end; !problem && at != end; at.increment(problem)) {
        std::error_code ignored;
        const bool hidden = at->path().filename().string().starts_with('.');
        if (hidden && at->is_directory(ignored)) at.disable_recursion_pending();
        if (!hidden && at->is_regular_file(ignored)) files.push_back(at->path());
    }
    if (problem) return makeError(ErrorCode::Io, fmt::format("The folder {} cannot be read: {}.", folder, problem.message()), problem.message());
    std::ranges::sort(files);
    return files;
}

Result<SourceText> readFolder(const std::string& folder, const std::atomic<bool>& cancelled, Bytes free, Separator separator,
                              const std::string& spoolFolder) {
    auto files = filesBelow(folder);
    if (!files) return files.error();
    TextSpool spool(spoolFolder, free);
    std::vector<std::string> skipped, notes;
    std::size_t used = 0;
    const char* between = separator == Separator::EndOfText ? kEndOfText : "\n";
    for (const auto& path : *files) {
        if (cancelled) return cancelledReading(folder);
        if (isParquet(path) && !isPacked(path)) {
            if (auto put = used++ > 0 ? spool.append(between) : Status{}; !put) return put.error();
            auto note = appendParquet(path.string(), cancelled, free, separator, spool);
            if (!note) return note.error();
            if (!note->empty()) notes.push_back(std::move(*note));
            continue;
        }
        const auto held = static_cast<std::int64_t>(spool.inRam());
        auto one = readOne(path.string(), cancelled, {free.count - held}, separator);
        if (!one) {
            if (mustBeGood(path) || one.error().code != ErrorCode::BadInput) return one.error();
            skipped.push_back(path.lexically_relative(folder).string());
            continue;
        }
        const std::int64_t size = held + static_cast<std::int64_t>(one->text().size()) + 1;
        if (spool.onlyInRam() && size > mostThatGrows(free).count - static_cast<std::int64_t>(one->owned.size()))
            return noRoom(fmt::format("The texts of {} are put together in RAM, where they are {} with {} and are copied as they grow", folder,
                                      format::bytes({size}), path.lexically_relative(folder).string()),
                          free, "join the files into one (cat), which is mapped, or give fewer");
        if (auto put = used++ > 0 ? spool.append(between) : Status{}; !put) return put.error();
        if (auto put = spool.append(one->text()); !put) return put.error();
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

// `lines` in pieces, each of which is let go before the next. isWhole: nothing of the file is behind them.
Status checkLines(std::string_view lines, bool isWhole, const std::string& path, const std::function<bool()>& wanted) {
    const std::atomic<bool> never{false};
    std::int64_t number = 1;
    bool anyText = false;
    while (!lines.empty()) {
        if (!wanted()) return cancelledReading(path);
        const std::size_t end = lines.find('\n', std::min(kPieceLooked, lines.size()) - 1);
        const std::string_view piece = lines.substr(0, end == std::string_view::npos ? lines.size() : end + 1);
        const auto documents = textOfJsonLines(piece, path, "\n\n", never, number);
        if (!documents) return documents.error();
        anyText = anyText || !documents->text.empty();
        number += std::ranges::count(piece, '\n');
        lines.remove_prefix(piece.size());
    }
    if (isWhole && !anyText) return noLineHoldsText(path);
    return {};
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
        good = checkLines(isWhole ? bytes : bytes.substr(0, bytes.rfind('\n') + 1), isWhole, path, wanted);  // nothing of a line longer than all
    else
        good = checkLetters(bytes, isWhole, path, wanted);
    if (file->cutShort()) return {};  // its zeros are none of the file's
    return good;
}

Status checkBeginningOfFolder(const std::string& folder, std::size_t most, const std::function<bool()>& wanted) {
    const auto files = filesBelow(folder);
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

bool isPackedText(const std::string& path) {
    return isPacked(path) || isParquet(path);
}

bool isPlainTextFile(const std::string& path) {
    std::error_code ignored;
    return fs::is_regular_file(path, ignored) && !mustBeGood(path) && !isReadyTokens(path);
}

Result<SourceText> readText(const std::string& path, const std::atomic<bool>& cancelled, Bytes free, Separator separator,
                            const std::string& spoolFolder) {
    std::error_code ignored;
    if (fs::is_directory(path, ignored)) return readFolder(path, cancelled, free, separator, spoolFolder);
    if (isParquet(path) && !isPacked(path)) return readParquetFile(path, cancelled, free, separator, spoolFolder);
    return readOne(path, cancelled, free, separator);
}

Status checkBeginning(const std::string& path, std::size_t most, const std::function<bool()>& wanted) {
    std::error_code ignored;
    std::size_t looked = 0;
    return fs::is_directory(path, ignored) ? checkBeginningOfFolder(path, most, wanted) : checkBeginningOfOne(path, most, wanted, looked);
}

}  // namespace stepscope
