// Queries, keys and values between their layouts, compiled once per instruction set.
#include "core/kernels/qkv_layout/QkvLayoutCpu.h"

#include "core/kernels/isa/Vec.h"

namespace stepscope::STEPSCOPE_ISA {
namespace {

STEPSCOPE_INLINE std::int64_t headRow(HeadShape shape, std::int64_t row, std::int64_t h) {
    return ((row / shape.context * shape.heads + h) * shape.context + row % shape.context) * shape.width;
}

template <class T>
void split(HeadShape shape, std::int64_t parts, const T* rows, const float* bias, T* const* heads, std::int64_t begin, std::int64_t end) {
    const std::int64_t C = shape.heads * shape.width;
    for (std::int64_t r = begin; r < end; ++r)
        for (std::int64_t p = 0; p < parts; ++p)
            for (std::int64_t h = 0; h < shape.heads; ++h) {
                const std::int64_t column = p * C + h * shape.width;
                const T* from = rows + r * parts * C + column;
                T* to = heads[p] + headRow(shape, r, h);
                if (bias)
                    forLanes(shape.width,
                             [&](std::int64_t c, std::int64_t lanes) { put(to + c, get(from + c, lanes) + get(bias + column + c, lanes), lanes); });
                else
                    __builtin_memcpy(to, from, static_cast<std::size_t>(shape.width) * sizeof(T));
            }
}

template <class T>
void merge(HeadShape shape, std::int64_t parts, const T* const* heads, T* rows, float* biasSums, std::int64_t begin, std::int64_t end) {
    const std::int64_t C = shape.heads * shape.width;
    for (std::int64_t r = begin; r < end; ++r)
        for (std::int64_t p = 0; p < parts; ++p)
            for (std::int64_t h = 0; h < shape.heads; ++h) {
                const std::int64_t column = p * C + h * shape.width;
                const T* from = heads[p] + headRow(shape, r, h);
                __builtin_memcpy(rows + r * parts * C + column, from, static_cast<std::size_t>(shape.width) * sizeof(T));
                if (biasSums)
                    forLanes(shape.width, [&](std::int64_t c, std::int64_t lanes) {
                        put(biasSums + column + c, get(biasSums + column + c, lanes) + get(from + c, lanes), lanes);
                    });
            }
}

template <class T>
void columnSums(std::int64_t columns, const T* rows, float* sums, std::int64_t begin, std::int64_t end) {
    for (std::int64_t r = begin; r < end; ++r)
        forLanes(columns,
                 [&](std::int64_t c, std::int64_t lanes) { put(sums + c, get(sums + c, lanes) + get(rows + r * columns + c, lanes), lanes); });
}

}  // namespace

const QkvLayoutTable<float> qkvLayoutFloat{split<float>, merge<float>, columnSums<float>};
const QkvLayoutTable<Bf16> qkvLayoutBf16{split<Bf16>, merge<Bf16>, columnSums<Bf16>};

}  // namespace stepscope::STEPSCOPE_ISA
