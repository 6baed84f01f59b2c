// Any bytes as what an engine that runs apart and the program that asked for it say beside events and commands: what to train, where its session is
// kept, how it ended. The first byte chooses which of them. It compiles app/workbench/engine/StartWords.cpp into itself, which needs no LibTorch; the
// room that it stands in does.
#include <utility>

#include "app/workbench/engine/StartWords.h"
#include "tests/fuzz/SaidAgain.h"

namespace {

using namespace stepscope;

// What is read as a refusal is one: the other side's, or that it is damaged. Either can be handed on.
void readRefusal(const FrameBytes& payload) {
    const Error one = errorFromBytes(payload);
    const FrameBytes bytes = errorToBytes(one);
    SS_CHECK(errorToBytes(errorFromBytes(bytes)) == bytes);
}

// A name of the other side's becomes part of a path here: below the own database, and nowhere else.
void readPlace(const FrameBytes& payload) {
    readAgain(payload, placeFromBytes, placeToBytes);
    auto place = placeFromBytes(payload);
    if (!place) return;
    const std::string said = place->checkpointFolder;
    const auto here = placeHere(std::move(*place), "/own/sessions.db");
    if (!here) {
        SS_CHECK(isOneSentence(here));
        return;
    }
    const std::string& folder = here->checkpointFolder;
    if (said.empty() || said.front() == '/') {
        SS_CHECK(folder == said);
    } else {
        SS_CHECK(folder.starts_with("/own/sessions.db.checkpoints/db-") && folder.find("..") == std::string::npos);
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    if (size == 0) return 0;
    const auto* data = reinterpret_cast<const std::byte*>(bytes + 1);
    const FrameBytes payload(data, data + size - 1);
    switch (bytes[0] % 6) {
        case 0:
            readAgain(payload, startFromBytes, startToBytes);
            break;
        case 1:
            readAgain(payload, askedFromBytes, askedToBytes);
            break;
        case 2:
            readPlace(payload);
            break;
        case 3:
            readRefusal(payload);
            break;
        case 4:
            readAgain(payload, storedFromBytes, storedToBytes);
            break;
        default:
            readAgain(payload, summaryFromBytes, summaryToBytes);
    }
    return 0;
}
