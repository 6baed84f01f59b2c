#include "core/data/TextSpool.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "core/base/PrivateFolders.h"

namespace stepscope {
namespace {

constexpr std::size_t kSpoolAtOnce = 4 << 20;
constexpr std::size_t kToldEachTime = 64 << 20;

}  // namespace

TextSpool::TextSpool(std::string folder, Bytes free, std::size_t mostInRam)
    : m_folder(std::move(folder)),
      m_mayGrow(static_cast<std::size_t>(std::max<std::int64_t>(0, mostThatGrows(free).count))),
      m_inRam(std::min(mostInRam, m_mayGrow)) {}

TextSpool::~TextSpool() {
    if (m_file >= 0) ::close(m_file);
}

Error TextSpool::cannotWrite(int why) const {
    return makeError(ErrorCode::Io,
                     fmt::format("The text is too long for the memory, and {} has no room for it: {}; make room there or give less text.", m_folder,
                                 std::strerror(why)),
                     std::strerror(why));
}

Status TextSpool::append(std::string_view piece) {
    m_size += piece.size();
    if (m_file < 0 && m_size > m_inRam && !onlyInRam())
        if (auto moved = toFile(); !moved) {
            if (m_file >= 0) ::close(std::exchange(m_file, -1));
            m_noFile = moved.error();
            m_folder.clear();
        }
    if (m_noFile && m_size > m_mayGrow) return *m_noFile;
    if (m_file < 0) m_text += piece;
    while (m_file >= 0 && !piece.empty()) {
        const std::size_t part = std::min(piece.size(), kSpoolAtOnce - m_text.size());
        m_text += piece.substr(0, part);
        piece.remove_prefix(part);
        if (m_text.size() < kSpoolAtOnce) continue;
        if (auto flushed = flush(); !flushed) return flushed;
    }
    if (m_grew && m_size - m_told >= kToldEachTime) m_grew(m_told = m_size);
    return {};
}

Status TextSpool::cutTo(std::size_t size) {
    const std::size_t inFile = m_file < 0 ? 0 : m_size - m_text.size();
    m_text.resize(size > inFile ? size - inFile : 0);
    if (size < inFile && (::ftruncate(m_file, static_cast<off_t>(size)) != 0 || ::lseek(m_file, static_cast<off_t>(size), SEEK_SET) < 0))
        return cannotWrite(errno);
    m_size = size;
    m_told = std::min(m_told, size);
    return {};
}

Status TextSpool::toFile() {
    if (const int problem = makeMissingFolders(m_folder); problem != 0) return cannotWrite(problem);
    std::string path = m_folder + "/text.XXXXXX";
    m_file = ::mkostemp(path.data(), O_CLOEXEC);
    if (m_file < 0) return cannotWrite(errno);
    ::unlink(path.c_str());  // a killed process leaves nothing
    return flush();
}

Status TextSpool::flush() {
    for (std::string_view left = m_text; !left.empty();) {
        const ssize_t written = ::write(m_file, left.data(), left.size());
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return cannotWrite(written < 0 ? errno : ENOSPC);
        left.remove_prefix(static_cast<std::size_t>(written));
    }
    std::string().swap(m_text);
    return {};
}

Result<TextSpool::Text> TextSpool::finish() {
    if (m_file < 0) return Text{.file = {}, .owned = std::move(m_text)};
    if (auto flushed = flush(); !flushed) return flushed.error();
    auto mapped = MappedFile::open(fmt::format("/proc/self/fd/{}", m_file));
    if (!mapped) return mapped.error();
    return Text{.file = std::move(*mapped), .owned = {}};
}

}  // namespace stepscope
