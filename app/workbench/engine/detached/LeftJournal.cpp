#include "app/workbench/engine/detached/LeftJournal.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include "app/workbench/engine/StartWords.h"
#include "app/workbench/engine/detached/Journal.h"
#include "sessions/wire/Hello.h"
#include "sessions/wire/LineWords.h"

namespace stepscope {
namespace {

constexpr std::streamsize kMostHello = 1 << 16;  // bytes

bool say(int out, const FrameBytes& bytes) {
    for (std::size_t written = 0; written < bytes.size();) {
        const ssize_t count = ::write(out, bytes.data() + written, bytes.size() - written);
        if (count > 0)
            written += static_cast<std::size_t>(count);
        else if (count == 0 || errno != EINTR)
            return false;
    }
    return true;
}

// As it was said by the engine, which may have been of another version.
FrameBytes helloOf(const EngineFolder& folder) {
    FrameBytes bytes;
    std::error_code ignored;
    // A pipe would be waited for.
    if (std::filesystem::is_regular_file(folder.file(kEngineHello), ignored)) {
        std::ifstream file(folder.file(kEngineHello), std::ios::binary);
        bytes.resize(static_cast<std::size_t>(kMostHello));
        file.read(reinterpret_cast<char*>(bytes.data()), kMostHello);
        bytes.resize(static_cast<std::size_t>(file.gcount()));
    }
    if (!bytes.empty()) return bytes;
    Hello hello = engineHello({});  // it ended before it had said who it was
    hello.engine = folder.id();
    return frameOf(FrameType::Hello, helloToBytes(hello));
}

Error howItEnded(const EngineFolder& folder) {
    std::string said = folder.lastWords();
    while (!said.empty() && said.back() == '.') said.pop_back();
    return makeError(ErrorCode::Io, fmt::format("The engine {} on {} ended before its run was over: {}.", folder.id(), hostName(),
                                                said.empty() ? "it was killed, or the machine was started anew" : said));
}

class LeftJournal {
public:
    LeftJournal(const EngineFolder& folder, int in, int out) : m_folder(folder), m_in(in), m_out(out) {}

    Status serve() {
        if (!say(m_out, helloOf(m_folder))) return {};
        while (const auto frame = hear()) {
            if (!*frame) return frame->error();
            if ((*frame)->type == FrameType::Attach) {
                const Status told = tell(**frame);
                if (!told) return refuse(told.error());
            } else if ((*frame)->type == FrameType::Safe) {
                const auto safe = safeFromBytes((*frame)->payload);
                if (!safe) return refuse(safe.error());
                if (safe->all && m_told) {
                    m_folder.remove();
                    return {};
                }
                if (m_journal && safe->number <= m_journal->newest()) m_journal->letGo(safe->number);
            }
            // What the run was to do it does no longer.
        }
        return {};
    }

private:
    // Nothing: the line has ended.
    std::optional<Result<Frame>> hear() {
        std::array<std::byte, 4096> piece;
        while (true) {
            auto frame = m_frames.next();
            if (!frame) return frame.error();
            if (*frame) return std::move(**frame);
            const ssize_t count = ::read(m_in, piece.data(), piece.size());
            if (count < 0 && errno == EINTR) continue;
            if (count <= 0) return std::nullopt;
            m_frames.add(piece.data(), static_cast<std::size_t>(count));
        }
    }

    Status tell(const Frame& frame) {
        const auto attach = attachFromBytes(frame.payload);
        if (!attach) return attach.error();
        if (m_told) return makeError(ErrorCode::Damaged, "The other side took up a line that it has.");
        auto journal = Journal::open(m_folder.path());
        if (!journal) return journal.error();
        m_journal = std::move(*journal);
        if (m_journal->empty()) return makeError(ErrorCode::NotFound, fmt::format("Engine {} on {} has heard of no run.", m_folder.id(), hostName()));
        const std::uint64_t behind = attach->anew ? m_journal->heard() : attach->number;
        if (behind > m_journal->newest()) {  // its machine lost power, and what it had not written yet was heard
            m_told = say(m_out, frameOf(FrameType::Attached, attachedToBytes({.behind = behind}))) &&
                     say(m_out, frameOf(FrameType::Refused, errorToBytes(howItEnded(m_folder))));
            return {};
        }
        auto reader = m_journal->behind(behind);
        if (!reader) return reader.error();
        if (!say(m_out, frameOf(FrameType::Attached, attachedToBytes({.behind = behind})))) return {};
        bool ended = false;
        while (true) {
            const auto next = reader->next();
            if (!next || !*next) break;  // what is damaged was not written to its end
            ended = ended || (*next)->type == FrameType::Summary || (*next)->type == FrameType::Refused;
            if (!say(m_out, frameOf((*next)->type, (*next)->payload))) return {};
        }
        if (!ended) say(m_out, frameOf(FrameType::Refused, errorToBytes(howItEnded(m_folder))));
        m_told = true;
        return {};
    }

    Status refuse(const Error& why) {
        say(m_out, frameOf(FrameType::Refused, errorToBytes(why)));
        return why;
    }

    const EngineFolder& m_folder;
    const int m_in, m_out;
    FrameReader m_frames;
    std::unique_ptr<Journal> m_journal;
    bool m_told = false;
};

}  // namespace

Status serveLeftJournal(const EngineFolder& folder, int in, int out) {
    return LeftJournal(folder, in, out).serve();
}

Status refuseLine(const Error& why, int out) {
    say(out, frameOf(FrameType::Hello, helloToBytes(engineHello({}))));
    say(out, frameOf(FrameType::Refused, errorToBytes(why)));
    return why;
}

}  // namespace stepscope
