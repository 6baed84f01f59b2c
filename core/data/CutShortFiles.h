// What happens when a mapped file gets shorter: the kernel sends SIGBUS to whoever touches a page that is gone. Here a handler puts
// zeros in the place of such pages and remembers it, for mappings that are watched (as Wayland's compositors do for the memory of
// their clients); any other SIGBUS goes to whoever handled it before. Used by MappedFile; any thread.
#pragma once
#include <cstddef>

namespace stepscope::cut_short_files {

// The place of the mapping [address, address + size), or -1 when too many are watched already (then SIGBUS ends the program as ever).
int watch(const void* address, std::size_t size);
void forget(int place);  // before it is unmapped; -1 is allowed
bool wasCutShort(int place);

}  // namespace stepscope::cut_short_files
