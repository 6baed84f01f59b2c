// WalSync: makes what the recorder has committed durable against a power cut: the write-ahead log is given to the disk (fdatasync) soon
// after each commit, at most every 100 ms, on threads that nobody waits for and through a descriptor of the log's own. Commits gather for 100 ms,
// so a cut costs at most a quarter of a second and one fdatasync. For that a commit must not wait for a sync that began before it and takes
// long: hence several threads. The database itself and its -shm are never opened here: closing such a descriptor would drop the POSIX
// locks that SQLite holds in this process.
#pragma once
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

namespace stepscope {

class WalSync {
public:
    // onProblem: called once, on one of the threads, with the reason when the disk refuses.
    explicit WalSync(const std::string& database, std::function<void(const std::string& why)> onProblem = {});
    ~WalSync();  // what is committed is durable, or was refused

    WalSync(const WalSync&) = delete;
    WalSync& operator=(const WalSync&) = delete;

    void committed();  // any thread; returns at once

    // The same at once and by the caller: for what a person changes while nothing is recorded. Nothing where there is no log: then the database is
    // durable itself.
    static void once(const std::string& database);

private:
    class LogFile;
    void run(const std::stop_token& stop);
    std::shared_ptr<LogFile> current();

    const std::string m_log;
    const std::function<void(const std::string& why)> m_onProblem;
    std::atomic<bool> m_told = false;
    std::mutex m_mutex;  // guards what follows
    std::condition_variable_any m_wake;
    std::shared_ptr<LogFile> m_file;
    bool m_due = false;
    std::chrono::steady_clock::time_point m_notBefore;
    std::vector<std::jthread> m_threads;  // last: they use the rest
};

}  // namespace stepscope
