// The products of packed rows with activations as they are, on the CPU: weights are read once, in the order in which they lie, and sums are float32.
// Called by core/inference; one thread a call, threads share the panels. DynamicRowsCpu.h has those with whole numbers.
#pragma once
#include "core/kernels/isa/Isa.h"
#include "core/kernels/packed_rows/PackedRows.h"

namespace stepscope {

struct PackedRowsTable {
    // For the rows of panels [begin, end), by WeightType.
    void (*multiply[kFloatProductTypes])(const PackedRows& weights, const RowProducts& products, std::int64_t begin, std::int64_t end);
    // One panel of 8-bit or 4-bit weights as a panel of float32 (Gemm.h), for large products: (columns) x 32.
    void (*widenPanel)(const PackedRows& weights, std::int64_t panel, float* out);
};
STEPSCOPE_ISA_TABLE(PackedRowsTable, packedRowsTable)

inline const PackedRowsTable& packedRowsCpu() {
    return STEPSCOPE_PICK_ISA(packedRowsTable);
}

}  // namespace stepscope
