#include "sessions/wire/Hello.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "core/base/Utf8.h"
#include "sessions/wire/WireIo.h"

namespace stepscope {
namespace {

constexpr std::size_t kLongestVersion = 100, kLongestHost = 200, kMostGoing = 10, kLongestGoing = 300;

Error otherVersion(const std::string& theirs, std::uint64_t protocol) {
    return makeError(
        ErrorCode::Unsupported,
        fmt::format("The engine is Stepscope {} (protocol {}) and this program is Stepscope {} (protocol {}); install the same version on both.",
                    theirs.empty() ? "of an unknown version" : printable(theirs), protocol, STEPSCOPE_VERSION, kWireVersion));
}

}  // namespace

std::string hostName() {
    std::array<char, kLongestHost + 1> name{};
    if (::gethostname(name.data(), name.size() - 1) != 0) return {};
    return printable(name.data());
}

bool isEngineId(std::string_view text) {
    return text.size() == kEngineIdLength && std::ranges::all_of(text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

Hello ownHello(Machine machine, std::uint64_t layout) {
    return {.protocol = kWireVersion, .program = STEPSCOPE_VERSION, .layout = layout, .host = hostName(), .machine = std::move(machine)};
}

FrameBytes helloToBytes(const Hello& hello) {
    WireWriter io;
    io.bytes().whole(hello.protocol);
    io.bytes().text(hello.program);
    io.bytes().whole(hello.layout);
    io("host", hello.host);
    io("machine", hello.machine);
    io("engine", hello.engine);
    io("going", hello.going);
    return io.take();
}

Result<Hello> helloFrom(const Frame& frame, std::uint64_t layout) {
    if (frame.type != FrameType::Hello)
        return makeError(ErrorCode::Damaged, "What answered is no engine of Stepscope: its first frame does not say who it is.");
    WireReader io(frame.payload);
    Hello hello;
    hello.protocol = io.bytes().whole();
    hello.program = io.bytes().text(kLongestVersion);
    // What follows in another version nobody knows.
    if (frame.version != kWireVersion || hello.protocol != kWireVersion || (io.bytes().good() && hello.program != STEPSCOPE_VERSION))
        return otherVersion(hello.program, frame.version != kWireVersion ? frame.version : hello.protocol);
    hello.layout = io.bytes().whole();
    if (io.bytes().good() && hello.layout != layout)
        return makeError(
            ErrorCode::Unsupported,
            fmt::format(
                "The engine is another build of Stepscope {} than this program: what it says has other fields; install the same build on both.",
                STEPSCOPE_VERSION));
    hello.host = io.bytes().text(kLongestHost);
    io("machine", hello.machine);
    hello.engine = io.bytes().text(kEngineIdLength);
    if (io.bytes().good() && !hello.engine.empty() && !isEngineId(hello.engine)) io.bytes().fail("a name that no engine has");
    io("going", hello.going);
    if (const Status good = io.finished("The engine's first frame"); !good) return good.error();
    hello.host = printable(hello.host);
    if (hello.going.size() > kMostGoing) hello.going.resize(kMostGoing);
    for (std::string& one : hello.going) one = printable(firstBytes(one, kLongestGoing));
    return hello;
}

}  // namespace stepscope
