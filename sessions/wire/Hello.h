// The first frame of an engine that runs apart: which Stepscope it is, and what machine it is on. It alone is understood by other versions, so that
// one sentence can name both. Pure functions; any thread.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/events/Machine.h"
#include "sessions/wire/Frame.h"

namespace stepscope {

struct Hello {
    std::uint64_t protocol = kWireVersion;
    std::string program;       // its version
    std::uint64_t layout = 0;  // of all that crosses: LayoutWords
    std::string host;          // the machine's name
    Machine machine;
    std::vector<std::string> going{};  // of a machine that is asked who it is: engines there that outlive their lines and train, "ID: what"
    std::string engine{};              // by which an engine that outlives its line is found again; empty: it ends with its line
};

constexpr std::size_t kEngineIdLength = 16;
// Lower-case hexadecimal digits: one stands in a command and in the name of a folder.
bool isEngineId(std::string_view text);

// Of this program. layout: of all that it says and understands (engineLayout() of app/workbench/engine).
Hello ownHello(Machine machine, std::uint64_t layout);
std::string hostName();  // printable, at most 200 bytes

FrameBytes helloToBytes(const Hello& hello);
// Refused with a sentence that names both versions where it is not this program's, and where its layout is another one.
Result<Hello> helloFrom(const Frame& frame, std::uint64_t layout);

}  // namespace stepscope
