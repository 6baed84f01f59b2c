// Column sums as a fused operation: the bias gradient, on whatever device its rows lie.
#include "core/fused/Linear.h"
#include "core/kernels/qkv_layout/QkvLayoutCpu.h"

namespace stepscope::fused {

at::Tensor columnSums(const char* name, const at::Tensor& rows) {
    const std::int64_t columns = rows.size(-1), count = columns > 0 ? rows.numel() / columns : 0;
    at::Tensor sums;
    const auto cpu = [&] {
        withElement(rows.scalar_type(), [&](auto element) {
            using E = decltype(element);
            sums = sumOverRows(name, count, columns, moved({rows}), [&](std::int64_t begin, std::int64_t end, float* to) {
                qkvLayoutCpu<E>().columnSums(columns, pointer<E>(rows), to, begin, end);
            });
        });
    };
    onDevice(name, rows, moved({rows}), cpu, [&](const CudaInterface& cuda) {
        sums = at::empty({columns}, rows.options().dtype(at::kFloat));
        const at::Tensor partial = workspace(cuda.columnSumsWorkspaceBytes(count, columns), rows);
        return cuda.columnSums(rowsOf(rows, count, columns), data(rows), floats(sums), data(partial));
    });
    return sums;
}

}  // namespace stepscope::fused
