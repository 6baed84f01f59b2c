#include "core/workers/StoreSocket.h"

#include <fmt/format.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <utility>

namespace stepscope {
namespace {

constexpr int kConnects = 1000;  // milliseconds

struct Addresses {
    addrinfo* first = nullptr;
    Addresses(const WorkerPlace& place, int flags) {
        addrinfo asked{};
        asked.ai_family = AF_UNSPEC;
        asked.ai_socktype = SOCK_STREAM;
        asked.ai_flags = flags | AI_NUMERICSERV;
        if (::getaddrinfo(place.address.c_str(), fmt::format("{}", place.port).c_str(), &asked, &first) != 0) first = nullptr;
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

}  // namespace

std::optional<int> boundToAddress(const WorkerPlace& place) {
    // A host's own name is 127.0.1.1 on many, where nobody else would find it.
    const Addresses addresses(place, place.oneMachine() ? 0 : AI_NUMERICHOST);
    for (const addrinfo* one = addresses.first; one != nullptr; one = one->ai_next) {
        Socket socket(*one, 0);
        const int yes = 1;
        if (socket.file() < 0 || ::setsockopt(socket.file(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) != 0) continue;
        if (::bind(socket.file(), one->ai_addr, one->ai_addrlen) == 0) return socket.release();
    }
    return std::nullopt;
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
