// Writing of TokenFile.h.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>

#include "core/base/Check.h"
#include "core/base/PrivateFolders.h"
#include "core/data/tokens/TokenFileHeader.h"

namespace stepscope {
namespace fs = std::filesystem;
namespace {

constexpr const char* kTemporarySuffix = ".part";

Error cannotWrite(const std::string& path, int why) {
    return makeError(ErrorCode::Io, fmt::format("The token cache {} cannot be written: {}.", path, std::strerror(why)), std::strerror(why));
}

void removeLeftovers(const fs::path& folder) {
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(folder, ignored)) {
        if (entry.path().extension() != kTemporarySuffix) continue;
        const auto written = entry.last_write_time(ignored);
        if (!ignored && fs::file_time_type::clock::now() - written > std::chrono::hours(1)) fs::remove(entry.path(), ignored);
    }
}

void syncFolder(const fs::path& folder) {
    const int opened = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (opened < 0) return;
    ::fsync(opened);
    ::close(opened);
}

}  // namespace

struct TokenFileWriter::Streaming {
    XXH3_state_t* state = XXH3_createState();
    ~Streaming() { XXH3_freeState(state); }
};
void TokenFileWriter::FreeStreaming::operator()(Streaming* streaming) const {
    delete streaming;
}

Result<std::unique_ptr<TokenFileWriter>> TokenFileWriter::create(const std::string& path, const TokenFileKey& key) {
    const fs::path folder = fs::path(path).parent_path();
    if (const int problem = makeMissingFolders(folder.string()); problem != 0) return cannotWrite(path, problem);  // a cache holds a person's text
    removeLeftovers(folder);

    std::unique_ptr<TokenFileWriter> writer(new TokenFileWriter);
    writer->m_path = path;
    writer->m_key = key;
    writer->m_temporary = path + ".XXXXXX" + kTemporarySuffix;
    writer->m_file = ::mkostemps(writer->m_temporary.data(), static_cast<int>(std::strlen(kTemporarySuffix)), O_CLOEXEC);
    if (writer->m_file < 0) {
        const int why = errno;
        writer->m_temporary.clear();
        return cannotWrite(path, why);
    }
    writer->m_hash.reset(new Streaming);
    XXH3_128bits_reset(writer->m_hash->state);
    const TokenFileHeader unfinished{.magic = {}};
    if (auto written = writer->write(&unfinished, sizeof unfinished); !written) return written.error();
    return writer;
}

TokenFileWriter::~TokenFileWriter() {
    if (m_file >= 0) ::close(m_file);
    if (!m_temporary.empty()) ::unlink(m_temporary.c_str());
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
    XXH3_128bits_update(m_hash->state, m_buffer.data(), m_buffer.size());
    return write(m_buffer.data(), m_buffer.size());
}

Status TokenFileWriter::finish() {
    TokenFileHeader header;
    header.bytesPerId = bytesPerIdOf(m_key.vocabulary);
    header.count = m_count;
    header.vocabulary = static_cast<std::uint64_t>(m_key.vocabulary);
    header.text = m_key.text;
    header.tokenizer = m_key.tokenizer;
    const XXH128_hash_t ids = XXH3_128bits_digest(m_hash->state);
    header.ids = {ids.low64, ids.high64};
    header.header = header.ownHash();
    if (::lseek(m_file, 0, SEEK_SET) != 0) return cannotWrite(m_path, errno);
    if (auto written = write(&header, sizeof header); !written) return written;
    if (::fsync(m_file) != 0) return cannotWrite(m_path, errno);
    if (::rename(m_temporary.c_str(), m_path.c_str()) != 0) return cannotWrite(m_path, errno);
    m_temporary.clear();
    syncFolder(fs::path(m_path).parent_path());
    return {};
}

}  // namespace stepscope
