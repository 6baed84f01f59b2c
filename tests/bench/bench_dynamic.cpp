// The products of a linear layer of GPT-2 small with few rows of activations and with a prompt's, by weights of float32, of 8 bits, and of 8 bits
// with activations rounded as well (each form that this processor has, the rounding included): one thread, the fastest of many runs, a line of JSON
// each. STEPSCOPE_ISA masks instruction sets; torch_dynamic.py prints PyTorch's. Run by hand:
//   build/release/tests/bench/bench_dynamic
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "core/kernels/packed_rows/DynamicRowsCpu.h"
#include "core/kernels/packed_rows/PackedRowsCpu.h"

namespace stepscope {
namespace {

constexpr double kSeconds = 0.3;
constexpr std::int64_t kFew = 16;  // rows, up to which core/inference takes the products of packed rows

double fastest(const std::function<void()>& work) {
    using Clock = std::chrono::steady_clock;
    double best = 1e30;
    const auto begin = Clock::now();
    while (std::chrono::duration<double>(Clock::now() - begin).count() < kSeconds) {
        const auto before = Clock::now();
        work();
        best = std::min(best, std::chrono::duration<double>(Clock::now() - before).count());
    }
    return best;
}

// Every weight and every activation is another number, since what is rounded depends on them.
std::vector<float> numbersOf(std::int64_t count) {
    std::vector<float> all(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<float>((i * 2654435761u) % 2001) / 1000.0f - 1.0f;
    return all;
}

struct Weights {
    std::vector<char> panels;
    std::vector<float> scales;
    PackedRows packed;

    Weights(WeightType type, const std::vector<float>& source, std::int64_t out, std::int64_t in)
        : panels(static_cast<std::size_t>(gemm::panels(out) * PackedRows::panelBytes(type, in))),
          scales(static_cast<std::size_t>(PackedRows::scaleCount(type, out, in))),
          packed{type, out, in, panels.data(), scales.data()} {
        packRows(type, source.data(), out, in, panels.data(), scales.data(), 0, packed.panelCount());
    }
};

void measure(std::int64_t rows, std::int64_t in, std::int64_t out) {
    const auto source = numbersOf(out * in), x = numbersOf(rows * in);
    std::vector<float> y(static_cast<std::size_t>(rows * out));
    const RowProducts products{.count = rows, .x = x.data(), .xStride = in, .out = y.data(), .outStride = out};
    std::string told = fmt::format("\"isa\": \"{}\", \"rows\": {}, \"in\": {}, \"out\": {}", toString(isaInUse()), rows, in, out);
    const auto tell = [&](const char* what, double seconds) { told += fmt::format(", \"{}\": {:.7f}", what, seconds); };
    for (const auto& [type, name] : {std::pair{WeightType::F32, "f32"}, {WeightType::Int8, "int8"}}) {
        const Weights weights(type, source, out, in);
        const std::int64_t panels = weights.packed.panelCount();
        if (rows <= kFew)
            tell(name, fastest([&] { packedRowsCpu().multiply[static_cast<int>(type)](weights.packed, products, 0, panels); }));
        else if (type == WeightType::F32)
            tell(name, fastest([&] {
                     gemm::kernels(gemm::Element::F32)
                         .store({reinterpret_cast<const std::uint32_t*>(x.data()), in, 1},
                                {reinterpret_cast<const std::uint32_t*>(weights.panels.data()), in * gemm::kPanel}, rows, out, in, y.data(), out,
                                false);
                 }));
    }
    const Weights weights(WeightType::Int8Dynamic, source, out, in);
    std::vector<std::uint8_t> numbers(static_cast<std::size_t>(rows * QuantisedRows::stride(in)));
    std::vector<float> scales(static_cast<std::size_t>(rows));
    const QuantisedRows quantised{numbers.data(), scales.data()};
    for (const auto& [form, name] : {std::pair{DotForm::Apart, "dynamic, signs apart"}, {DotForm::AtOnce, "dynamic, VNNI"}}) {
        if (form == DotForm::AtOnce && !dynamicRowsCpu().hasAtOnce()) continue;
        tell(name, fastest([&] {
                 dynamicRowsCpu().quantise(x.data(), in, quantised, 0, rows);
                 dynamicRowsCpu().multiply[static_cast<int>(form)](weights.packed, quantised, products, 0, weights.packed.panelCount());
             }));
    }
    fmt::print("{{{}}}\n", told);
}

}  // namespace
}  // namespace stepscope

int main() {
    for (const std::int64_t rows : {1, 8, 128}) {
        stepscope::measure(rows, 768, 3072);
        stepscope::measure(rows, 3072, 768);
    }
}
