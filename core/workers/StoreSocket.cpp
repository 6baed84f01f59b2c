#include "core/workers/StoreSocket.h"

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "core/base/Utf8.h"

namespace stepscope {
namespace {

constexpr int kConnects = 1000;  // milliseconds
constexpr std::size_t kMostAddress = 200;

struct Addresses {
    addrinfo* first = nullptr;
    int problem = 0;
    Addresses(const WorkerPlace& place, int flags) {
        addrinfo asked{};
        asked.ai_family = AF_UNSPEC;
        asked.ai_socktype = SOCK_STREAM;
        asked.ai_flags = flags | AI_NUMERICSERV;
        problem = ::getaddrinfo(place.address.c_str(), fmt::format("{}", place.port).c_str(), &asked, &first);
        if (problem != 0) first = nullptr;
    }
    ~Addresses() {
        if (first != nullptr) ::freeaddrinfo(first);
    }
    Addresses(const Addresses&) = delete;
    Addresses& operator=(const Addresses&) = delete;
};

class Socket {
public:
    Socket(const addrinfo& address, int flags)
        : m_file(::socket(address.ai_family, address.ai_socktype | SOCK_CLOEXEC | flags, address.ai_protocol)) {}
    ~Socket() {
        if (m_file >= 0) ::close(m_file);
    }
    Socket(const Socket&) = delete;
    Socket& operator=(const Socket&) = delete;
    int file() const { return m_file; }
    int release() { return std::exchange(m_file, -1); }

private:
    int m_file;
};

bool connects(const Socket& socket, const addrinfo& address) {
    if (::connect(socket.file(), address.ai_addr, address.ai_addrlen) == 0) return true;
    if (errno != EINPROGRESS) return false;
    pollfd waiting{.fd = socket.file(), .events = POLLOUT, .revents = 0};
    if (::poll(&waiting, 1, kConnects) != 1) return false;
    int problem = 0;
    socklen_t size = sizeof problem;
    return ::getsockopt(socket.file(), SOL_SOCKET, SO_ERROR, &problem, &size) == 0 && problem == 0;
}

// 0, or why not. A port that another socket was bound to may still be refused when it is listened at: both at once, so that nobody comes between.
int listenAt(const Socket& socket, const sockaddr* address, socklen_t size) {
    const int yes = 1;
    if (socket.file() < 0 || ::setsockopt(socket.file(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) != 0 ||
        ::bind(socket.file(), address, size) != 0 || ::listen(socket.file(), SOMAXCONN) != 0)
        return errno;
    return 0;
}

Error notListening(const WorkerPlace& place, int problem) {
    const std::string address = printable(firstBytes(place.address, kMostAddress));
    if (problem == EADDRINUSE)
        return makeError(
            ErrorCode::Io,
            fmt::format("MASTER_PORT {} at {} is taken by another program, or by a second worker whose RANK is 0; let MASTER_PORT name a "
                        "free one.",
                        place.port, address));
    if (problem == EADDRNOTAVAIL)
        return makeError(ErrorCode::BadInput, fmt::format("MASTER_ADDR {} is not an address of this machine, where worker 0 is; let it name one, or "
                                                          "start worker 0 there.",
                                                          address));
    return makeError(ErrorCode::Io,
                     fmt::format("Worker 0 cannot listen at MASTER_PORT {} of MASTER_ADDR {}: {}.", place.port, address, std::strerror(problem)));
}

// [::] takes what comes to 0.0.0.0, too; a machine without IPv6 has the latter alone.
Result<int> listenEverywhere(const WorkerPlace& place) {
    addrinfo family{};
    family.ai_socktype = SOCK_STREAM;
    family.ai_family = AF_INET6;
    Socket both(family, 0);
    sockaddr_in6 any{};
    any.sin6_family = AF_INET6;
    any.sin6_port = htons(static_cast<std::uint16_t>(place.port));
    any.sin6_addr = in6addr_any;
    const int no = 0;
    int problem = both.file() < 0 ? EAFNOSUPPORT : 0;
    if (problem == 0 && ::setsockopt(both.file(), IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof no) != 0) problem = errno;
    if (problem == 0) problem = listenAt(both, reinterpret_cast<const sockaddr*>(&any), sizeof any);
    if (problem == 0) return both.release();
    if (problem != EAFNOSUPPORT && problem != EADDRNOTAVAIL) return notListening(place, problem);
    family.ai_family = AF_INET;
    Socket old(family, 0);
    sockaddr_in all{};
    all.sin_family = AF_INET;
    all.sin_port = htons(static_cast<std::uint16_t>(place.port));
    all.sin_addr.s_addr = htonl(INADDR_ANY);
    problem = listenAt(old, reinterpret_cast<const sockaddr*>(&all), sizeof all);
    if (problem == 0) return old.release();
    return notListening(place, problem);
}

}  // namespace

Result<int> listenForStore(const WorkerPlace& place) {
    // A host's own name is 127.0.1.1 on many, where nobody else would find it.
    const Addresses numbers(place, AI_NUMERICHOST), names(place, 0);
    if (names.first == nullptr && (place.oneMachine() || names.problem == EAI_NONAME))
        return makeError(ErrorCode::BadInput, fmt::format("MASTER_ADDR \"{}\" is no address, and no name that this machine knows: {}.",
                                                          printable(firstBytes(place.address, kMostAddress)), ::gai_strerror(names.problem)));
    if (!place.oneMachine() && numbers.first == nullptr) return listenEverywhere(place);
    int problem = EADDRNOTAVAIL;
    for (const addrinfo* one = names.first; one != nullptr; one = one->ai_next) {
        Socket socket(*one, 0);
        const int why = listenAt(socket, one->ai_addr, one->ai_addrlen);
        if (why == 0) return socket.release();
        // The others may try that address first, and would meet whoever is there.
        if (why == EADDRINUSE) return notListening(place, why);
        // An address of a kind that this machine has not is no reason where there is another one.
        if (problem == EADDRNOTAVAIL && why != EAFNOSUPPORT) problem = why;
    }
    return notListening(place, problem);
}

bool somebodyListens(const WorkerPlace& place) {
    const Addresses addresses(place, 0);
    for (const addrinfo* one = addresses.first; one != nullptr; one = one->ai_next) {
        const Socket socket(*one, SOCK_NONBLOCK);
        if (socket.file() >= 0 && connects(socket, *one)) return true;
    }
    return false;
}

}  // namespace stepscope
