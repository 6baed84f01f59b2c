// ByteSource: the bytes of a file from its begin to its end, unpacked where it is a gzip file, read on a thread of its own so that who takes them
// need not wait. What a small file unpacks to is bounded. Used by the readers of this folder.
#pragma once
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <thread>

#include "core/base/Result.h"

namespace stepscope::importing {

class ByteSource {
public:
    // The error names the file and what to do.
    static Result<std::unique_ptr<ByteSource>> open(const std::string& path);
    ~ByteSource();
    ByteSource(const ByteSource&) = delete;
    ByteSource& operator=(const ByteSource&) = delete;

    // The next piece; empty at the end, or where status() is an error.
    std::string next();
    const Status& status() const { return m_ended; }
    bool packed() const { return m_packed; }
    // Where a packed file ends although it is not whole, which status() then says; all that unpacks was given. -1: it does not.
    std::int64_t cutAt() const { return m_ended ? -1 : m_cutAt; }
    double fraction() const;  // of the file that was read

private:
    ByteSource(std::string path, int file, std::int64_t size, bool packed);
    void run();
    Status unpack();
    Status copy();
    bool put(std::string piece);
    Result<std::size_t> read(char* into, std::size_t size);

    const std::string m_path;
    const int m_file;
    const std::int64_t m_size;
    const bool m_packed;
    std::atomic<std::int64_t> m_read = 0;
    std::mutex m_mutex;
    std::condition_variable m_room, m_there;
    std::deque<std::string> m_pieces;
    Status m_outcome, m_ended;
    std::int64_t m_cutAt = -1;
    bool m_done = false;
    std::atomic<bool> m_leaving = false;
    std::thread m_thread;
};

}  // namespace stepscope::importing
