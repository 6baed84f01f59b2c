#include "sessions/WalSync.h"

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

WalSync::WalSync(const std::string& database, std::function<void(const std::string& why)> onProblem)
    : m_log(logOf(database)), m_onProblem(std::move(onProblem)), m_thread([this](const std::stop_token& stop) { run(stop); }) {}

WalSync::~WalSync() {
    m_thread.request_stop();
    if (m_thread.joinable()) m_thread.join();
    if (m_file >= 0) ::close(m_file);
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
    const std::filesystem::path folder = std::filesystem::path(m_log).parent_path();
    makeFolderDurable(folder);
    makeFolderDurable(folder.parent_path());
    for (;;) {
        std::unique_lock lock(m_mutex);
        (void)m_wake.wait(lock, stop, [&] { return m_due; });
        if (!std::exchange(m_due, false)) return;
        lock.unlock();
        const auto begin = Clock::now();
        sync();
        lock.lock();
        (void)m_wake.wait_until(lock, stop, begin + kEvery, [] { return false; });
    }
}

void WalSync::sync() {
    // The log is a new file when the last connection that was open beside ours emptied and removed it, and when somebody put the database back.
    struct stat ours {
    }, named{};
    const bool there = ::stat(m_log.c_str(), &named) == 0;
    const bool same = m_file >= 0 && there && ::fstat(m_file, &ours) == 0 && ours.st_ino == named.st_ino && ours.st_dev == named.st_dev;
    if (!same) {
        if (m_file >= 0) ::close(m_file);
        m_file = ::open(m_log.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    }
    // No log: everything is in the database, or that was taken away, which the recorder says.
    const int problem = m_file >= 0 ? makeDurable(m_file) : errno == ENOENT ? 0 : errno;
    if (problem != 0 && m_onProblem && !std::exchange(m_told, true)) m_onProblem(std::strerror(problem));
}

}  // namespace stepscope
