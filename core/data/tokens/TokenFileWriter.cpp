// Writing of TokenFile.h.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "core/base/Check.h"
#include "core/base/PrivateFolders.h"
#include "core/data/tokens/TokenFileHeader.h"
#include "core/data/tokens/UnfinishedTokens.h"

namespace stepscope {
namespace fs = std::filesystem;
namespace {

constexpr const char* kTemporarySuffix = ".part";
constexpr std::size_t kReadAtOnce = 1 << 20;
constexpr std::uint64_t kBetweenQuestions = std::uint64_t{64} << 20;  // bytes that are read

Error cannotWrite(const std::string& path, int why) {
    return makeError(ErrorCode::Io, fmt::format("The token cache {} cannot be written: {}.", path, std::strerror(why)), std::strerror(why));
}

}  // namespace

std::string TokenFileWriter::unfinishedPath(const std::string& path) {
    return path + kTemporarySuffix;
}

Result<std::unique_ptr<TokenFileWriter>> TokenFileWriter::create(const std::string& path, const TokenFileKey& key, const WantsIds& wanted,
                                                                 MakerLock lock) {
    const std::string folder = fs::path(path).parent_path().string();
    if (const int problem = makeMissingFolders(folder); problem != 0) return cannotWrite(path, problem);  // a cache holds a person's text
    removeLeftovers(folder);

    std::unique_ptr<TokenFileWriter> writer(new TokenFileWriter);
    writer->m_path = path;
    writer->m_key = key;
    writer->m_temporary = unfinishedPath(path);
    writer->m_file = lock ? lock.release() : lockUnfinished(writer->m_temporary);
    writer->m_canGoOn = writer->m_file >= 0;
    if (auto opened = writer->m_canGoOn ? writer->takeUp(wanted) : writer->openTemporary(); !opened) return opened.error();
    return writer;
}

TokenFileWriter::~TokenFileWriter() {
    if (!m_temporary.empty() && !(m_canGoOn && hasUnfinishedState(m_temporary))) discard();
    if (m_file >= 0) ::close(m_file);
}

void TokenFileWriter::discard() {
    if (m_temporary.empty()) return;
    if (m_canGoOn) removeUnfinishedState(m_temporary);
    ::unlink(m_temporary.c_str());
    m_temporary.clear();
}

Status TokenFileWriter::openTemporary() {
    m_temporary = m_path + ".XXXXXX" + kTemporarySuffix;
    m_file = ::mkostemps(m_temporary.data(), static_cast<int>(std::strlen(kTemporarySuffix)), O_CLOEXEC);
    if (m_file >= 0) return beginAnew();
    const int why = errno;
    m_temporary.clear();
    return cannotWrite(m_path, why);
}

Status TokenFileWriter::beginAnew() {
    if (m_canGoOn) removeUnfinishedState(m_temporary);
    m_done = {};
    m_count = 0;
    m_hash.reset();
    if (::ftruncate(m_file, 0) != 0 || ::lseek(m_file, 0, SEEK_SET) != 0) return cannotWrite(m_path, errno);
    const TokenFileHeader unfinished{.magic = {}};
    return write(&unfinished, sizeof unfinished);
}

// Every id is read again: the hash of the finished file needs them, and one that is not what was written is found.
Status TokenFileWriter::takeUp(const WantsIds& wanted) {
    const auto state = readUnfinished(m_temporary, m_key);
    struct stat facts {};
    if (!state || ::fstat(m_file, &facts) != 0) return beginAnew();
    const auto size = static_cast<std::uint64_t>(facts.st_size);
    if (size < sizeof(TokenFileHeader) || (size - sizeof(TokenFileHeader)) / state->bytesPerId < state->count) return beginAnew();
    m_buffer.resize(kReadAtOnce);
    constexpr std::uint64_t kBegin = sizeof(TokenFileHeader);
    std::uint64_t at = kBegin, askAt = kBegin;
    for (const std::uint64_t end = at + state->count * state->bytesPerId; at < end;) {
        if (wanted && at >= askAt) {
            if (!wanted(static_cast<double>(at - kBegin) / static_cast<double>(end - kBegin)))
                return makeError(ErrorCode::Cancelled, fmt::format("Reading the token cache {} was cancelled.", m_path));
            askAt = at + kBetweenQuestions;
        }
        const ssize_t got = ::pread(m_file, m_buffer.data(), std::min<std::uint64_t>(kReadAtOnce, end - at), static_cast<off_t>(at));
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return beginAnew();
        m_hash.add({reinterpret_cast<const char*>(m_buffer.data()), static_cast<std::size_t>(got)});
        at += static_cast<std::uint64_t>(got);
    }
    // What was written behind the last state is made again.
    if (m_hash.digest() != state->ids || ::ftruncate(m_file, static_cast<off_t>(at)) != 0 || ::lseek(m_file, 0, SEEK_END) < 0) return beginAnew();
    m_count = state->count;
    m_done = {state->textBytes, state->read, state->count};
    return {};
}

Status TokenFileWriter::write(const void* bytes, std::size_t count) {
    const auto* at = static_cast<const char*>(bytes);
    while (count > 0) {
        const ssize_t written = ::write(m_file, at, count);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return cannotWrite(m_path, written < 0 ? errno : ENOSPC);
        at += written;
        count -= static_cast<std::size_t>(written);
    }
    return {};
}

Status TokenFileWriter::append(std::span<const std::int32_t> ids) {
    const std::size_t width = bytesPerIdOf(m_key.vocabulary);
    m_buffer.resize(ids.size() * width);
    for (std::size_t i = 0; i < ids.size(); ++i) {
        SS_CHECK(ids[i] >= 0 && ids[i] < m_key.vocabulary);
        const auto id = static_cast<std::uint32_t>(ids[i]);
        std::memcpy(m_buffer.data() + i * width, &id, width);
    }
    m_count += ids.size();
    m_hash.add({reinterpret_cast<const char*>(m_buffer.data()), m_buffer.size()});
    return write(m_buffer.data(), m_buffer.size());
}

Status TokenFileWriter::keep(std::size_t textBytes, const Hash128& read) {
    if (!m_canGoOn) return {};
    // First the ids, then the word that they are there: a power cut between the two leaves the state before, which is true as well.
    if (::fdatasync(m_file) != 0) return cannotWrite(m_path, errno);
    UnfinishedTokens state;
    state.bytesPerId = bytesPerIdOf(m_key.vocabulary);
    state.textBytes = textBytes;
    state.count = m_count;
    state.vocabulary = static_cast<std::uint64_t>(m_key.vocabulary);
    state.text = m_key.text;
    state.tokenizer = m_key.tokenizer;
    state.read = read;
    state.ids = m_hash.digest();
    (void)writeUnfinished(m_temporary, state);  // without it a process that is stopped begins at the state before: no reason to stop now
    return {};
}

Status TokenFileWriter::finish() {
    TokenFileHeader header;
    header.bytesPerId = bytesPerIdOf(m_key.vocabulary);
    header.count = m_count;
    header.vocabulary = static_cast<std::uint64_t>(m_key.vocabulary);
    header.text = m_key.text;
    header.tokenizer = m_key.tokenizer;
    header.ids = m_hash.digest();
    header.header = header.ownHash();
    if (::lseek(m_file, 0, SEEK_SET) != 0) return cannotWrite(m_path, errno);
    if (auto written = write(&header, sizeof header); !written) return written;
    if (::fsync(m_file) != 0) return cannotWrite(m_path, errno);
    if (::rename(m_temporary.c_str(), m_path.c_str()) != 0) return cannotWrite(m_path, errno);
    if (m_canGoOn) removeUnfinishedState(m_temporary);
    m_temporary.clear();
    ::close(std::exchange(m_file, -1));  // and with it the lock, which would keep its first reader from holding it
    syncFolder(fs::path(m_path).parent_path().string());
    return {};
}

}  // namespace stepscope
