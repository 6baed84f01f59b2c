// OwnNetwork: by which of its addresses a worker listens for the others: what GLOO_SOCKET_IFNAME names, or what can be told of this machine.
// WorkerGroup asks before it meets anybody. Torch-free; any thread.
#pragma once
#include <string>
#include <vector>

#include "core/base/Result.h"
#include "core/workers/WorkerPlace.h"

namespace stepscope {

// One of the two; neither: the address of this machine's own name.
struct OwnNetwork {
    std::vector<std::string> interfaces;  // that a person named; each of them is there and has an address
    std::string address;
};

// interfaces: GLOO_SOCKET_IFNAME, one or several with commas between them, as PyTorch takes it; null or empty: nobody named any. hostName: this
// machine's. A name on many machines is 127.0.1.1 with themselves, where nobody else finds them: then it is the address by which MASTER_ADDR is
// reached, or all that is far away. BadInput: an interface that is not there; the sentence has those that are.
Result<OwnNetwork> ownNetwork(const WorkerPlace& place, const char* interfaces, const std::string& hostName);

// From which address of this machine something would be sent to an address or a name, without sending anything. Empty: from none.
std::string ownAddressTowards(const std::string& address, int port);

// Whether an address in numbers is reached by its own machine alone.
bool isLoopback(const std::string& address);

}  // namespace stepscope
