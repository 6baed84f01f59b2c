// At which of its addresses a worker listens for the others. CTest.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

#include <array>
#include <set>

#include "core/workers/OwnNetwork.h"

namespace stepscope {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

WorkerPlace metAt(const std::string& address, bool oneMachine = false) {
    return {.rank = 1, .size = 2, .localRank = 0, .localSize = oneMachine ? 2 : 1, .address = address, .port = 29500, .file = ""};
}

// 127.0.0.1 at least.
std::set<std::string> addressesHere() {
    ifaddrs* all = nullptr;
    EXPECT_EQ(::getifaddrs(&all), 0);
    std::set<std::string> found;
    for (const ifaddrs* one = all; one != nullptr; one = one->ifa_next) {
        if (one->ifa_addr == nullptr || one->ifa_addr->sa_family != AF_INET || (one->ifa_flags & IFF_UP) == 0) continue;
        std::array<char, INET_ADDRSTRLEN> text{};
        ::inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in*>(one->ifa_addr)->sin_addr, text.data(), text.size());
        found.insert(text.data());
    }
    ::freeifaddrs(all);
    return found;
}

TEST(OwnNetwork, OfWorkersOfOneMachineIsTheOneThatNobodyElseReaches) {
    const auto network = ownNetwork(metAt("127.0.0.1", true), nullptr, "localhost");
    ASSERT_TRUE(network);
    EXPECT_EQ(network->address, "127.0.0.1");
    EXPECT_THAT(network->interfaces, IsEmpty());
}

TEST(OwnNetwork, IsTheOneThatAPersonNamesOrSeveral) {
    for (const bool oneMachine : {true, false}) {
        const auto one = ownNetwork(metAt("127.0.0.1", oneMachine), "lo", "localhost");
        ASSERT_TRUE(one) << one.error().sentence;
        EXPECT_THAT(one->interfaces, ElementsAre("lo"));
        EXPECT_EQ(one->address, "");
        EXPECT_THAT(ownNetwork(metAt("127.0.0.1", oneMachine), "lo,lo", "localhost")->interfaces, ElementsAre("lo", "lo"));
    }
    EXPECT_EQ(ownNetwork(metAt("127.0.0.1", true), "", "localhost")->address, "127.0.0.1") << "set to nothing it names none";
}

TEST(OwnNetwork, AnInterfaceThatIsNotThereIsNamedWithThoseThatAre) {
    for (const char* interfaces : {"nowhere", "lo,nowhere", "lo,", ",lo", "nowhere\x1b[2J"}) {
        const auto network = ownNetwork(metAt("127.0.0.1"), interfaces, "localhost");
        ASSERT_FALSE(network) << interfaces;
        EXPECT_EQ(network.error().code, ErrorCode::BadInput);
        EXPECT_THAT(network.error().sentence, AllOf(HasSubstr("GLOO_SOCKET_IFNAME names the network interface \""), HasSubstr("lo")));
        EXPECT_EQ(network.error().sentence.find('\x1b'), std::string::npos);
    }
}

TEST(OwnNetwork, AnAddressOfThisMachineIsReachedByItself) {
    const auto addresses = addressesHere();
    ASSERT_TRUE(addresses.contains("127.0.0.1"));
    for (const std::string& address : addresses) EXPECT_EQ(ownAddressTowards(address, 29500), address);
    EXPECT_EQ(ownAddressTowards("no such name", 29500), "");
}

// As on every Debian, where /etc/hosts has the host's name as 127.0.1.1. Nobody but this machine would find it there.
TEST(OwnNetwork, WhereTheHostsNameIsThisMachinesAloneItIsWhatReachesMasterAddr) {
    for (const std::string& address : addressesHere()) {
        const auto network = ownNetwork(metAt(address), nullptr, "localhost");
        ASSERT_TRUE(network);
        EXPECT_FALSE(isLoopback(network->address)) << "none rather than one that nobody finds";
        if (!isLoopback(address)) {
            EXPECT_EQ(network->address, address);
        }
    }
}

TEST(OwnNetwork, AddressesThatTheirOwnMachineAloneReachesAreKnown) {
    for (const char* own : {"127.0.0.1", "127.0.1.1", "::1"}) EXPECT_TRUE(isLoopback(own)) << own;
    for (const char* other : {"10.0.0.5", "192.0.2.1", "fe80::1", ""}) EXPECT_FALSE(isLoopback(other)) << other;
}

}  // namespace
}  // namespace stepscope
