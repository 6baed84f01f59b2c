// The header (https://www.sqlite.org/fileformat2.html, section 1.3) is read through SQLite's own file object:
// POSIX locks belong to the process, and closing a descriptor of our own would drop those of every connection it has open.
#include "sessions/file/FileHeader.h"

#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <memory>

#include "sessions/Schema.h"
#include "sessions/file/SqliteError.h"

namespace stepscope {
namespace {

using Bytes100 = std::array<unsigned char, 100>;

int bigEndian(const Bytes100& header, std::size_t at) {
    return static_cast<int>(std::uint32_t{header[at]} << 24 | std::uint32_t{header[at + 1]} << 16 | std::uint32_t{header[at + 2]} << 8 |
                            std::uint32_t{header[at + 3]});
}

// Opening alone takes no lock and starts no recovery; nothing but the first 100 bytes is ever read.
Result<Bytes100> readHeader(const std::string& path) {
    sqlite3* opened = nullptr;
    const int rc = sqlite3_open_v2(std::filesystem::absolute(path).c_str(), &opened, SQLITE_OPEN_READONLY, nullptr);
    const std::unique_ptr<sqlite3, decltype(&sqlite3_close)> connection(opened, &sqlite3_close);
    if (rc == SQLITE_CANTOPEN)
        return makeError(ErrorCode::Io, fmt::format("\"{}\" may not be read; change its permissions or choose another file (--db).", path));
    if (rc != SQLITE_OK) return sqliteError(path, rc, sqlite3_errstr(rc));
    sqlite3_file* file = nullptr;
    sqlite3_file_control(opened, "main", SQLITE_FCNTL_FILE_POINTER, &file);
    Bytes100 header{};
    const int read = file != nullptr && file->pMethods != nullptr ? file->pMethods->xRead(file, header.data(), header.size(), 0) : SQLITE_IOERR;
    // A file shorter than a header is zero-filled, and zeros are not SQLite's magic.
    if (read != SQLITE_OK && read != SQLITE_IOERR_SHORT_READ) return sqliteError(path, read, sqlite3_errstr(read));
    return header;
}

Result<FileHeader> inspect(const std::string& path) {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) {
        if (errno == ENOENT) return FileHeader{};
        return makeError(ErrorCode::Io, fmt::format("\"{}\" cannot be reached ({}); choose another file (--db).", path, std::strerror(errno)));
    }
    // Opening a pipe would hang.
    if (!S_ISREG(status.st_mode))
        return makeError(ErrorCode::BadInput, fmt::format("\"{}\" is not a file; choose a file for the session database (--db).", path));
    if (status.st_size == 0) return FileHeader{.exists = true};

    // So would SQLite, of which these are read before the database.
    std::error_code ignored;
    const auto real = std::filesystem::canonical(path, ignored).string();
    for (const char* end : {"-journal", "-wal", "-shm"})
        if (::lstat((real + end).c_str(), &status) == 0 && !S_ISREG(status.st_mode))
            return makeError(ErrorCode::BadInput, fmt::format("\"{}{}\" is not a file, and SQLite keeps one there; remove it.", real, end));
    const auto header = readHeader(path);
    if (!header) return header.error();
    if (std::memcmp(header->data(), "SQLite format 3", 16) != 0) return sqliteError(path, SQLITE_NOTADB, "no SQLite header");
    // Our files carry the id from their first transaction on, so an id of zero is somebody else's too.
    if (bigEndian(*header, 68) != kApplicationId)
        return makeError(ErrorCode::BadInput,
                         fmt::format("\"{}\" is a database of another application, not a session database; choose another file (--db).", path));
    const int version = bigEndian(*header, 60);
    if (version > schemaVersion())
        return makeError(ErrorCode::Unsupported, fmt::format("\"{}\" was written by a newer Stepscope (schema {}, this one knows {}); "
                                                             "update Stepscope or choose another file (--db).",
                                                             path, version, schemaVersion()));
    return FileHeader{.exists = true, .empty = false, .schemaVersion = version};
}

}  // namespace

Result<FileHeader> inspectFile(const std::string& path) {
    return inspect(path).about(Subject::Kind::Database, path);
}

}  // namespace stepscope
