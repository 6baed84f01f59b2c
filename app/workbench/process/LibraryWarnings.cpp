#include "app/workbench/process/LibraryWarnings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <mutex>
#include <regex>
#include <set>
#include <streambuf>
#include <utility>
#include <vector>

#include "app/workbench/process/LibraryLines.h"
#include "core/base/Format.h"
#include "core/base/Utf8.h"

namespace stepscope {
namespace {

constexpr std::size_t kMostKept = 100;  // different sentences that a listener hears, and that wait for one
constexpr std::size_t kLongest = 4096;  // of what one write may say before it is cut

struct Listener {
    const LibraryWarningListener* who = nullptr;
    std::function<void(const std::string&)> hear;
    std::set<std::string> told;
    std::uint64_t leftOut = 0;
    bool full() const { return told.size() >= kMostKept; }
};

class Taken final : public std::streambuf {
public:
    void listen(const LibraryWarningListener* who, std::function<void(const std::string&)> hear) {
        const std::lock_guard telling(m_telling);
        m_listeners.push_back({who, std::move(hear), {}});
        m_listeners.back().leftOut = std::exchange(m_waitingLeftOut, 0);
        for (const auto& sentence : std::exchange(m_waiting, {})) tell(sentence);
    }
    void stopListening(const LibraryWarningListener* who) {
        const std::lock_guard telling(m_telling);
        const auto found = std::ranges::find(m_listeners, who, &Listener::who);
        if (found == m_listeners.end()) return;
        const Listener leaving = std::move(*found);
        m_listeners.erase(found);
        if (leaving.leftOut > 0)
            leaving.hear(fmt::format("Libraries said {} more {}; they are left out here.", format::count(static_cast<std::int64_t>(leaving.leftOut)),
                                     leaving.leftOut == 1 ? "thing" : "things"));
    }
    void tellLine(const std::string& line) {
        const std::lock_guard telling(m_telling);
        if (m_listeners.empty() ? m_waiting.size() >= kMostKept : m_listeners.back().full()) return leaveOut(1);  // whatever it says
        if (const std::string sentence = warningSentence(line); !sentence.empty()) tell(sentence);
    }
    void leaveOut(std::uint64_t lines) {
        const std::lock_guard telling(m_telling);
        (m_listeners.empty() ? m_waitingLeftOut : m_listeners.back().leftOut) += lines;
    }

protected:
    int_type overflow(int_type c) override {
        if (traits_type::eq_int_type(c, traits_type::eof())) return traits_type::not_eof(c);
        const char one = traits_type::to_char_type(c);
        xsputn(&one, 1);
        return c;
    }
    std::streamsize xsputn(const char* text, std::streamsize count) override {
        const std::lock_guard writing(m_writing);
        const std::size_t room = kLongest - std::min(kLongest, m_written.size());
        m_written.append(text, std::min(room, static_cast<std::size_t>(count)));
        // What is cut ends all the same.
        if (count > 0 && text[count - 1] == '\n' && (m_written.empty() || m_written.back() != '\n')) m_written.push_back('\n');
        return count;
    }
    // After every << to std::cerr; a message may come in several.
    int sync() override {
        std::string whole;
        {
            const std::lock_guard writing(m_writing);
            if (m_written.empty() || m_written.back() != '\n') return 0;
            whole = std::exchange(m_written, {});
        }
        const std::string sentence = warningSentence(whole);
        const std::lock_guard telling(m_telling);
        if (!sentence.empty()) tell(sentence);
        return 0;
    }

private:
    void tell(const std::string& sentence) {
        if (m_listeners.empty()) {
            if (std::ranges::find(m_waiting, sentence) != m_waiting.end()) return;
            if (m_waiting.size() >= kMostKept) return leaveOut(1);
            m_waiting.push_back(sentence);
            return;
        }
        Listener& newest = m_listeners.back();
        if (newest.told.contains(sentence)) return;
        if (newest.full()) return leaveOut(1);
        newest.told.insert(sentence);
        newest.hear(sentence);
    }

    std::mutex m_writing;
    std::string m_written;
    std::recursive_mutex m_telling;  // a listener that is being told may cause the next warning, and none goes away meanwhile
    std::vector<Listener> m_listeners;
    std::vector<std::string> m_waiting;
    std::uint64_t m_waitingLeftOut = 0;
};

// Never taken down: a library may write while the program ends.
Taken& taken() {
    static auto* const one = new Taken;
    return *one;
}

}  // namespace

void takeLibraryWarnings() {
    const char* const raw = std::getenv("STEPSCOPE_RAW_STDERR");
    if (raw != nullptr && *raw != '\0') return;
    if (std::cerr.rdbuf() != &taken()) std::cerr.rdbuf(&taken());
}

void tellLibraryLine(const std::string& line) {
    taken().tellLine(line);
}

void leaveOutLibraryLines(std::uint64_t lines) {
    taken().leaveOut(lines);
}

std::string warningSentence(const std::string& written) {
    // "[W1122 08:03:07.123456 Context.cpp:80] Warning: what it is about (function operator())"
    // Never taken down: they are asked while the program ends.
    static const auto& place = *new std::regex(R"(^\[[A-Z]\S* [^\]]*\] (Warning: )?)");
    static const auto& function = *new std::regex(R"( \(function [^)]*(\(\))?\)\s*$)");
    static const auto &space = *new std::regex(R"(\s+)"), &colour = *new std::regex("\x1B\\[[0-9;]*m");
    std::string text = printable(std::regex_replace(std::regex_replace(written, colour, ""), space, " "));
    while (!text.empty() && text.back() == ' ') text.pop_back();
    text.erase(0, text.find_first_not_of(' '));
    text = text.substr(0, text.find(" Exception raised from "));  // and where in LibTorch, frame by frame
    const std::string bare = std::regex_replace(std::regex_replace(text, place, ""), function, "");
    // What c10d says while it tries again is told once, by core/workers, as one sentence.
    if (bare.empty() || bare.starts_with("[c10d] ")) return {};
    return (bare == text ? "A library says: " : "LibTorch warns: ") + bare;
}

LibraryWarningListener::LibraryWarningListener(std::function<void(const std::string&)> hear) {
    taken().listen(this, std::move(hear));
}

LibraryWarningListener::~LibraryWarningListener() {
    LibraryLines::settle();  // what was written while it listened is its to hear
    taken().stopListening(this);
}

}  // namespace stepscope
