// The products of DynamicRows.h on the CPU, by the processor's instructions for whole numbers. All forms, of every instruction set, have the same
// sums, to the bit. Called by core/inference; one thread a call, threads share the panels.
#pragma once
#include "core/kernels/isa/Isa.h"
#include "core/kernels/packed_rows/DynamicRows.h"

namespace stepscope {

// How four products of bytes are added to a sum: signs and sizes apart, by what the set has; or all at once by VNNI's vpdpbusd, which processors have
// or have not within a set.
enum class DotForm { Apart, AtOnce };

struct DynamicRowsTable {
    // Rows [begin, end) of x (rows, columns).
    void (*quantise)(const float* x, std::int64_t columns, const QuantisedRows& into, std::int64_t begin, std::int64_t end);
    // For the rows of panels [begin, end) of weights that are Int8Dynamic, by DotForm. products.x is not read. AtOnce only where hasAtOnce() says so.
    void (*multiply[2])(const PackedRows& weights, const QuantisedRows& x, const RowProducts& products, std::int64_t begin, std::int64_t end);
    bool (*hasAtOnce)();
};
STEPSCOPE_ISA_TABLE(DynamicRowsTable, dynamicRowsTable)

inline const DynamicRowsTable& dynamicRowsCpu() {
    return STEPSCOPE_PICK_ISA(dynamicRowsTable);
}

// The faster form that this processor has.
inline void multiplyDynamic(const PackedRows& weights, const QuantisedRows& x, const RowProducts& products, std::int64_t begin, std::int64_t end) {
    const DynamicRowsTable& table = dynamicRowsCpu();
    table.multiply[static_cast<int>(table.hasAtOnce() ? DotForm::AtOnce : DotForm::Apart)](weights, x, products, begin, end);
}

}  // namespace stepscope
