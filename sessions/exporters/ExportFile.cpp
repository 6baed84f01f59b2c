#include "sessions/exporters/ExportFile.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <streambuf>
#include <string_view>

namespace stepscope {
namespace {

namespace fs = std::filesystem;

Error cannotWrite(const std::string& path, int problem) {
    const bool full = problem == ENOSPC || problem == EDQUOT;
    return makeError(ErrorCode::Io,
                     fmt::format("{} cannot be written: {}; {}.", path, std::strerror(problem), full ? "make room there" : "choose another place"));
}

Error exportStopped() {
    return makeError(ErrorCode::Cancelled, "The export was stopped; nothing is written.");
}

// 0 or an errno. A closed stream has handed its bytes to the system; only this says that they are on the disk.
int sync(const std::string& path) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) return errno;
    const int problem = ::fsync(file) == 0 ? 0 : errno;
    ::close(file);
    return problem;
}

// Hands bytes on and tells how many there were; takes no more of them once nobody wants them.
class WatchedBuffer final : public std::streambuf {
public:
    WatchedBuffer(std::streambuf& into, const ExportProgress& progress) : m_into(into), m_progress(progress) { tell(); }
    void tell() {
        m_told = m_bytes;
        if (!m_stopped && !m_progress(m_bytes)) m_stopped = true;
    }
    bool stopped() const { return m_stopped; }

protected:
    std::streamsize xsputn(const char* bytes, std::streamsize count) override { return goesOn(count) ? m_into.sputn(bytes, count) : 0; }
    int_type overflow(int_type letter) override {
        if (traits_type::eq_int_type(letter, traits_type::eof())) return traits_type::not_eof(letter);
        return goesOn(1) ? m_into.sputc(traits_type::to_char_type(letter)) : traits_type::eof();
    }
    int sync() override { return m_into.pubsync(); }

private:
    bool goesOn(std::streamsize count) {
        m_bytes += count;
        if (m_bytes - m_told >= kTold) tell();
        return !m_stopped;
    }
    static constexpr std::int64_t kTold = std::int64_t{256} * 1024;
    std::streambuf& m_into;
    const ExportProgress& m_progress;
    std::int64_t m_bytes = 0, m_told = 0;
    bool m_stopped = false;
};

Status writeWatched(std::ofstream& file, const std::function<Status(std::ostream&)>& write, const ExportProgress& progress) {
    if (!progress) return write(file);
    WatchedBuffer watched(*file.rdbuf(), progress);
    std::ostream out(&watched);
    auto done = write(out);
    watched.tell();
    if (watched.stopped()) return exportStopped();
    if (!out) file.setstate(std::ios::badbit);
    return done;
}

Status writeInto(const std::string& target, const std::string& path, const std::function<Status(std::ostream&)>& write,
                 const ExportProgress& progress) {
    std::ofstream file(target, std::ios::binary | std::ios::trunc);
    if (!file) return cannotWrite(path, errno);
    constexpr int kUntold = EIO;  // where the library does not say
    errno = kUntold;
    if (auto done = writeWatched(file, write, progress); !done) return done;
    // More than its buffer holds has met the disk by now; closing it would only say that it is not good.
    if (!file) return cannotWrite(path, errno);
    errno = kUntold;
    file.close();
    if (!file) return cannotWrite(path, errno);
    return {};
}

// A known name: made anew, so that a link of somebody's is not followed. What a killed export of the same process number left goes.
int makeAnew(const std::string& path) {
    ::unlink(path.c_str());
    const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (file < 0) return errno;
    ::close(file);
    return 0;
}

std::string unfinishedOf(const std::string& target) {
    return fmt::format("{}.unfinished-{}", target, ::getpid());
}

Status writeAndSync(const std::string& unfinished, const std::string& path, const std::function<Status(std::ostream&)>& write,
                    const ExportProgress& progress) {
    if (const int problem = makeAnew(unfinished); problem != 0) return cannotWrite(path, problem);
    if (auto done = writeInto(unfinished, path, write, progress); !done) return done;
    if (const int problem = sync(unfinished); problem != 0) return cannotWrite(path, problem);
    return {};
}

// Written over, it would be gone with all that it holds: nobody means an export to take its place, whoever named it.
Status noDatabase(const std::string& target, const std::string& path) {
    constexpr std::string_view kBegin("SQLite format 3\0", 16), kBeginOfLog("\x37\x7f\x06", 3);
    char begin[kBegin.size()]{};
    std::ifstream file(target, std::ios::binary);
    const std::string_view read(begin, file.read(begin, sizeof begin) ? sizeof begin : 0);
    // What was written last is in its log until somebody moves it.
    if (read != kBegin && !read.starts_with(kBeginOfLog)) return {};
    return makeError(ErrorCode::BadInput, fmt::format("{} is a database and stays as it is; choose another name.", path))
        .about(Subject::Kind::File, path);
}

}  // namespace

Status stillWanted(const ExportProgress& progress) {
    if (!progress || progress(0)) return {};
    return exportStopped();
}

Status mayWrite(const std::string& path, Existing existing) {
    std::error_code absent;
    if (existing == Existing::Replace || !fs::is_regular_file(path, absent)) return {};
    return makeError(ErrorCode::BadInput,
                     fmt::format("{} is there already and stays as it is; give another name, or --force to write over it.", path))
        .about(Subject::Kind::File, path);
}

Status canBeWritten(const std::string& path) {
    std::error_code absent;
    const fs::path followed = fs::canonical(path, absent);
    if (!absent && fs::is_directory(followed, absent)) return cannotWrite(path, EISDIR);
    if (!absent && !fs::is_regular_file(followed, absent)) return {};  // a device or a pipe
    if (auto may = noDatabase(followed.empty() ? path : followed.string(), path); !may) return may;
    const std::string unfinished = unfinishedOf(followed.empty() ? path : followed.string());
    if (const int problem = makeAnew(unfinished); problem != 0) return cannotWrite(path, problem);
    ::unlink(unfinished.c_str());
    return {};
}

Status exportToFile(const std::string& path, const std::function<Status(std::ostream&)>& write, const ExportProgress& progress) {
    std::error_code absent;
    const fs::path followed = fs::canonical(path, absent);
    const std::string target = absent ? path : followed.string();
    // A device or a pipe takes the bytes as they come; a file in its place would be something else.
    if (!absent && !fs::is_regular_file(followed, absent)) return writeInto(target, path, write, progress);
    if (auto may = noDatabase(target, path); !may) return may;
    const std::string unfinished = unfinishedOf(target);
    auto done = writeAndSync(unfinished, path, write, progress);
    if (done && std::rename(unfinished.c_str(), target.c_str()) != 0) done = cannotWrite(path, errno);
    std::error_code ignored;
    if (!done) fs::remove(unfinished, ignored);
    return done;
}

}  // namespace stepscope
