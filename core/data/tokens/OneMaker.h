// Of several processes that need the same of the token cache one makes it, and the others wait and take what it made. Who makes it holds a file of
// the folder locked (flock); the system frees that when the process ends, however it ends. Used by Corpus and TokenCache while a corpus is opened.
#pragma once
#include <atomic>
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <utility>

namespace stepscope {

// A file that is locked by this; removed in the end, unless tokens lie in it with which somebody can go on (UnfinishedTokens.h).
class MakerLock {
public:
    MakerLock() = default;
    MakerLock(std::string path, int file) : m_path(std::move(path)), m_file(file) {}
    MakerLock(MakerLock&& other) noexcept : m_path(std::move(other.m_path)), m_file(std::exchange(other.m_file, -1)) {}
    MakerLock& operator=(MakerLock&& other) noexcept {
        std::swap(m_path, other.m_path);
        std::swap(m_file, other.m_file);
        return *this;
    }
    ~MakerLock();

    explicit operator bool() const { return m_file >= 0; }
    // The descriptor; closing it and what becomes of the file are the caller's from now on.
    int release() { return std::exchange(m_file, -1); }
    // For those who wait: how far this is, in the file itself. Of a file without anything else in it.
    void say(const std::string& what, double share) const;

private:
    std::string m_path;
    int m_file = -1;
};

struct MakerSaid {
    std::string what;
    double share = 0;
};
// What whoever makes it has said there last; nothing where that is not to be read.
std::optional<MakerSaid> heardOfMaker(const std::string& path);

struct MakerPatience {
    std::chrono::milliseconds looks{100};                         // between two
    std::chrono::milliseconds silence = std::chrono::minutes(5);  // of who makes it, its file unchanged, until nobody waits any longer
};

struct MakerTurn {
    MakerLock lock;  // none: nothing can be locked there, or who makes it was silent for too long. Then each makes its own
    bool waited = false;
    bool cancelled = false;
};
// The lock of the file at `path`, made with its folder where there is none. While another has it, this waits: `waits` is called at once and, as long
// as that one is heard of, about once a second.
MakerTurn takeTurn(const std::string& path, const std::atomic<bool>& cancelled, const std::function<void()>& waits,
                   const MakerPatience& patience = {});

}  // namespace stepscope
