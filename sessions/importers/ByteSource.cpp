#include "sessions/importers/ByteSource.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>

namespace stepscope::importing {
namespace {

constexpr std::size_t kPiece = std::size_t{1} << 20;
constexpr std::size_t kMostPieces = 4;
// Traces unpack to some 10 to 30 times their size.
constexpr std::int64_t kMostTimes = 250, kAlwaysFine = std::int64_t{256} << 20;

Error ioError(const std::string& path, const char* what, int error) {
    return makeError(error == ENOENT ? ErrorCode::NotFound : ErrorCode::Io,
                     fmt::format("\"{}\" could not be {}: {}; choose a file that can be read.", path, what, std::generic_category().message(error)))
        .about(Subject::Kind::File, path);
}

Error badGzip(const std::string& path, std::int64_t at, const char* what) {
    return makeError(ErrorCode::BadInput,
                     fmt::format("\"{}\" is damaged at byte {} of the packed file: {}; copy or export it again.", path, at, what))
        .about(Subject::Kind::File, path);
}

}  // namespace

Result<std::unique_ptr<ByteSource>> ByteSource::open(const std::string& path) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) return ioError(path, "opened", errno);
    struct stat about {};
    std::array<unsigned char, 2> head{};
    const bool known = ::fstat(file, &about) == 0;
    if (!known || !S_ISREG(about.st_mode)) {
        ::close(file);
        return makeError(ErrorCode::BadInput, fmt::format("\"{}\" is no file; name a trace that lies on the disk.", path))
            .about(Subject::Kind::File, path);
    }
    const ssize_t got = ::pread(file, head.data(), head.size(), 0);
    const bool packed = got == 2 && head[0] == 0x1f && head[1] == 0x8b;
    return std::unique_ptr<ByteSource>(new ByteSource(path, file, about.st_size, packed));
}

ByteSource::ByteSource(std::string path, int file, std::int64_t size, bool packed)
    : m_path(std::move(path)), m_file(file), m_size(size), m_packed(packed), m_thread([this] { run(); }) {}

ByteSource::~ByteSource() {
    {
        std::lock_guard lock(m_mutex);
        m_leaving = true;
    }
    m_room.notify_all();
    m_thread.join();
    ::close(m_file);
}

double ByteSource::fraction() const {
    return m_size <= 0 ? 1.0 : std::min(1.0, static_cast<double>(m_read.load()) / static_cast<double>(m_size));
}

std::string ByteSource::next() {
    std::unique_lock lock(m_mutex);
    m_there.wait(lock, [&] { return !m_pieces.empty() || m_done; });
    if (m_pieces.empty()) {
        m_ended = m_outcome;
        return {};
    }
    std::string piece = std::move(m_pieces.front());
    m_pieces.pop_front();
    lock.unlock();
    m_room.notify_one();
    return piece;
}

bool ByteSource::put(std::string piece) {
    std::unique_lock lock(m_mutex);
    m_room.wait(lock, [&] { return m_pieces.size() < kMostPieces || m_leaving; });
    if (m_leaving) return false;
    m_pieces.push_back(std::move(piece));
    lock.unlock();
    m_there.notify_one();
    return true;
}

void ByteSource::run() {
    Status outcome = m_packed ? unpack() : copy();
    {
        std::lock_guard lock(m_mutex);
        m_outcome = std::move(outcome);
        m_done = true;
    }
    m_there.notify_all();
}

Result<std::size_t> ByteSource::read(char* into, std::size_t size) {
    for (;;) {
        const ssize_t got = ::pread(m_file, into, size, m_read.load());
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return ioError(m_path, "read", errno);
        m_read += got;
        return static_cast<std::size_t>(got);
    }
}

Status ByteSource::copy() {
    for (;;) {
        std::string piece(kPiece, '\0');
        const auto got = read(piece.data(), piece.size());
        if (!got) return got.error();
        if (*got == 0) return {};
        piece.resize(*got);
        if (!put(std::move(piece))) return {};
    }
}

Status ByteSource::unpack() {
    constexpr int kGzipWindow = 15 + 16;
    z_stream zlib{};
    if (inflateInit2(&zlib, kGzipWindow) != Z_OK)
        return makeError(ErrorCode::OutOfMemory, "There is no memory to unpack a file; close other programs.");
    struct End {
        z_stream& zlib;
        ~End() { inflateEnd(&zlib); }
    } const end{zlib};
    std::string in(std::size_t{256} << 10, '\0');
    std::int64_t unpacked = 0;
    bool within = true;  // a member of the file, of which there may be several
    // Filled by as many members as it takes: each may be empty.
    std::string piece(kPiece, '\0');
    std::size_t filled = 0;
    const auto hand = [&] {
        if (filled == 0) return true;
        piece.resize(filled);
        filled = 0;
        const bool put = this->put(std::move(piece));
        piece.assign(kPiece, '\0');
        return put;
    };
    for (;;) {
        const auto got = read(in.data(), in.size());
        if (!got) return got.error();
        if (*got == 0 || m_leaving) break;
        zlib.next_in = reinterpret_cast<Bytef*>(in.data());
        zlib.avail_in = static_cast<uInt>(*got);
        while (zlib.avail_in > 0) {
            const std::int64_t at = m_read.load() - zlib.avail_in;
            if (!within) {
                if (*zlib.next_in != 0x1f) {  // padding behind the last one
                    (void)hand();
                    return {};
                }
                if (inflateReset(&zlib) != Z_OK) return badGzip(m_path, at, "its parts do not follow each other");
                within = true;
            }
            zlib.next_out = reinterpret_cast<Bytef*>(piece.data() + filled);
            zlib.avail_out = static_cast<uInt>(kPiece - filled);
            const int done = inflate(&zlib, Z_NO_FLUSH);
            if (done != Z_OK && done != Z_STREAM_END && done != Z_BUF_ERROR)
                return badGzip(m_path, m_read.load() - zlib.avail_in, zlib.msg != nullptr ? zlib.msg : "it does not unpack");
            unpacked += static_cast<std::int64_t>(kPiece - zlib.avail_out - filled);
            filled = kPiece - zlib.avail_out;
            if (unpacked > kAlwaysFine && unpacked / kMostTimes > m_read.load())
                return badGzip(m_path, m_read.load() - zlib.avail_in, "it unpacks to more than 250 times its size, which no trace does");
            if (filled == kPiece && !hand()) return {};
            if (done == Z_STREAM_END) within = false;
            if (done == Z_BUF_ERROR && zlib.avail_in == 0) break;
        }
    }
    if (!hand()) return {};
    if (within) {
        m_cutAt = m_read.load();
        return badGzip(m_path, m_cutAt, "it ends in the middle");
    }
    return {};
}

}  // namespace stepscope::importing
