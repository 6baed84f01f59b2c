// KeptKeys: where the keys and values of every layer, sequence and head lie (core/kernels/cached_attention says how those of one head do). Owned by a
// Decoder; its threads write different heads and rows at the same time.
#pragma once
#include <ATen/core/Tensor.h>

#include "core/base/Units.h"

namespace stepscope {

enum class KeptType { F32, Bf16 };

struct KeptShape {
    std::int64_t layers = 0, sequences = 0, heads = 0, headWidth = 0;
    std::int64_t positions = 0;  // of each sequence
    KeptType type = KeptType::F32;
};

class KeptKeys {
public:
    explicit KeptKeys(const KeptShape& shape);

    KeptType type() const { return m_shape.type; }
    Bytes bytes() const { return Bytes{m_memory.numel()}; }
    template <class T>
    T* keys(std::int64_t layer, std::int64_t sequence, std::int64_t head) const {
        return reinterpret_cast<T*>(m_begin) + ((layer * m_shape.sequences + sequence) * m_shape.heads + head) * 2 * m_headElements;
    }
    template <class T>
    T* values(std::int64_t layer, std::int64_t sequence, std::int64_t head) const {
        return keys<T>(layer, sequence, head) + m_headElements;
    }

private:
    KeptShape m_shape;
    std::int64_t m_headElements;  // of the keys of a head, and of its values
    at::Tensor m_memory;
    char* m_begin;  // at a cache line
};

}  // namespace stepscope
