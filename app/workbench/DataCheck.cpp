#include "app/workbench/DataCheck.h"

#include <sys/stat.h>

#include <atomic>

#include "core/data/Corpus.h"
#include "core/data/MappedFile.h"
#include "core/data/TextCheck.h"
#include "core/data/TextReader.h"
#include "core/data/tokens/ReadyTokens.h"

namespace stepscope {
namespace {

constexpr std::size_t kPiece = 4 << 20;
constexpr std::size_t kMostLooked = 64'000'000;  // of what a look at every byte would have to parse or unpack: a second or less

bool isBuiltIn(const std::string& data) {
    return data == "kjv" || data == "shakespeare" || data == "generated" || data == "random";
}

// Of a folder's files together; at most a little more than is looked at. What is packed may be of any size.
std::uintmax_t sizeOf(const std::filesystem::path& path) {
    namespace fs = std::filesystem;
    std::error_code ignored;
    if (!fs::is_directory(path, ignored)) return isPackedText(path.string()) ? kMostLooked + 1 : fs::file_size(path, ignored);
    std::uintmax_t sum = 0;
    for (fs::recursive_directory_iterator at(path, fs::directory_options::skip_permission_denied, ignored), end;
         !ignored && at != end && sum <= kMostLooked; at.increment(ignored)) {
        std::error_code gone;
        if (isPackedText(at->path().string())) return kMostLooked + 1;
        if (const auto size = at->file_size(gone); !gone && at->is_regular_file(gone)) sum += size;
    }
    return sum;
}

// Of a folder, .jsonl, what is packed, ready tokens, and what is not there: as the run would read them, and of more than a second's work the
// beginning. Nothing when it is not wanted any more.
std::optional<std::string> problemOfOthers(const std::string& data, const std::function<bool()>& wanted) {
    if (isReadyTokens(data)) {
        const auto tokens = openReadyTokens(data, wanted);
        if (!tokens && tokens.error().code == ErrorCode::Cancelled) return std::nullopt;
        return tokens ? std::string() : tokens.error().sentence;
    }
    if (std::error_code ignored; std::filesystem::exists(data, ignored) && sizeOf(data) > kMostLooked) {
        const Status good = checkBeginning(data, kMostLooked, wanted);
        if (good) return std::string();
        return good.error().code == ErrorCode::Cancelled ? std::nullopt : std::optional(good.error().sentence);
    }
    const std::atomic<bool> cancelled{false};
    const auto text = readText(data, cancelled);
    // Where memory is short the run may have more of it by then.
    return text || text.error().code == ErrorCode::OutOfMemory ? std::string() : text.error().sentence;
}

}  // namespace

struct DataCheck::Look {
    Stamp of;
    MappedFile file;
    TextCheck check;
};

DataCheck::DataCheck() = default;
DataCheck::~DataCheck() = default;

DataCheck::Stamp DataCheck::stampOf(const std::string& path) {
    std::error_code ignored;
    struct stat facts {};
    if (::stat(path.c_str(), &facts) != 0) facts = {};
    return {path, std::filesystem::file_size(path, ignored), std::filesystem::last_write_time(path, ignored),
            std::int64_t{facts.st_ctim.tv_sec} * 1'000'000'000 + facts.st_ctim.tv_nsec};
}

std::optional<std::string> DataCheck::known(const std::string& data) const {
    if (isBuiltIn(data)) return std::string();
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(data, ignored)) return std::nullopt;  // what is in a folder may be another thing at any time
    return m_looked == stampOf(data) ? std::optional(m_problem) : std::nullopt;
}

std::optional<std::string> DataCheck::problemOf(const std::string& data, const std::function<bool()>& wanted) {
    if (auto told = known(data)) return told;
    const Stamp stamp = stampOf(data);
    if (!isPlainTextFile(data)) {
        auto told = problemOfOthers(data, wanted);
        if (told) m_looked = stamp, m_problem = *told;
        return told;
    }
    if (m_look == nullptr || m_look->of != stamp) {
        auto file = MappedFile::open(data);
        if (!file) return file.error().sentence;
        TextCheck check(file->bytes(), std::filesystem::path(data).filename().string());
        m_look.reset(new Look{stamp, std::move(*file), std::move(check)});
    }
    Status good;
    while (good && !m_look->check.done()) {
        if (!wanted()) return std::nullopt;
        good = m_look->check.more(kPiece);
    }
    const bool changed = m_look->file.cutShort();  // its zeros are none of the file's
    m_look.reset();
    if (changed) return std::string();
    m_looked = stamp;
    m_problem = good ? std::string() : good.error().sentence;
    return m_problem;
}

}  // namespace stepscope
