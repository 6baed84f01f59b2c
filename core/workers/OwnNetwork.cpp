#include "core/workers/OwnNetwork.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <memory>
#include <set>
#include <string_view>

#include "core/base/Utf8.h"

namespace stepscope {
namespace {

constexpr std::size_t kMostNamed = 200;  // bytes of an environment's variable that a sentence carries
// Of an example's network (RFC 5737), which is nowhere: reached by whatever leads away from here.
constexpr const char* kFarAway = "192.0.2.1";
constexpr int kAnyPort = 9;

struct Freed {
    void operator()(addrinfo* found) const { ::freeaddrinfo(found); }
    void operator()(ifaddrs* found) const { ::freeifaddrs(found); }
};

std::unique_ptr<addrinfo, Freed> datagramsTo(const std::string& address, int port) {
    addrinfo asked{};
    asked.ai_family = AF_UNSPEC;
    asked.ai_socktype = SOCK_DGRAM;
    asked.ai_flags = AI_NUMERICSERV;
    addrinfo* found = nullptr;
    return std::unique_ptr<addrinfo, Freed>(::getaddrinfo(address.c_str(), fmt::format("{}", port).c_str(), &asked, &found) == 0 ? found : nullptr);
}

std::string inNumbers(const sockaddr* address, socklen_t size) {
    std::array<char, NI_MAXHOST> text{};
    return ::getnameinfo(address, size, text.data(), text.size(), nullptr, 0, NI_NUMERICHOST) == 0 ? text.data() : "";
}

// Where it is bound to, or where it would send to.
std::string ownEndOf(const addrinfo& other, bool bindsThere) {
    const int file = ::socket(other.ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (file < 0) return {};
    sockaddr_storage own{};
    socklen_t size = sizeof own;
    const bool there = (bindsThere ? ::bind(file, other.ai_addr, other.ai_addrlen) : ::connect(file, other.ai_addr, other.ai_addrlen)) == 0 &&
                       ::getsockname(file, reinterpret_cast<sockaddr*>(&own), &size) == 0;
    ::close(file);
    return there ? inNumbers(reinterpret_cast<const sockaddr*>(&own), size) : "";
}

// The first address of a name that is one of this machine, as c10d takes it; empty: there is none.
std::string addressOfOwnName(const std::string& name) {
    const auto found = datagramsTo(name, 0);
    for (const addrinfo* one = found.get(); one != nullptr; one = one->ai_next)
        if (std::string own = ownEndOf(*one, true); !own.empty()) return own;
    return {};
}

std::set<std::string> interfacesHere() {
    ifaddrs* all = nullptr;
    if (::getifaddrs(&all) != 0) return {};
    const std::unique_ptr<ifaddrs, Freed> held(all);
    std::set<std::string> names;
    for (const ifaddrs* one = all; one != nullptr; one = one->ifa_next)
        if (one->ifa_addr != nullptr && (one->ifa_addr->sa_family == AF_INET || one->ifa_addr->sa_family == AF_INET6)) names.insert(one->ifa_name);
    return names;
}

Result<OwnNetwork> namedNetwork(std::string_view interfaces) {
    const std::set<std::string> here = interfacesHere();
    OwnNetwork network;
    for (bool more = true; more;) {
        const auto comma = interfaces.find(',');
        const std::string name(interfaces.substr(0, comma));
        if (!here.contains(name))
            return makeError(
                ErrorCode::BadInput,
                fmt::format("GLOO_SOCKET_IFNAME names the network interface \"{}\", and those here that have an address are {}.",
                            printable(firstBytes(name, kMostNamed)), here.empty() ? std::string("none") : fmt::format("{}", fmt::join(here, ", "))));
        network.interfaces.push_back(name);
        more = comma != std::string_view::npos;
        if (more) interfaces.remove_prefix(comma + 1);
    }
    return network;
}

}  // namespace

bool isLoopback(const std::string& address) {
    return address.starts_with("127.") || address == "::1" || address.starts_with("::ffff:127.");
}

std::string ownAddressTowards(const std::string& address, int port) {
    const auto found = datagramsTo(address, port);
    for (const addrinfo* one = found.get(); one != nullptr; one = one->ai_next)
        if (std::string own = ownEndOf(*one, false); !own.empty()) return own;
    return {};
}

Result<OwnNetwork> ownNetwork(const WorkerPlace& place, const char* interfaces, const std::string& hostName) {
    if (interfaces != nullptr && *interfaces != '\0') return namedNetwork(interfaces);
    if (place.oneMachine()) return OwnNetwork{{}, "127.0.0.1"};
    if (const std::string own = addressOfOwnName(hostName); !own.empty() && !isLoopback(own)) return OwnNetwork{};
    for (const std::string& own : {ownAddressTowards(place.address, place.port), ownAddressTowards(kFarAway, kAnyPort)})
        if (!own.empty() && !isLoopback(own)) return OwnNetwork{{}, own};
    return OwnNetwork{};
}

}  // namespace stepscope
