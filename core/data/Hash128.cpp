#include "core/data/Hash128.h"

#include <fmt/format.h>
#include <xxhash.h>

namespace stepscope {

std::string Hash128::hex() const {
    return fmt::format("{:016x}{:016x}", high, low);
}

Hash128 hashOf(std::string_view bytes) {
    const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
    return {hash.low64, hash.high64};
}

}  // namespace stepscope
