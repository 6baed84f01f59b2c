// Any bytes as what another process says over a pipe: frames, and what is in them, or one sentence; what is read can be said again and is read as the
// same. The first byte chooses whether they are frames or the payload of one. What is to be trained and how it ended is StartWordsFuzz's.
#include <algorithm>

#include "core/base/Check.h"
#include "sessions/wire/EventWire.h"
#include "sessions/wire/Hello.h"
#include "sessions/wire/LineWords.h"
#include "sessions/wire/LookWords.h"
#include "tests/fuzz/SaidAgain.h"

namespace {

using namespace stepscope;

void readPayload(const Frame& frame) {
    switch (frame.type) {
        case FrameType::List:
            return readAgain(frame.payload, folderAskedFromBytes, folderAskedToBytes);
        case FrameType::Listed:
            return readAgain(frame.payload, folderListedFromBytes, folderListedToBytes);
        case FrameType::CheckData:
            return readAgain(frame.payload, dataAskedFromBytes, dataAskedToBytes);
        case FrameType::DataChecked:
            return readAgain(frame.payload, dataCheckedFromBytes, dataCheckedToBytes);
        case FrameType::CheckWeights:
            return readAgain(frame.payload, weightsAskedFromBytes, weightsAskedToBytes);
        case FrameType::WeightsChecked:
            return readAgain(frame.payload, weightsLookedFromBytes, weightsLookedToBytes);
        case FrameType::Hello: {
            const auto hello = helloFrom(frame, 0);
            SS_CHECK(hello || isOneSentence(hello));
            return;
        }
        case FrameType::Event: {
            const auto one = eventFromBytes(frame.payload);
            if (!one) {
                SS_CHECK(isOneSentence(one));
                return;
            }
            const FrameBytes said = eventToBytes(one->number, one->event);
            const auto again = eventFromBytes(said);
            SS_CHECK(again && eventToBytes(again->number, again->event) == said);
            return;
        }
        case FrameType::Chunk: {
            const auto one = chunkFromBytes(frame.payload);
            if (!one) {
                SS_CHECK(isOneSentence(one));
                return;
            }
            const auto again = chunkFromBytes(chunkToBytes(one->number, one->chunk));
            SS_CHECK(again && again->chunk.kind == one->chunk.kind && again->chunk.bytes == one->chunk.bytes);
            return;
        }
        case FrameType::Attach:
            return readAgain(frame.payload, attachFromBytes, attachToBytes);
        case FrameType::Attached:
            return readAgain(frame.payload, attachedFromBytes, attachedToBytes);
        case FrameType::Safe:
            return readAgain(frame.payload, safeFromBytes, safeToBytes);
        case FrameType::Start:
        case FrameType::Refused:
        case FrameType::Keep:
        case FrameType::Kept:
        case FrameType::NotKept:
        case FrameType::Stored:
        case FrameType::Summary:
        case FrameType::NeverMind:
            return;
        case FrameType::Command:
        default: {
            const auto one = commandFromBytes(frame.payload);
            if (!one) {
                SS_CHECK(isOneSentence(one));
                return;
            }
            const FrameBytes said = commandToBytes(one->number, one->command);
            const auto again = commandFromBytes(said);
            SS_CHECK(again && commandToBytes(again->number, again->command) == said);
        }
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    if (size == 0) return 0;
    const auto* data = reinterpret_cast<const std::byte*>(bytes + 1);
    if (bytes[0] < 128) {
        const FrameType type = static_cast<FrameType>(1 + bytes[0] % static_cast<int>(kLastFrameType));
        readPayload({.type = type, .version = kWireVersion, .payload = FrameBytes(data, data + size - 1)});
        return 0;
    }
    FrameReader frames;
    for (std::size_t at = 0; at < size - 1; at += 7) {
        frames.add(data + at, std::min<std::size_t>(7, size - 1 - at));
        while (true) {
            const auto frame = frames.next();
            SS_CHECK(frame || isOneSentence(frame));
            if (!frame) return 0;
            if (!*frame) break;
            readPayload(**frame);
        }
    }
    return 0;
}
