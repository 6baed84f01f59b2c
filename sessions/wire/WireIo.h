// What the `io` of a list of fields (EventFields.h, CommandFields.h) is on the line: WireWriter puts each field behind the other, WireReader takes
// them in the same order. The reader takes nothing on trust: enumerations, counts and settings are what they can be, or it stops and remembers where
// (ByteReader). Any thread.
#pragma once
#include <bit>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "core/events/CaptureDone.h"
#include "core/events/Experiment.h"
#include "core/events/RunEvents.h"
#include "core/trace/ByteColumns.h"

namespace stepscope {

// The last word of each enumeration that crosses.
constexpr RunState lastWord(RunState) {
    return RunState::Interrupted;
}
constexpr SessionKind lastWord(SessionKind) {
    return SessionKind::Tune;
}
constexpr LogLevel lastWord(LogLevel) {
    return LogLevel::Error;
}
constexpr Arm lastWord(Arm) {
    return Arm::B;
}
constexpr ErrorCode lastWord(ErrorCode) {
    return ErrorCode::Internal;
}
constexpr Subject::Kind lastWord(Subject::Kind) {
    return Subject::Kind::Capture;
}

template <class T>
concept WireWord = std::is_enum_v<T> && requires(T word) {
    lastWord(word);
};

constexpr std::size_t kMostWireList = 10'000;  // entries of any list in a frame

class WireWriter {
public:
    void operator()(const char*, std::int64_t v) { m_out.integer(v); }
    void operator()(const char*, std::uint64_t v) { m_out.whole(v); }
    void operator()(const char*, double v) { m_out.whole(std::bit_cast<std::uint64_t>(v)); }  // bit for bit, NaN too
    void operator()(const char*, bool v) { m_out.whole(v ? 1 : 0); }
    void operator()(const char*, TimeNs v) { m_out.integer(v.ns); }
    void operator()(const char*, const std::string& v) { m_out.text(v); }
    template <WireWord E>
    void operator()(const char*, E v) {
        m_out.whole(static_cast<std::uint64_t>(v));
    }
    void operator()(const char* name, const Value& v);
    void operator()(const char* name, const RunConfig& v);
    void operator()(const char* name, const Machine& v);
    void operator()(const char* name, const LinkTime& v) {
        (*this)(name, v.bytes);
        (*this)(name, v.seconds);
    }
    void operator()(const char* name, const std::shared_ptr<const std::vector<CapturedOperation>>& v);
    template <class T>
    void operator()(const char* name, const std::optional<T>& v) {
        m_out.whole(v ? 1 : 0);
        if (v) (*this)(name, *v);
    }
    template <class T>
    void operator()(const char* name, const std::vector<T>& v) {
        m_out.whole(v.size());
        for (const T& one : v) (*this)(name, one);
    }

    ByteWriter& bytes() { return m_out; }
    std::vector<std::byte> take() { return m_out.take(); }

private:
    ByteWriter m_out;
};

class WireReader {
public:
    explicit WireReader(const std::vector<std::byte>& bytes) : m_in(bytes) {}

    void operator()(const char*, std::int64_t& v) { v = m_in.integer(); }
    void operator()(const char*, std::uint64_t& v) { v = m_in.whole(); }
    void operator()(const char*, double& v) { v = std::bit_cast<double>(m_in.whole()); }
    void operator()(const char*, bool& v) { v = m_in.upTo(1, "what is neither yes nor no") == 1; }
    void operator()(const char*, TimeNs& v) { v.ns = m_in.integer(); }
    void operator()(const char*, std::string& v) { v = m_in.text(m_in.left()); }
    template <WireWord E>
    void operator()(const char*, E& v) {
        v = static_cast<E>(m_in.upTo(static_cast<std::uint64_t>(lastWord(E{})), "a word that nobody knows"));
    }
    void operator()(const char* name, Value& v);
    void operator()(const char* name, RunConfig& v);
    void operator()(const char* name, Machine& v);
    void operator()(const char* name, LinkTime& v) {
        (*this)(name, v.bytes);
        (*this)(name, v.seconds);
    }
    void operator()(const char* name, std::shared_ptr<const std::vector<CapturedOperation>>& v);
    template <class T>
    void operator()(const char* name, std::optional<T>& v) {
        v.reset();
        if (m_in.upTo(1, "what is neither there nor absent") == 0) return;
        v.emplace();
        (*this)(name, *v);
    }
    template <class T>
    void operator()(const char* name, std::vector<T>& v) {
        v.clear();
        const std::uint64_t count = m_in.upTo(kMostWireList, "a list that is longer than it can be");
        // Grown as entries come: a count alone takes no memory.
        for (std::uint64_t i = 0; i < count && m_in.good(); ++i) (*this)(name, v.emplace_back());
    }

    ByteReader& bytes() { return m_in; }
    // Of a payload that has been read: nothing was wrong, and nothing is left. `what` it is: "An event".
    Status finished(const char* what);

private:
    ByteReader m_in;
};

// The payload that is nothing but what fields() of it says, and back. `what` it is, as in finished().
template <class T>
std::vector<std::byte> payloadOf(const T& all) {
    WireWriter io;
    fields(io, all);
    return io.take();
}
template <class T>
Result<T> payloadAs(const std::vector<std::byte>& payload, const char* what) {
    WireReader io(payload);
    T all;
    fields(io, all);
    if (const Status good = io.finished(what); !good) return good.error();
    return all;
}

}  // namespace stepscope
