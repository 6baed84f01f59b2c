// Frames: what an engine that is a process of its own and the program that asked for it send each other over a pipe (app/workbench/engine). A frame
// is eight bytes (a mark of two, the version, the type, the length) and its payload. What is read is a stranger's: nothing is taken before it has
// come, and what is wrong is one sentence with the place of the byte. Pure values; any thread.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/base/Result.h"
#include "core/trace/Chunk.h"

namespace stepscope {

// Numbers on the line, never given to something else.
enum class FrameType : std::uint8_t {
    Hello = 1,    // first of the engine's: who it is (Hello.h)
    Start = 2,    // to the engine: what to train
    Refused = 3,  // why it cannot be
    Event = 4,
    Chunk = 5,
    Command = 6,
    Keep = 7,      // of the engine, when all is ready: what the session is that shall be kept
    Kept = 8,      //   where it is kept,
    NotKept = 9,   //   or why it is not
    Stored = 10,   // to the engine, when it changes: what its captures take on the disk, and whether storing is held up
    Summary = 11,  // last of the engine's
    // Of an engine that outlives its line (LineWords.h).
    Attach = 12,    // to the engine, first on a line that is taken up again: what this side has heard
    Attached = 13,  //   which commands the engine has heard; what is missing here follows
    Safe = 14,      // to the engine, when it changes: what is stored here, so that it need not be kept there
    // Asked and answered beside a run, by an engine that is started for it (LookWords.h):
    List = 16,          // to the engine: which folder
    Listed = 17,        //   what is in it
    CheckData = 18,     // to the engine: which data
    DataChecked = 19,   //   whether they can be read
    CheckWeights = 20,  // to the engine: settings that begin with weights
    WeightsChecked = 21,
    NeverMind = 22,  // to the engine: what is asked is wanted no more, and may be answered with nothing
};
constexpr FrameType kLastFrameType = FrameType::NeverMind;

constexpr std::uint8_t kWireVersion = 4;
constexpr std::size_t kFrameHead = 8;
constexpr std::size_t kMostFrameBytes = Chunk::kMaxBytes + 4096;  // of a payload: a block of bulk data, and what is said of it

using FrameBytes = std::vector<std::byte>;

struct Frame {
    FrameType type = FrameType::Hello;
    std::uint8_t version = kWireVersion;  // another one only with Hello, so that the other side can be told which it is
    FrameBytes payload;
};

// Unsupported: no frame can hold it. what: begins the sentence, "It", "What was asked".
Status fitsFrame(const FrameBytes& payload, std::string_view what);
// Head and payload, of at most kMostFrameBytes.
FrameBytes frameOf(FrameType type, const FrameBytes& payload);

// Cuts what comes in pieces of any size into frames.
class FrameReader {
public:
    void add(const std::byte* bytes, std::size_t count);
    // The next frame; nothing before all of it has come. After an error nobody knows where frames begin, so it stays.
    Result<std::optional<Frame>> next();
    bool withinFrame() const { return !m_bytes.empty() && m_begin < m_bytes.size(); }  // a part of one has come
    std::uint64_t at() const { return m_at; }                                          // bytes that were frames

private:
    Error wrong(const char* what);

    FrameBytes m_bytes;
    std::size_t m_begin = 0;  // of what is no frame yet
    std::uint64_t m_at = 0;
    std::optional<Error> m_wrong;
};

}  // namespace stepscope
