#include "sessions/importers/ChromeTrace.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "sessions/importers/ByteSource.h"
#include "sessions/importers/ChromeEvents.h"
#include "sessions/importers/JsonScan.h"

namespace stepscope::importing {
namespace {

constexpr std::size_t kLongestEvent = std::size_t{64} << 20;
constexpr std::size_t kLongestFact = std::size_t{256} << 10, kAllFacts = std::size_t{1} << 20;

// One trace while it is read: the bytes that are there and not yet read.
class ChromeStream {
public:
    ChromeStream(std::string path, TraceBuilder& trace, std::function<std::string()> next)
        : m_path(std::move(path)), m_trace(trace), m_events(trace), m_next(std::move(next)) {}

    // cut: where a packed file ends in the middle, once source() says so; else -1.
    Status read(const std::function<Status()>& source, const std::function<std::int64_t()>& cut) {
        Status done = document();
        // Why the bytes ended is more than that they did; what a packed file gave before it ended is taken as of one that is not packed.
        const auto failed = [&]() -> Status {
            Status under = source();
            const bool taken = cut() >= 0 && m_tookEvents && (done || m_endsAt >= 0);
            return taken ? Status() : under;
        };
        if (const Status under = failed(); !under) return under;
        if (!done) {
            if (m_endsAt < 0 || !m_tookEvents) return done;
            // Of a program that was killed: Chrome and Perfetto take such a file as far as it is whole too.
            m_trace.file().endsEarly = placeOf(m_endsAt);
        } else if (peek(); m_at < m_window.size()) {
            return wrong("more follows behind its end");
        }
        if (const Status under = failed(); !under) return under;
        if (const std::int64_t at = cut(); at >= 0) {
            std::string& where = m_trace.file().endsEarly;
            where += fmt::format("{}as the packed file ends at its byte {}", where.empty() ? "" : ", ", at);
        }
        m_events.end();
        return facts();
    }

private:
    enum class Word { Ended, Wrong };

    // More bytes behind those that are left; false: there are none.
    bool fill() {
        if (m_ended) return false;
        const std::size_t left = m_window.size() - m_at;
        if (m_at > 0) {
            m_window.erase(0, m_at);
            m_offset += static_cast<std::int64_t>(m_at);
            m_at = 0;
        }
        const std::size_t wanted = left * 2;
        do {
            const std::string piece = m_next();
            if (piece.empty()) {
                m_ended = true;
                return m_window.size() > left;
            }
            m_window += piece;
        } while (m_window.size() < wanted);
        return true;
    }
    const char* begin() const { return m_window.data() + m_at; }
    const char* end() const { return m_window.data() + m_window.size(); }
    void moveTo(const char* at) { m_at = static_cast<std::size_t>(at - m_window.data()); }

    Error wrong(const std::string& what, const char* at = nullptr) const {
        const std::int64_t place = m_offset + static_cast<std::int64_t>(at == nullptr ? m_at : static_cast<std::size_t>(at - m_window.data()));
        return makeError(ErrorCode::BadInput,
                         fmt::format("\"{}\" cannot be read as a trace: {} {}; export or copy it again.", m_path, what, placeOf(place)))
            .about(Subject::Kind::File, m_path);
    }
    std::string placeOf(std::int64_t byte) const { return fmt::format("at byte {}{}", byte, m_unpacked ? " of what it unpacks to" : ""); }
    Error ended() {
        m_endsAt = m_offset + static_cast<std::int64_t>(m_at);
        return wrong("it ends in the middle");
    }
    static std::string tooDeep() { return fmt::format("values are nested more than {} deep", kDeepestJson); }

    // The next byte that is no space, which stays; 0 where there is none.
    char peek() {
        for (;;) {
            moveTo(skipJsonSpace(begin(), end()));
            if (m_at < m_window.size()) return m_window[m_at];
            if (!fill()) return '\0';
        }
    }
    Status expect(char wanted) {
        const char c = peek();
        if (c == wanted) {
            ++m_at;
            return {};
        }
        if (m_at >= m_window.size()) return ended();
        return wrong(fmt::format("there is no '{}'", wanted));
    }
    // The whole of the value that comes next, still in the window.
    Result<std::string_view> value() {
        peek();
        for (;;) {
            const char* at = begin();
            switch (skipJsonValue(at, end())) {
                case Scan::Done: {
                    const std::string_view found(begin(), static_cast<std::size_t>(at - begin()));
                    moveTo(at);
                    return found;
                }
                case Scan::Bad:
                    return wrong("there is no value", at);
                case Scan::TooDeep:
                    return wrong(tooDeep(), at);
                case Scan::More:
                    if (m_window.size() - m_at > kLongestEvent) return wrong("a value of more than 64 MiB begins");
                    if (!fill()) {
                        // A number may be the last thing there is.
                        return ended();
                    }
            }
        }
    }

    Status document() {
        if (peek() == '\xef' && m_window.substr(m_at, 3) == "\xef\xbb\xbf") m_at += 3;
        const char first = peek();
        if (m_at >= m_window.size()) return wrong("it is empty");
        if (first == '[') {
            ++m_at;
            m_sawEvents = true;
            return events();
        }
        if (first != '{') return wrong("there is neither '{' nor '['");
        ++m_at;
        if (peek() == '}') return noEvents();
        for (;;) {
            if (peek() != '"') return m_at >= m_window.size() ? ended() : wrong("there is no name of a member");
            const auto token = value();
            if (!token) return token.error();
            const std::string key = jsonText(token->substr(1, token->size() - 2), 128);
            if (auto colon = expect(':'); !colon) return colon;
            if (key == "traceEvents" && peek() == '[') {
                ++m_at;
                m_sawEvents = true;
                if (auto read = events(); !read) return read;
            } else {
                const auto found = value();
                if (!found) return found.error();
                keep(key, *found);
            }
            const char next = peek();
            if (next == '}') {
                ++m_at;
                break;
            }
            if (auto comma = expect(','); !comma) return comma;
        }
        return m_sawEvents ? Status() : noEvents();
    }
    Error noEvents() const {
        return makeError(ErrorCode::BadInput,
                         fmt::format("\"{}\" is JSON, but holds no \"traceEvents\"; choose a trace that PyTorch's profiler, Stepscope "
                                     "or Nsight Systems wrote.",
                                     m_path))
            .about(Subject::Kind::File, m_path);
    }

    void keep(const std::string& key, std::string_view found) {
        if (key == "traceName" || found.size() > kLongestFact || m_facts.size() > kAllFacts) return;
        m_facts += m_facts.empty() ? "{" : ",";
        m_facts += nlohmann::json(key).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + ":";
        appendCompact(m_facts, found);
        if (key == "baseTimeNanoseconds")
            if (const auto base = wholeNumber(found); base && *base >= 0 && *base < std::int64_t{1} << 61) m_trace.file().baseNs = *base;
        if (key == "stepscopeRanks") ranks(found);
        if (key == "stepscopeUnits") units(found);
        if (key == "distributedInfo") {
            const auto info = nlohmann::json::parse(found, nullptr, false);
            if (info.is_object() && info.contains("rank") && info["rank"].is_number_unsigned()) {
                const auto rank = info["rank"].get<std::uint64_t>();
                if (rank < 1U << 24) {
                    m_trace.file().rank = static_cast<std::int64_t>(rank);
                    m_trace.file().saysRank = true;
                }
            }
        }
    }
    // Of our own export: the workers whose processes are in the file, and how far apart their numbers are.
    void ranks(std::string_view found) {
        const auto said = nlohmann::json::parse(found, nullptr, false);
        if (!said.is_object() || !said.contains("ranks") || !said["ranks"].is_array() || !said.contains("apart") ||
            !said["apart"].is_number_unsigned())
            return;
        const auto apart = said["apart"].get<std::uint64_t>();
        constexpr std::uint64_t kMostApart = std::uint64_t{1} << 40, kMostRank = std::uint64_t{1} << 24;
        if (apart == 0 || apart > kMostApart) return;
        std::map<std::int64_t, std::int64_t> ranks;
        for (const auto& rank : said["ranks"])
            if (rank.is_number_unsigned() && rank.get<std::uint64_t>() < kMostRank) ranks.emplace(rank.get<std::int64_t>(), rank.get<std::int64_t>());
        if (ranks.size() < 2) return;
        m_trace.file().ranks = std::move(ranks);
        m_trace.file().saysRank = true;
        m_trace.file().apart = static_cast<std::int64_t>(apart);
    }
    // And what its counters are in, by their names.
    void units(std::string_view found) {
        constexpr std::size_t kLongestUnit = 64;
        const auto said = nlohmann::json::parse(found, nullptr, false);
        if (!said.is_object()) return;
        for (const auto& [name, unit] : said.items())
            if (unit.is_string() && unit.get<std::string>().size() <= kLongestUnit) m_events.setUnit(name, unit.get<std::string>());
    }
    Status facts() {
        if (!m_facts.empty()) m_facts += "}";
        m_trace.file().facts = isJson(m_facts) ? m_facts : "{}";
        m_trace.file().source = "kineto";
        return {};
    }

    Status events() {
        if (peek() == ']') {
            ++m_at;
            return {};
        }
        for (;;) {
            if (peek() != '{') {
                if (m_at >= m_window.size()) return ended();
                return wrong("an event does not begin with '{'");
            }
            const char* at = begin();
            m_event.clear();
            const Scan scanned = event(at);
            if (scanned == Scan::More) {
                if (m_window.size() - m_at > kLongestEvent) return wrong("an event of more than 64 MiB begins");
                if (!fill()) return ended();
                continue;
            }
            if (scanned == Scan::Bad) return wrong("an event is no JSON", at);
            if (scanned == Scan::TooDeep) return wrong(tooDeep(), at);
            m_events.take(m_event);
            m_tookEvents = true;
            if (!m_trace.status()) return m_trace.status();
            moveTo(at);
            const char next = peek();
            ++m_at;
            if (next == ']') return {};
            if (next == ',') {
                if (peek() != ']') continue;
                ++m_at;  // a comma before the end, as programs leave it that write event by event
                return {};
            }
            --m_at;
            return m_at >= m_window.size() ? ended() : wrong("there is neither ',' nor ']' behind an event");
        }
    }

    // The members of an object one by one: `member` takes a key and moves `p` behind the value.
    template <class Member>
    Scan object(const char*& at, Member member) {
        const char* p = at + 1;
        const char* const stop = end();
        const auto leave = [&](Scan how) {
            at = p;
            return how;
        };
        p = skipJsonSpace(p, stop);
        if (p == stop) return Scan::More;
        if (*p == '}') {
            ++p;
            return leave(Scan::Done);
        }
        for (;;) {
            if (*p != '"') return leave(Scan::Bad);
            const char* const key = ++p;
            bool plain = true;
            if (skipJsonText(p, stop, plain) != Scan::Done) return Scan::More;
            const std::string_view name(key, static_cast<std::size_t>(p - key - 1));
            p = skipJsonSpace(p, stop);
            if (p == stop) return Scan::More;
            if (*p != ':') return leave(Scan::Bad);
            p = skipJsonSpace(p + 1, stop);
            if (p == stop) return Scan::More;
            if (const Scan how = member(name, p); how != Scan::Done) return leave(how);
            p = skipJsonSpace(p, stop);
            if (p == stop) return Scan::More;
            if (*p == '}') {
                ++p;
                return leave(Scan::Done);
            }
            if (*p != ',') return leave(Scan::Bad);
            p = skipJsonSpace(p + 1, stop);
            if (p == stop) return Scan::More;
        }
    }

    Scan event(const char*& at) {
        return object(at, [&](std::string_view key, const char*& p) {
            if (key == "args" && *p == '{') {
                m_event.args.clear();
                return object(p, [&](std::string_view name, const char*& value) {
                    const char* const from = value;
                    const Scan how = skipJsonValue(value, end());
                    if (how == Scan::Done && m_event.args.size() < 256)
                        m_event.args.emplace_back(name, std::string_view(from, static_cast<std::size_t>(value - from)));
                    return how;
                });
            }
            const char* const from = p;
            const Scan how = skipJsonValue(p, end());
            if (how != Scan::Done) return how;
            const std::string_view token(from, static_cast<std::size_t>(p - from));
            if (key == "ph")
                m_event.ph = token;
            else if (key == "cat")
                m_event.cat = token;
            else if (key == "name")
                m_event.name = token;
            else if (key == "pid")
                m_event.pid = token;
            else if (key == "tid")
                m_event.tid = token;
            else if (key == "ts")
                m_event.ts = token;
            else if (key == "dur")
                m_event.dur = token;
            else if (key == "id")
                m_event.id = token;
            return how;
        });
    }

    const std::string m_path;
    TraceBuilder& m_trace;
    ChromeEvents m_events;
    std::function<std::string()> m_next;
    std::string m_window, m_facts;
    std::size_t m_at = 0;
    std::int64_t m_offset = 0;   // in the file, of where the window begins
    std::int64_t m_endsAt = -1;  // where what is whole ends, of a file that ends in the middle
    bool m_ended = false, m_sawEvents = false, m_tookEvents = false;
    ChromeEvent m_event;

public:
    bool m_unpacked = false;
};

}  // namespace

Status readChromeTrace(const std::string& path, TraceBuilder& trace, const std::function<bool(double)>& go) {
    auto source = ByteSource::open(path);
    if (!source) return source.error();
    bool stopped = false;
    ChromeStream stream(path, trace, [&] {
        stopped = stopped || !go((*source)->fraction());
        return stopped ? std::string() : (*source)->next();
    });
    stream.m_unpacked = (*source)->packed();
    return stream.read(
        [&]() -> Status {
            if (stopped) return makeError(ErrorCode::Cancelled, "The import was stopped; nothing of it is stored.");
            return (*source)->status();
        },
        [&] { return stopped ? std::int64_t{-1} : (*source)->cutAt(); });
}

Status readChromeTraceBytes(std::string_view bytes, std::size_t piece, TraceBuilder& trace) {
    ChromeStream stream("bytes", trace, [&] {
        const std::string next(bytes.substr(0, piece));
        bytes.remove_prefix(next.size());
        return next;
    });
    return stream.read([]() -> Status { return {}; }, [] { return std::int64_t{-1}; });
}

}  // namespace stepscope::importing
