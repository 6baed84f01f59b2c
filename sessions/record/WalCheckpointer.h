// WalCheckpointer: moves the write-ahead log into the database on a thread and connection of its own. Left to the recorder's commits,
// that would fsync in the middle of one of them, and on a slow disk more than 250 ms of a run would not yet be stored when it is killed.
#pragma once
#include <SQLiteCpp/Database.h>

#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>

namespace stepscope {

class WalCheckpointer {
public:
    // From now on no commit of `writer` checkpoints by itself. `writer` outlives this.
    WalCheckpointer(const std::string& path, SQLite::Database& writer);
    ~WalCheckpointer();

    WalCheckpointer(const WalCheckpointer&) = delete;
    WalCheckpointer& operator=(const WalCheckpointer&) = delete;

private:
    void logGrew(int pages);  // recorder thread, inside its commit
    void run(const std::stop_token& stop);

    std::string m_path;
    SQLite::Database& m_writer;
    std::mutex m_mutex;
    std::condition_variable_any m_wake;
    bool m_due = false;
    std::jthread m_thread;  // last: it uses the rest
};

}  // namespace stepscope
