// Every Event, Chunk and Command as the payload of a frame, and back. Events and chunks carry a number, one more with each, so that whoever reads
// them knows that none is missing; so do commands, so that none is carried out twice. What is read is a stranger's: one sentence with the place of
// the byte where it cannot be. Pure functions; any thread.
#pragma once
#include <cstdint>

#include "core/events/Command.h"
#include "core/events/Event.h"
#include "sessions/wire/Frame.h"

namespace stepscope {

class LayoutWords;
class WireWriter;
class WireReader;

struct NumberedEvent {
    std::uint64_t number = 0;
    Event event;
};
struct NumberedChunk {
    std::uint64_t number = 0;
    Chunk chunk;
};
struct NumberedCommand {
    std::uint64_t number = 0;
    Command command;
};

FrameBytes eventToBytes(std::uint64_t number, const Event& event);
Result<NumberedEvent> eventFromBytes(const FrameBytes& payload);
FrameBytes chunkToBytes(std::uint64_t number, const Chunk& chunk);
Result<NumberedChunk> chunkFromBytes(const FrameBytes& payload);
FrameBytes commandToBytes(std::uint64_t number, const Command& command);
Result<NumberedCommand> commandFromBytes(const FrameBytes& payload);
// Within something else.
void writeCommand(WireWriter& io, const Command& command);
Command readCommand(WireReader& io);

// Names, kinds and order of all fields that cross and are known here, those of LookWords.h and LineWords.h too. What app/workbench/engine adds of its
// own is in StartWords.
void addWireLayout(LayoutWords& layout);

}  // namespace stepscope
