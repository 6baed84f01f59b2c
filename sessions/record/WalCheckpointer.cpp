#include "sessions/record/WalCheckpointer.h"

#include <SQLiteCpp/Exception.h>
#include <sqlite3.h>

#include <chrono>
#include <filesystem>
#include <memory>

namespace stepscope {

constexpr int kPagesDue = 1000;  // SQLite's own default: 4 MB of log
constexpr std::chrono::seconds kRest{1};

WalCheckpointer::WalCheckpointer(const std::string& path, SQLite::Database& writer)
    : m_path(std::filesystem::absolute(path).string()), m_writer(writer) {
    sqlite3_wal_hook(
        writer.getHandle(),
        [](void* self, sqlite3*, const char*, int pages) {
            static_cast<WalCheckpointer*>(self)->logGrew(pages);
            return SQLITE_OK;
        },
        this);
    m_thread = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

WalCheckpointer::~WalCheckpointer() {
    sqlite3_wal_hook(m_writer.getHandle(), nullptr, nullptr);
}

void WalCheckpointer::logGrew(int pages) {
    if (pages < kPagesDue) return;
    {
        std::lock_guard lock(m_mutex);
        m_due = true;
    }
    m_wake.notify_one();
}

void WalCheckpointer::run(const std::stop_token& stop) {
    std::unique_ptr<SQLite::Database> connection;
    while (!stop.stop_requested()) {
        std::unique_lock lock(m_mutex);
        if (!m_wake.wait(lock, stop, [&] { return m_due; })) return;
        m_due = false;
        lock.unlock();
        try {
            if (!connection) connection = std::make_unique<SQLite::Database>(m_path, SQLite::OPEN_READWRITE);
            // PASSIVE: waits for nobody and makes nobody wait; what a reader still needs is moved next time.
            connection->execAndGet("PRAGMA wal_checkpoint(PASSIVE)").getInt();
        } catch (const SQLite::Exception&) {
            // A full disk: the log keeps everything, and the next commit asks again.
        }
        lock.lock();
        m_wake.wait_for(lock, stop, kRest, [] { return false; });
    }
}

}  // namespace stepscope
