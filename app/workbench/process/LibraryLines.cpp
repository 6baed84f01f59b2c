#include "app/workbench/process/LibraryLines.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <exception>
#include <utility>

#include "app/workbench/process/LibraryWarnings.h"
#include "app/workbench/process/LineCutter.h"
#include "app/workbench/process/StandardError.h"

namespace stepscope {
namespace {

constexpr std::size_t kLongestLine = 2000;  // bytes
constexpr std::size_t kMostLines = 1000;    // that wait to be told
constexpr std::size_t kAtOnce = 1 << 17;    // bytes that are read before somebody who asks is answered: more than a pipe holds
constexpr int kUnfinishedMs = 200;          // after which a line without an end is told
constexpr std::chrono::seconds kPatience{1};

std::atomic<LibraryLines*> g_lines{nullptr};
thread_local bool t_tells = false;

}  // namespace

LibraryLines::LibraryLines() {
    if (!standard_error::taken()) return;
    m_wake = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (m_wake < 0) {
        standard_error::giveBack();
        return;
    }
    try {
        m_teller = std::thread([this] { tell(); });
        m_reader = std::thread([this] { read(); });
    } catch (const std::exception&) {  // no thread to be had: better raw than never
        standard_error::giveBack();
        {
            const std::lock_guard lock(m_mutex);
            m_over = true;
        }
        m_ready.notify_all();
        return;
    }
    standard_error::setRead(true);
    g_lines = this;
}

LibraryLines::~LibraryLines() {
    LibraryLines* self = this;
    if (g_lines.compare_exchange_strong(self, nullptr)) {
        standard_error::setRead(false);
        {
            const std::lock_guard lock(m_mutex);
            m_ending = true;
        }
        ask();
    }
    if (m_reader.joinable()) m_reader.join();
    if (m_teller.joinable()) m_teller.join();
    if (m_wake >= 0) ::close(m_wake);
}

void LibraryLines::settle() {
    LibraryLines* const lines = g_lines;
    if (lines != nullptr && !t_tells) lines->waitForTold();
}

std::uint64_t LibraryLines::ask() {
    std::uint64_t number = 0;
    {
        const std::lock_guard lock(m_mutex);
        number = ++m_asked;
    }
    ::eventfd_write(m_wake, 1);
    return number;
}

void LibraryLines::waitForTold() {
    const std::uint64_t number = ask();
    std::unique_lock lock(m_mutex);
    m_told.wait_for(lock, kPatience, [&] { return m_settled >= number; });
}

void LibraryLines::read() {
    std::array<char, 4096> piece;
    LineCutter lines(kLongestLine);
    const auto offer = [this](std::string text) {
        {
            const std::lock_guard lock(m_mutex);
            if (m_lines.size() >= kMostLines) {
                ++m_leftOut;
                return;
            }
            m_lines.push_back({std::move(text)});
        }
        m_ready.notify_one();
    };
    for (bool going = true; going && !standard_error::ended();) {
        std::array<pollfd, 2> waiting{{{standard_error::pipeEnd(), POLLIN, 0}, {m_wake, POLLIN, 0}}};
        const int heard = ::poll(waiting.data(), waiting.size(), lines.unfinished() ? kUnfinishedMs : -1);
        if (heard < 0 && errno != EINTR) break;
        std::uint64_t asked = 0;
        if (heard > 0 && waiting[1].revents != 0) {
            eventfd_t ignored = 0;
            ::eventfd_read(m_wake, &ignored);
            const std::lock_guard lock(m_mutex);
            asked = m_asked;
            going = !m_ending;
        }
        for (std::size_t sum = 0; sum < kAtOnce;) {
            const ssize_t count = standard_error::readSome(piece.data(), piece.size());
            if (count <= 0) break;
            sum += static_cast<std::size_t>(count);
            lines.add({piece.data(), static_cast<std::size_t>(count)}, offer);
        }
        if (asked > 0 || heard == 0) lines.end(offer);
        if (asked == 0) continue;
        {
            const std::lock_guard lock(m_mutex);
            m_lines.push_back({{}, asked});
        }
        m_ready.notify_one();
    }
    {
        const std::lock_guard lock(m_mutex);
        m_over = true;
    }
    m_ready.notify_one();
}

void LibraryLines::tell() {
    t_tells = true;
    std::unique_lock lock(m_mutex);
    for (;;) {
        m_ready.wait(lock, [this] { return m_over || !m_lines.empty(); });
        if (m_lines.empty()) return;
        const Line line = std::move(m_lines.front());
        m_lines.pop_front();
        const std::uint64_t leftOut = std::exchange(m_leftOut, 0);
        lock.unlock();
        try {
            if (!line.text.empty()) tellLibraryLine(line.text);
            if (leftOut > 0) leaveOutLibraryLines(leftOut);
        } catch (const std::exception&) {
            // Nobody can be told that there is no memory to tell it.
        }
        lock.lock();
        m_settled = std::max(m_settled, line.settles);
        if (line.settles > 0) m_told.notify_all();
    }
}

}  // namespace stepscope
