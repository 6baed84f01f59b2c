// What c10d's header calls of gloo::Context; the code is in libtorch_cpu.
#pragma once
#include <chrono>

namespace gloo {
class Context {
public:
    void setTimeout(std::chrono::milliseconds timeout);
};
}  // namespace gloo
