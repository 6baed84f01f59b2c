#include "core/inference/KeptKeys.h"

#include <ATen/ops/empty.h>

#include "core/kernels/cached_attention/CachedAttention.h"

namespace stepscope {

KeptKeys::KeptKeys(const KeptShape& shape) : m_shape(shape), m_headElements(keyBlocks(shape.positions) * kKeyBlock * shape.headWidth) {
    const std::int64_t elements = shape.layers * shape.sequences * shape.heads * 2 * m_headElements;
    m_memory = at::empty({elements * (shape.type == KeptType::Bf16 ? 2 : 4) + 64}, at::TensorOptions().dtype(at::kByte));
    m_begin = reinterpret_cast<char*>((reinterpret_cast<std::uintptr_t>(m_memory.data_ptr<std::uint8_t>()) + 63) / 64 * 64);
}

}  // namespace stepscope
