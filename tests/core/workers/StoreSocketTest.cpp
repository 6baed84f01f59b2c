// Where the store of the first worker listens, and the sentence where it cannot. CTest.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/workers/StoreSocket.h"
#include "tests/support/FreePort.h"

namespace stepscope {
namespace {

using testing::HasSubstr;

WorkerPlace at(const std::string& address, bool oneMachine = true) {
    return {.rank = 0, .size = 2, .localRank = 0, .localSize = oneMachine ? 2 : 1, .address = address, .port = test::freePort(), .file = ""};
}

// Whether something can be listened at there beside what listens already.
bool isFree(std::uint32_t address, int port) {
    const int file = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in there{};
    there.sin_family = AF_INET;
    there.sin_addr.s_addr = htonl(address);
    there.sin_port = htons(static_cast<std::uint16_t>(port));
    const bool free = ::bind(file, reinterpret_cast<sockaddr*>(&there), sizeof there) == 0 && ::listen(file, 1) == 0;
    ::close(file);
    return free;
}

TEST(StoreSocket, AnAddressIsListenedAtAlone) {
    for (const bool oneMachine : {true, false}) {
        const WorkerPlace place = at("127.0.0.1", oneMachine);
        EXPECT_FALSE(somebodyListens(place));
        const auto file = listenForStore(place);
        ASSERT_TRUE(file) << file.error().sentence;
        EXPECT_TRUE(somebodyListens(place));
        EXPECT_TRUE(isFree(INADDR_LOOPBACK + 1, place.port));
        ::close(*file);
    }
}

TEST(StoreSocket, ANameThatMayBeAnotherAddressWithOthersIsListenedAtEverywhere) {
    const WorkerPlace place = at("localhost", false);
    const auto file = listenForStore(place);
    ASSERT_TRUE(file) << file.error().sentence;
    EXPECT_FALSE(isFree(INADDR_LOOPBACK + 1, place.port));
    ::close(*file);
}

TEST(StoreSocket, APortThatIsTakenIsNamed) {
    for (const WorkerPlace& place : {at("127.0.0.1"), at("127.0.0.1", false), at("localhost", false)}) {
        const auto first = listenForStore(place);
        ASSERT_TRUE(first) << first.error().sentence;
        const auto second = listenForStore(place);
        ASSERT_FALSE(second) << place.address;
        EXPECT_THAT(second.error().sentence, HasSubstr("MASTER_PORT " + std::to_string(place.port) + " at " + place.address + " is taken"));
        EXPECT_EQ(second.error().code, ErrorCode::Io);
        ::close(*first);
    }
}

// 192.0.2.1 is of an example's network (RFC 5737): no machine has it.
TEST(StoreSocket, AnAddressOfAnotherMachineIsNamedAndNothingListensInItsPlace) {
    for (const bool oneMachine : {true, false}) {
        const WorkerPlace place = at("192.0.2.1", oneMachine);
        const auto file = listenForStore(place);
        ASSERT_FALSE(file);
        EXPECT_THAT(file.error().sentence, HasSubstr("MASTER_ADDR 192.0.2.1 is not an address of this machine"));
        EXPECT_EQ(file.error().code, ErrorCode::BadInput);
        EXPECT_TRUE(isFree(INADDR_ANY, place.port));
    }
}

TEST(StoreSocket, ANameThatNobodyKnowsIsNamed) {
    const auto file = listenForStore(at("no such name"));
    ASSERT_FALSE(file);
    EXPECT_THAT(file.error().sentence, HasSubstr("MASTER_ADDR \"no such name\" is no address, and no name that this machine knows"));
}

}  // namespace
}  // namespace stepscope
