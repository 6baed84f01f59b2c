// standard_error_probe WORD: a program whose descriptor 2 is taken as our programs' is, and in which a library does what the word says. What is told
// is printed as "told: SENTENCE", what the program says itself as "own: …". StandardErrorTest starts it.
#include <dirent.h>
#include <sys/wait.h>
#include <unistd.h>

#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "app/workbench/process/EarlyEnd.h"
#include "app/workbench/process/LibraryLines.h"
#include "app/workbench/process/LibraryWarnings.h"
#include "app/workbench/process/StandardError.h"

namespace stepscope {
namespace {

struct Goodbye {
    ~Goodbye() {
        if (says) std::fputs("goodbye\n", stderr);
    }
    bool says = false;
} g_goodbye;

[[gnu::constructor]] void beforeMain() {
    std::fputs("before main\n", stderr);
}

// Distinct lines, each in one piece.
void writeLines(int thread, int count) {
    for (int i = 0; i < count; ++i) {
        const std::string line = "thread " + std::to_string(thread) + " line " + std::to_string(i) + "\n";
        if (::write(STDERR_FILENO, line.data(), line.size()) < 0) std::_Exit(99);
    }
}

void breakMemory() {
    alignas(16) char inner[64] = {};
    char* volatile wrong = inner + 8;
    std::free(wrong);  // NOLINT: what this is about
}

void throwOutOfAThread() {
    std::thread([] { throw std::runtime_error("nobody catches this"); }).join();
}

void faultyInstruction() {
    volatile int* volatile nowhere = nullptr;
    *nowhere = 1;  // NOLINT: what this is about
}

// How often the other threads of this process have gone to sleep.
long sleeps() {
    long sum = 0;
    DIR* const tasks = ::opendir("/proc/self/task");
    while (const dirent* one = ::readdir(tasks)) {
        if (one->d_name[0] == '.' || std::atoi(one->d_name) == ::getpid()) continue;
        std::ifstream status(std::string("/proc/self/task/") + one->d_name + "/status");
        for (std::string line; std::getline(status, line);)
            if (line.starts_with("voluntary_ctxt_switches:")) sum += std::atol(line.c_str() + std::strlen("voluntary_ctxt_switches:"));
    }
    ::closedir(tasks);
    return sum;
}

int run(const std::string& word) {
    std::FILE* const own = standard_error::own();
    if (word == "say") {
        std::fputs("\x1b[31mred\x1b[0m and \a a bell\n  \n", stderr);
        std::fputs("a line without an end", stderr);
        LibraryLines::settle();
        std::fputs("own: the end\n", own);
        return 7;
    }
    if (word == "flood") {
        std::vector<std::thread> threads;
        for (int t = 0; t < 4; ++t) threads.emplace_back([t] { writeLines(t, 25'000); });
        for (auto& thread : threads) thread.join();
        return 0;
    }
    if (word == "long") {
        const std::string text(1 << 20, 'x');
        return ::write(STDERR_FILENO, text.data(), text.size()) == static_cast<ssize_t>(text.size()) ? 0 : 98;
    }
    if (word == "fork") {
        const pid_t child = ::fork();
        if (child == 0) {
            std::fputs("the child speaks\n", stderr);
            std::_Exit(0);
        }
        int status = 0;
        ::waitpid(child, &status, 0);
        std::fputs("the parent speaks\n", stderr);
        return status;
    }
    if (word == "shell") return std::system("echo the shell speaks >&2");
    if (word == "idle") {
        LibraryLines::settle();
        long before = -1;
        for (int i = 0; i < 100 && before != sleeps(); ++i) {  // until they are asleep
            before = sleeps();
            ::usleep(100'000);
        }
        ::usleep(300'000);
        std::fprintf(own, "own: %ld\n", sleeps() - before);
        return 0;
    }
    if (word == "late") {
        g_goodbye.says = true;
        return 0;
    }
    std::fputs("last words\n", stderr);
    if (word == "told-then-abort") LibraryLines::settle();
    if (word == "exit") std::exit(3);
    if (word == "free") breakMemory();
    if (word == "terminate") throwOutOfAThread();
    if (word == "fault") faultyInstruction();
    if (word == "two-aborts") {
        std::thread([] { std::abort(); }).detach();
        std::abort();
    }
    std::abort();
}

// A listener that waits until all is written, as a log waits for a disk that is full.
int blocked() {
    std::mutex mutex;
    std::condition_variable changed;
    bool written = false;
    int told = 0;
    const LibraryWarningListener listener([&](const std::string&) {
        std::unique_lock lock(mutex);
        changed.wait(lock, [&] { return written; });
        ++told;
    });
    {
        const LibraryLines lines;
        writeLines(0, 200'000);
        {
            const std::lock_guard lock(mutex);
            written = true;
        }
        changed.notify_all();
    }
    std::fprintf(standard_error::own(), "own: %d told\n", told);
    return 0;
}

// More than a pipe holds, while nobody reads it yet.
int early() {
    const std::string text(1 << 20, 'x');
    (void)!::write(STDERR_FILENO, text.data(), text.size());
    std::fputs("own: goes on\n", standard_error::own());
    return 0;
}

}  // namespace
}  // namespace stepscope

int main(int, char** argv) {
    using namespace stepscope;
    early_end::begun();
    const std::string word = argv[1];
    if (word == "early") return early();
    if (word == "blocked") return blocked();
    const bool heard = word != "told-then-abort";  // else as by the log of a window
    const LibraryWarningListener listener([heard](const std::string& sentence) {
        if (heard) std::fprintf(standard_error::own(), "told: %s\n", sentence.c_str());
    });
    const LibraryLines lines;
    return run(word);
}
