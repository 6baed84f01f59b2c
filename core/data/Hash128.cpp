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

struct StreamingHash::State {
    XXH3_state_t* state = XXH3_createState();
    ~State() { XXH3_freeState(state); }
};

StreamingHash::StreamingHash() : m_state(std::make_unique<State>()) {
    reset();
}

void StreamingHash::reset() {
    XXH3_128bits_reset(m_state->state);
}

StreamingHash::~StreamingHash() = default;

void StreamingHash::add(std::string_view bytes) {
    XXH3_128bits_update(m_state->state, bytes.data(), bytes.size());
}

Hash128 StreamingHash::digest() const {
    const XXH128_hash_t hash = XXH3_128bits_digest(m_state->state);
    return {hash.low64, hash.high64};
}

}  // namespace stepscope
