#include "sessions/record/WalSync.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <utility>

namespace stepscope {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kEvery{100};
constexpr int kThreads = 6;  // a commit is on its way in time where a sync takes up to 0.9 s

// SQLite follows symbolic links before it names its side files.
std::string logOf(const std::string& database) {
    std::error_code problem;
    const auto real = std::filesystem::weakly_canonical(std::filesystem::absolute(database), problem);
    return (problem ? std::filesystem::absolute(database) : real).string() + "-wal";
}

// 0 or an errno.
int makeDurable(int file) {
    while (::fdatasync(file) != 0)
        if (errno != EINTR) return errno;
    return 0;
}

// That the files of a folder are there must be durable too.
void makeFolderDurable(const std::filesystem::path& folder) {
    const int file = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (file < 0) return;
    (void)::fsync(file);
    ::close(file);
}

}  // namespace

// Open while anybody is syncing it, also when the log has become another file meanwhile.
class WalSync::LogFile {
public:
    explicit LogFile(const std::string& path) : m_file(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC)), m_problem(m_file < 0 ? errno : 0) {}
    ~LogFile() {
        if (m_file >= 0) ::close(m_file);
    }
    LogFile(const LogFile&) = delete;
    LogFile& operator=(const LogFile&) = delete;

    bool isNamed(const std::string& path) const {
        struct stat ours {
        }, named{};
        return m_file >= 0 && ::stat(path.c_str(), &named) == 0 && ::fstat(m_file, &ours) == 0 && ours.st_ino == named.st_ino &&
               ours.st_dev == named.st_dev;
    }
    // No log: everything is in the database, or that was taken away, which the recorder says.
    int sync() const { return m_file >= 0 ? makeDurable(m_file) : m_problem == ENOENT ? 0 : m_problem; }

private:
    const int m_file;
    const int m_problem;
};

WalSync::WalSync(const std::string& database, std::function<void(const std::string& why)> onProblem)
    : m_log(logOf(database)), m_onProblem(std::move(onProblem)) {
    m_threads.reserve(kThreads);
    for (int i = 0; i < kThreads; ++i)
        m_threads.emplace_back([this, i](const std::stop_token& stop) {
            const std::filesystem::path folder = std::filesystem::path(m_log).parent_path();
            if (i == 0) makeFolderDurable(folder);
            if (i == 0) makeFolderDurable(folder.parent_path());
            run(stop);
        });
}

WalSync::~WalSync() {
    for (auto& thread : m_threads) thread.request_stop();
    m_threads.clear();  // joins
}

void WalSync::committed() {
    {
        std::lock_guard lock(m_mutex);
        m_due = true;
    }
    m_wake.notify_one();
}

void WalSync::once(const std::string& database) {
    const int file = ::open(logOf(database).c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (file < 0) return;
    (void)makeDurable(file);
    ::close(file);
}

void WalSync::run(const std::stop_token& stop) {
    std::unique_lock lock(m_mutex);
    for (;;) {
        (void)m_wake.wait(lock, stop, [&] { return m_due; });
        if (!m_due) return;
        // Another may take it while this one waits.
        const auto notBefore = m_notBefore;
        (void)m_wake.wait_until(lock, stop, notBefore, [] { return false; });
        if (!std::exchange(m_due, false)) continue;
        m_notBefore = Clock::now() + kEvery;
        const auto file = current();
        lock.unlock();
        if (const int problem = file->sync(); problem != 0 && m_onProblem && !m_told.exchange(true)) m_onProblem(std::strerror(problem));
        lock.lock();
    }
}

// The log is a new file when the last connection that was open emptied and removed it, and when somebody put the database back. Under the mutex.
std::shared_ptr<WalSync::LogFile> WalSync::current() {
    if (m_file && m_file->isNamed(m_log)) return m_file;
    return m_file = std::make_shared<LogFile>(m_log);
}

}  // namespace stepscope
