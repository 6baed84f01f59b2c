// Stands in for torchrun's agent as far as its store goes: keeps one at 127.0.0.1 and the port that its first word names, until it is ended. Workers
// come to it, die, and are started anew by the test.
#include <unistd.h>

#include <cstdlib>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

int main(int count, char** words) {
    if (count != 2) return 2;
    ::alarm(600);  // nobody is left behind by a test that was ended
    c10d::TCPStoreOptions options;
    options.port = static_cast<std::uint16_t>(std::atoi(words[1]));
    options.isServer = true;
    options.waitWorkers = false;
    const auto store = c10::make_intrusive<c10d::TCPStore>("127.0.0.1", options);
    ::pause();
    return 0;
}
