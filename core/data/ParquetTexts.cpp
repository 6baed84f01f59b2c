#include "core/data/ParquetTexts.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include "core/base/Utf8.h"
#include "core/data/DataFolders.h"
#include "core/data/parquet/ParquetFrames.h"
#include "core/data/tokenizers/Utf8.h"

extern char** environ;

namespace stepscope {
namespace {

namespace frames = parquet_frames;

constexpr const char* kColumn = "text";
constexpr int kAskEvery = 100;  // ms
constexpr std::size_t kPipeRead = 1 << 18;
constexpr int kCannotRun = 127;  // of a program whose libraries are not found

// The program while it runs; it does not outlive this.
class ParquetProcess {
public:
    ParquetProcess() = default;
    ~ParquetProcess() {
        if (m_out >= 0) ::close(m_out);
        if (m_process <= 0) return;
        ::kill(m_process, SIGKILL);
        (void)wait();
    }
    ParquetProcess(const ParquetProcess&) = delete;
    ParquetProcess& operator=(const ParquetProcess&) = delete;

    // 0 or an errno.
    int start(std::string program, std::string path, std::string column) {
        std::array<int, 2> ends{-1, -1};
        if (::pipe2(ends.data(), O_CLOEXEC) != 0) return errno;
        posix_spawn_file_actions_t files;
        posix_spawn_file_actions_init(&files);
        posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
        posix_spawn_file_actions_adddup2(&files, ends[1], STDOUT_FILENO);
        posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
        std::array<char*, 4> words{program.data(), path.data(), column.data(), nullptr};
        const int problem = ::posix_spawn(&m_process, program.c_str(), &files, nullptr, words.data(), environ);
        posix_spawn_file_actions_destroy(&files);
        ::close(ends[1]);
        m_out = ends[0];
        if (problem != 0) m_process = -1;
        return problem;
    }

    enum class Got { Bytes, Nothing, End };
    // What is there within kAskEvery, behind what `into` holds.
    Got more(std::string& into) const {
        pollfd waits{m_out, POLLIN, 0};
        if (::poll(&waits, 1, kAskEvery) <= 0) return Got::Nothing;
        const std::size_t held = into.size();
        into.resize(held + kPipeRead);
        const ssize_t got = ::read(m_out, into.data() + held, kPipeRead);
        into.resize(held + static_cast<std::size_t>(std::max<ssize_t>(0, got)));
        if (got < 0 && errno == EINTR) return Got::Nothing;
        return got > 0 ? Got::Bytes : Got::End;
    }

    // How it ended, as waitpid tells it.
    int wait() {
        int status = 0;
        while (::waitpid(m_process, &status, 0) < 0 && errno == EINTR) {
        }
        m_process = -1;
        return status;
    }

private:
    pid_t m_process = -1;
    int m_out = -1;
};

// Frames that have come whole, in turn.
class ParquetFramesCome {
public:
    std::string& incoming() {
        if (m_at > 0) m_bytes.erase(0, std::exchange(m_at, 0));
        return m_bytes;
    }
    // False: what has come is no frame, or not yet a whole one.
    bool next(frames::Head& head, std::string_view& payload) {
        const std::string_view left = std::string_view(m_bytes).substr(m_at);
        if (left.size() < sizeof head) return false;
        std::memcpy(&head, left.data(), sizeof head);
        const bool known = (head.kind == frames::Text && head.bytes <= frames::kLongestText) || (head.kind == frames::Done && head.bytes == 8) ||
                           (head.kind == frames::Failed && head.bytes <= frames::kLongestSentence);
        m_wrong = !known;
        if (m_wrong || left.size() - sizeof head < head.bytes) return false;
        payload = left.substr(sizeof head, head.bytes);
        m_at += sizeof head + head.bytes;
        return true;
    }
    bool wrong() const { return m_wrong; }

private:
    std::string m_bytes;
    std::size_t m_at = 0;
    bool m_wrong = false;
};

Error brokeOff(const std::string& path, const std::string& program, int status) {
    if (WIFEXITED(status) && WEXITSTATUS(status) == kCannotRun)
        return makeError(ErrorCode::NotFound, fmt::format("{} cannot be read: {} does not find its libraries; install pyarrow again with "
                                                          "STEPSCOPE_PARQUET=1 packaging/run --build-only.",
                                                          path, program));
    if (WIFSIGNALED(status))
        return makeError(ErrorCode::BadInput,
                         fmt::format("{} cannot be read as parquet: its reader was ended by signal {} ({}); the file is damaged or "
                                     "there was no memory, so fetch it again or write it with smaller row groups.",
                                     path, WTERMSIG(status), ::strsignal(WTERMSIG(status))));
    return makeError(ErrorCode::BadInput, fmt::format("{} cannot be read as parquet: its reader broke off; fetch or write it again.", path));
}

}  // namespace

Result<ParquetRows> readParquet(const std::string& path, const std::function<bool()>& cancelled,
                                const std::function<Result<bool>(std::string_view)>& take) {
    const std::string program = parquetReaderPath();
    if (program.empty())
        return makeError(ErrorCode::NotFound, fmt::format("{} is parquet, and this build cannot read it: install pyarrow with STEPSCOPE_PARQUET=1 "
                                                          "packaging/run --build-only, or write its texts as .jsonl.",
                                                          path));
    ParquetProcess reader;
    if (const int problem = reader.start(program, path, kColumn); problem != 0)
        return makeError(ErrorCode::NotFound,
                         fmt::format("{} cannot be read: the reader of parquet {} cannot be started: {}.", path, program, std::strerror(problem)));
    ParquetRows rows;
    ParquetFramesCome came;
    frames::Head head;
    for (std::string_view payload;;) {
        if (cancelled()) return makeError(ErrorCode::Cancelled, fmt::format("Reading {} was cancelled.", path));
        const auto got = reader.more(came.incoming());
        while (came.next(head, payload)) {
            if (head.kind == frames::Failed) return makeError(ErrorCode::BadInput, fmt::format("{} {}", path, printable(payload)));
            if (head.kind == frames::Done) {
                std::memcpy(&rows.nulls, payload.data(), sizeof rows.nulls);
                if (rows.nulls < 0) return brokeOff(path, program, 0);
                return rows;
            }
            ++rows.texts;
            if (const auto broken = utf8::findInvalid(payload); broken != std::string_view::npos)
                return makeError(ErrorCode::BadInput,
                                 fmt::format("{} is not UTF-8 in its text {}, byte {}; write it again.", path, rows.texts, broken));
            const auto goOn = take(payload);
            if (!goOn) return goOn.error();
            if (!*goOn) return rows;
        }
        if (came.wrong()) return brokeOff(path, program, 0);
        if (got == ParquetProcess::Got::End) return brokeOff(path, program, reader.wait());
    }
}

}  // namespace stepscope
