// LibraryLines: reads what libraries wrote to descriptor 2 (StandardError.h) and tells it, a line a sentence, to whoever listens to library warnings.
// Made by main(). One thread reads and waits for nobody, so that no library, and no training, waits for a log that cannot be written; another one
// tells. Both sleep while nobody writes.
#pragma once
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <thread>

namespace stepscope {

class LibraryLines {
public:
    LibraryLines();   // does nothing where descriptor 2 was not taken
    ~LibraryLines();  // what was written until now has been told
    LibraryLines(const LibraryLines&) = delete;
    LibraryLines& operator=(const LibraryLines&) = delete;

    // Waits until what was written until now has been told; for a second at most, as who tells it may have to wait. Any thread.
    static void settle();

private:
    struct Line {
        std::string text;
        std::uint64_t settles = 0;  // whose question is answered once it is told
    };
    void read();
    void tell();
    void waitForTold();
    std::uint64_t ask();

    int m_wake = -1;
    std::mutex m_mutex;  // of all below
    std::condition_variable m_ready, m_told;
    std::deque<Line> m_lines;
    std::uint64_t m_leftOut = 0;  // lines for which there was no room
    std::uint64_t m_asked = 0, m_settled = 0;
    bool m_ending = false, m_over = false;
    std::thread m_reader, m_teller;
};

}  // namespace stepscope
