#include "sessions/wire/EventWire.h"

#include <concepts>
#include <stdexcept>
#include <string_view>
#include <type_traits>
#include <utility>

#include "core/events/ConfigKeys.h"
#include "sessions/EventFields.h"
#include "sessions/EventTime.h"
#include "sessions/Plausible.h"
#include "sessions/record/EventMerge.h"
#include "sessions/wire/CommandFields.h"
#include "sessions/wire/InfoFields.h"
#include "sessions/wire/LayoutWords.h"
#include "sessions/wire/LineWords.h"
#include "sessions/wire/LookWords.h"
#include "sessions/wire/WireIo.h"

namespace stepscope {
namespace {

// An event with what is a key of its table, a table of its own or not stored at all: all of it crosses.
void wholeEvent(auto& io, Like<SessionStarted> auto& e) {
    io("session", e.session);
    io("replay", e.replay);
}
template <class E>
void wholeEvent(auto& io, E& e) requires(!Like<E, SessionStarted>) {
    io("at_ns", e.at);
    fields(io, e);
    if constexpr (Like<E, CaptureDone>) io("rows", e.rows);
    if constexpr (Like<E, TextGenerated>) {
        io("prompt_per_s", e.promptPerSecond);
        io("text_per_s", e.textPerSecond);
        io("place", e.place);
    }
}

// What the session is stands behind a pointer that others share: written from it, read into a new one.
void writeInfo(WireWriter& io, const SessionStarted& started) {
    fields(io, *started.info);
}
void readInfo(WireReader& io, SessionStarted& started) {
    SessionInfo info;
    fields(io, info);
    started.info = std::make_shared<const SessionInfo>(std::move(info));
}

// The alternative of that place, read; all others are left alone.
template <class Variant, class Read, std::size_t... Places>
void readAlternative(auto& into, std::size_t place, const Read& read, std::index_sequence<Places...>) {
    const auto tryPlace = [&]<std::size_t Place>(std::integral_constant<std::size_t, Place>) {
        if (place != Place) return;
        std::variant_alternative_t<Place, Variant> held{};
        read(held);
        into = std::move(held);
    };
    (tryPlace(std::integral_constant<std::size_t, Places>{}), ...);
}

template <class E>
void expectPlausible(WireReader& io, const E& event) {
    if constexpr (requires { checkPlausible(event); }) {
        try {
            checkPlausible(event);
        } catch (const std::out_of_range&) {
            io.bytes().fail("an answer that cannot be");
        }
    }
}

template <class Variant, std::size_t... Places>
void addAlternatives(LayoutWords& layout, std::index_sequence<Places...>) {
    const auto one = [&]<class E>(const E& example) {
        layout.word("alternative");
        if constexpr (std::same_as<Variant, AnyEvent>)
            wholeEvent(layout, example);
        else
            fields(layout, example);
    };
    (one(std::variant_alternative_t<Places, Variant>{}), ...);
}

}  // namespace

FrameBytes eventToBytes(std::uint64_t number, const Event& event) {
    WireWriter io;
    io.bytes().whole(number);
    io.bytes().whole(event.index());
    std::visit(
        [&](const auto& held) {
            wholeEvent(io, held);
            if constexpr (std::same_as<std::decay_t<decltype(held)>, SessionStarted>) writeInfo(io, held);
        },
        static_cast<const AnyEvent&>(event));
    return io.take();
}

Result<NumberedEvent> eventFromBytes(const FrameBytes& payload) {
    WireReader io(payload);
    const std::uint64_t number = io.bytes().whole();
    const std::size_t place = io.bytes().upTo(std::variant_size_v<AnyEvent> - 1, "an event that nobody knows");
    NumberedEvent all{number, {}};
    readAlternative<AnyEvent>(
        all.event, place,
        [&](auto& held) {
            wholeEvent(io, held);
            if constexpr (std::same_as<std::decay_t<decltype(held)>, SessionStarted>) readInfo(io, held);
            expectPlausible(io, held);
        },
        std::make_index_sequence<std::variant_size_v<AnyEvent>>());
    if (io.bytes().good() && timeOf(all.event).ns < 0) io.bytes().fail("a time before its session began");
    // One that was stored would keep its whole session from being read.
    if (io.bytes().good() && !isReadable(all.event)) io.bytes().fail("a time or a step that cannot be");
    if (const Status good = io.finished("An event"); !good) return good.error();
    return all;
}

FrameBytes chunkToBytes(std::uint64_t number, const Chunk& chunk) {
    WireWriter io;
    ByteWriter& out = io.bytes();
    out.whole(number);
    out.text(chunk.kind);
    out.integer(chunk.lane);
    out.integer(chunk.begin.ns);
    out.integer(chunk.end.ns);
    out.integer(chunk.count);
    out.bytes(chunk.bytes);
    return io.take();
}

Result<NumberedChunk> chunkFromBytes(const FrameBytes& payload) {
    WireReader io(payload);
    ByteReader& in = io.bytes();
    NumberedChunk all;
    all.number = in.whole();
    all.chunk.kind = in.text(Chunk::kMaxKind);
    all.chunk.lane = in.integer();
    all.chunk.begin = {in.integer()};
    all.chunk.end = {in.integer()};
    all.chunk.count = in.integer();
    if (in.good()) {
        all.chunk.bytes.assign(payload.begin() + static_cast<std::ptrdiff_t>(in.at()), payload.end());
        in.skip(in.left());
    }
    if (const Status good = io.finished("A block of bulk data"); !good) return good.error();
    if (const Status good = checkChunk(all.chunk); !good) return good.error();
    return all;
}

void writeCommand(WireWriter& io, const Command& command) {
    io.bytes().whole(command.index());
    std::visit([&](const auto& held) { fields(io, held); }, command);
}

Command readCommand(WireReader& io) {
    const std::size_t place = io.bytes().upTo(std::variant_size_v<Command> - 1, "a command that nobody knows");
    Command read;
    readAlternative<Command>(
        read, place, [&](auto& held) { fields(io, held); }, std::make_index_sequence<std::variant_size_v<Command>>());
    return read;
}

FrameBytes commandToBytes(std::uint64_t number, const Command& command) {
    WireWriter io;
    io.bytes().whole(number);
    writeCommand(io, command);
    return io.take();
}

Result<NumberedCommand> commandFromBytes(const FrameBytes& payload) {
    WireReader io(payload);
    NumberedCommand read;
    read.number = io.bytes().whole();
    read.command = readCommand(io);
    if (const Status good = io.finished("A command"); !good) return good.error();
    return read;
}

void addWireLayout(LayoutWords& layout) {
    addAlternatives<AnyEvent>(layout, std::make_index_sequence<std::variant_size_v<AnyEvent>>());
    addAlternatives<Command>(layout, std::make_index_sequence<std::variant_size_v<Command>>());
    const SessionInfo info;
    fields(layout, info);
    const CapturedOperation operation;
    fields(layout, operation);
    const Error error;
    fields(layout, error);
    // They cross by name; one that the other side lacks would be refused, or be what it is by itself.
    for (const ConfigKey& key : configKeys()) layout.word(key.id);
    addLookLayout(layout);
    addLineLayout(layout);
}

}  // namespace stepscope
