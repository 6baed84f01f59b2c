// The matrix products of a training step by our own kernels, alone: the floor that a step cannot be faster than. Torch-free. Called by
// tests/bench/against_pytorch: bench_products THREADS ROWS IN OUT [ROWS IN OUT ...] prints a line of JSON a linear layer, the seconds of its three
// products in bf16 and float32: {"rows", "in", "out", "bf16": [forward, input gradient, weight gradient], "f32": [...]}.
#include <fmt/format.h>

#include <algorithm>
#include <barrier>
#include <charconv>
#include <chrono>
#include <functional>
#include <thread>
#include <vector>

#include "core/base/Share.h"
#include "core/kernels/gemm/Gemm.h"

namespace stepscope {
namespace {

using gemm::kPanel;

constexpr int kRepeats = 7;
constexpr std::int64_t kRowBlock = 256;  // as a planned step's of a narrow model; the second-level cache holds it
constexpr std::int64_t kLongSum = 4096, kPart = 192;

// Seconds of the fastest of some runs of work(thread) on all threads.
double fastest(int threads, const std::function<void(int)>& work) {
    double best = 1e30;
    std::barrier meet(threads);
    const auto body = [&](int thread) {
        for (int repeat = 0; repeat < kRepeats; ++repeat) {
            meet.arrive_and_wait();
            const auto begin = std::chrono::steady_clock::now();
            work(thread);
            meet.arrive_and_wait();
            if (thread == 0) best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
        }
    };
    std::vector<std::jthread> others;
    for (int thread = 1; thread < threads; ++thread) others.emplace_back(body, thread);
    body(0);
    return best;
}

struct Layer {
    std::int64_t rows, in, out;
};

// Y = X W^T, dX = dY W and dW = dY^T X. Operands hold ones: time does not depend on what they hold.
std::vector<double> secondsOf(gemm::Element element, Layer layer, int threads) {
    const auto& kernels = gemm::kernels(element);
    const auto words = [&](std::int64_t rows, std::int64_t columns) {
        return std::vector<std::uint32_t>(static_cast<std::size_t>(rows * gemm::steps(element, columns)),
                                          element == gemm::Element::Bf16 ? 0x3f803f80u : 0x3f800000u);
    };
    // Row-major A and packed B; the columns of B are split among threads where rows are few.
    const auto rowsTimes = [&](std::int64_t rows, std::int64_t summed, std::int64_t columns) {
        const std::int64_t steps = gemm::steps(element, summed);
        const auto a = words(rows, summed), b = words(gemm::panels(columns) * kPanel, summed);
        std::vector<float> sink(static_cast<std::size_t>(threads) * 16);
        // A long sum is taken in parts, as the head's is over the vocabulary.
        std::vector<float> sums(static_cast<std::size_t>(steps > kLongSum ? threads * kRowBlock * columns : 0));
        return fastest(threads, [&](int thread) {
            const Share mine = share(rows, thread, threads);
            for (std::int64_t row = mine.begin; steps > kLongSum && row < mine.end; row += kRowBlock)
                for (std::int64_t first = 0; first < steps; first += kPart)
                    kernels.store({a.data() + row * steps + first, steps, 1}, {b.data() + first * kPanel, steps * kPanel},
                                  std::min(kRowBlock, mine.end - row), columns, std::min(kPart, steps - first),
                                  sums.data() + thread * kRowBlock * columns, columns, first > 0);
            for (std::int64_t row = mine.begin; steps <= kLongSum && row < mine.end; row += kRowBlock)
                kernels.tiles(
                    {a.data() + row * steps, steps, 1}, {b.data(), steps * kPanel}, std::min(kRowBlock, mine.end - row), columns, steps,
                    [](void* to, float* tile, std::int64_t, std::int64_t, std::int64_t, std::int64_t) { *static_cast<float*>(to) += *tile; },
                    sink.data() + thread * 16);
        });
    };
    const auto gradient = [&] {
        const std::int64_t steps = gemm::steps(element, layer.rows);
        const auto a = words(gemm::panels(layer.out) * kPanel, layer.rows), b = words(gemm::panels(layer.in) * kPanel, layer.rows);
        std::vector<float> c(static_cast<std::size_t>(layer.out * layer.in));
        return fastest(threads, [&](int thread) {
            const Share mine = share(gemm::panels(layer.out), thread, threads);
            constexpr std::int64_t together = 6;
            for (std::int64_t panel = mine.begin; panel < mine.end; panel += together) {
                const std::int64_t row = panel * kPanel, end = std::min(std::min(panel + together, mine.end) * kPanel, layer.out);
                kernels.store({a.data() + row * steps, 1, kPanel, steps * kPanel}, {b.data(), steps * kPanel}, end - row, layer.in, steps,
                              c.data() + row * layer.in, layer.in, false);
            }
        });
    };
    return {rowsTimes(layer.rows, layer.in, layer.out), rowsTimes(layer.rows, layer.out, layer.in), gradient()};
}

std::string listOf(const std::vector<double>& seconds) {
    std::string text;
    for (const double value : seconds) text += fmt::format("{}{:.9f}", text.empty() ? "" : ", ", value);
    return "[" + text + "]";
}

}  // namespace
}  // namespace stepscope

int main(int argc, char** argv) {
    using namespace stepscope;
    std::vector<std::int64_t> numbers;
    for (int i = 1; i < argc; ++i) {
        const std::string_view word = argv[i];
        std::int64_t number = 0;
        const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
        if (error != std::errc() || end != word.data() + word.size() || number < 1 || number > 1'000'000) {
            fmt::print(stderr, "\"{}\" is no number from 1 to 1000000.\n", word);
            return 2;
        }
        numbers.push_back(number);
    }
    if (numbers.size() < 4 || numbers.size() % 3 != 1 || numbers[0] > 1024) {
        fmt::print(stderr, "bench_products THREADS ROWS IN OUT [ROWS IN OUT ...], at most 1024 threads.\n");
        return 2;
    }
    const int threads = static_cast<int>(numbers[0]);
    for (std::size_t i = 1; i < numbers.size(); i += 3) {
        const Layer layer{numbers[i], numbers[i + 1], numbers[i + 2]};
        fmt::print("{{\"rows\": {}, \"in\": {}, \"out\": {}, \"bf16\": {}, \"f32\": {}}}\n", layer.rows, layer.in, layer.out,
                   listOf(secondsOf(gemm::Element::Bf16, layer, threads)), listOf(secondsOf(gemm::Element::F32, layer, threads)));
    }
}
