// Named by c10d's header; the classes are libtorch_cpu's.
#pragma once

namespace gloo::transport {
class Device;
class UnboundBuffer;
}  // namespace gloo::transport
