#include "app/workbench/diagnose/PeakMeter.h"

#include <ATen/Parallel.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/ones.h>
#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>

#include "app/workbench/diagnose/MachineTurn.h"
#include "core/base/Share.h"
#include "core/data/Hash128.h"
#include "core/kernels/forms/FormChoice.h"
#include "core/kernels/forms/FormFile.h"
#include "core/kernels/gemm/Gemm.h"
#include "core/memory/DeviceMemory.h"
#include "core/memory/HostAllocator.h"
#include "core/profile/ProcessUsage.h"
#include "core/profile/ProcessorTimes.h"
#include "core/step/Team.h"
#include "core/train/Failure.h"

namespace stepscope {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kMostBytes = 4096;  // of the file
constexpr double kCopySeconds = 0.4, kPageSeconds = 0.2;
constexpr std::int64_t kMostCopied = 256 << 20, kLeastCopied = 8 << 20;
constexpr double kMostOthersPct = 10;  // of the processors meanwhile, for numbers that are kept
constexpr std::int64_t kPages = 4096, kPageBytes = 4096;

double since(Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
}

struct Product {
    std::int64_t rows, summed, columns;
    double flops() const { return 2.0 * static_cast<double>(rows) * static_cast<double>(summed) * static_cast<double>(columns); }
};
// Sizes of layers as models have them, large enough that starting a product costs nothing beside it.
constexpr Product kOnCpu[] = {{1024, 768, 3072}, {1024, 3072, 768}, {1024, 1024, 1024}};
constexpr Product kOnGpu[] = {{8192, 4096, 4096}, {4096, 4096, 4096}};

at::ScalarType typeOf(Precision precision) {
    return precision == Precision::Float32 ? at::kFloat : precision == Precision::Bf16 ? at::kBFloat16 : at::kHalf;
}

class Meter {
public:
    Meter(const PeaksRequest& request, int threads, const std::atomic<bool>& cancelled)
        : m_device(request.device), m_seconds(request.secondsEach), m_threads(threads), m_cancelled(cancelled) {}

    double products(Precision precision) {
        double best = 0;
        const auto shapes = m_device.is_cuda() ? std::span<const Product>(kOnGpu) : std::span<const Product>(kOnCpu);
        const bool own = !m_device.is_cuda() && precision != Precision::Fp16;
        const double each = m_seconds / static_cast<double>(shapes.size() + (own ? 1 : 0));
        for (const Product& shape : shapes) best = std::max(best, ofLibrary(shape, precision, each));
        if (own) best = std::max(best, ofOurs(kOnCpu[0], precision, each));
        return best;
    }

    double bytesPerSecond() {
        const std::int64_t room = m_device.is_cuda() ? kMostCopied : std::clamp(host_memory::affordable().count / 8, kLeastCopied, kMostCopied);
        const auto from = at::ones({room}, at::TensorOptions(at::kByte).device(m_device));
        const auto to = at::empty_like(from);
        return 2 * static_cast<double>(room) / fastest(kCopySeconds, [&] {
                   to.copy_(from);
                   device_memory::synchronise(m_device);
               });
    }

    // Small pages on purpose: that is what a program gets that asks for memory anew each step.
    double secondsAPage() const {
        const auto bytes = static_cast<std::size_t>(kPages * kPageBytes);
        bool mapped = true;
        const double best = fastest(kPageSeconds, [&] {
            void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            if (memory == MAP_FAILED) {
                mapped = false;
                return;
            }
            ::madvise(memory, bytes, MADV_NOHUGEPAGE);
            auto* first = static_cast<volatile char*>(memory);
            for (std::int64_t page = 0; page < kPages; ++page) first[page * kPageBytes] = 1;
            ::munmap(memory, bytes);
        });
        return mapped ? best / static_cast<double>(kPages) : MachinePeaks::kNotMeasured;
    }

private:
    // Seconds of the fastest of as many runs as fit; two at least, the first of which is not counted.
    template <class Work>
    double fastest(double seconds, Work work) const {
        double best = 1e30;
        const auto begin = Clock::now();
        for (int run = 0; run < 2 || (since(begin) < seconds && !m_cancelled && !LookTurn::wanted()); ++run) {
            const auto at = Clock::now();
            work();
            if (run > 0) best = std::min(best, since(at));
        }
        return best;
    }

    double ofLibrary(const Product& shape, Precision precision, double seconds) const {
        const auto options = at::TensorOptions(typeOf(precision)).device(m_device);
        const auto a = at::ones({shape.rows, shape.summed}, options), b = at::ones({shape.columns, shape.summed}, options).t();
        auto c = at::empty({shape.rows, shape.columns}, options);
        return shape.flops() / fastest(seconds, [&] {
                   at::mm_out(c, a, b);
                   device_memory::synchronise(m_device);
               });
    }

    // Rows shared among threads, as a planned step does it.
    double ofOurs(const Product& shape, Precision precision, double seconds) const {
        const auto element = precision == Precision::Bf16 ? gemm::Element::Bf16 : gemm::Element::F32;
        const auto& kernels = gemm::kernels(element);
        const std::int64_t steps = gemm::steps(element, shape.summed);
        const std::uint32_t one = precision == Precision::Bf16 ? 0x3f803f80u : 0x3f800000u;
        const std::vector<std::uint32_t> a(static_cast<std::size_t>(shape.rows * steps), one);
        const std::vector<std::uint32_t> b(static_cast<std::size_t>(gemm::panels(shape.columns) * gemm::kPanel * steps), one);
        std::vector<float> c(static_cast<std::size_t>(shape.rows * shape.columns));
        const std::function<void(int)> body = [&](int thread) {
            const Share mine = share(shape.rows, thread, m_threads);
            kernels.store({a.data() + mine.begin * steps, steps, 1}, {b.data(), steps * gemm::kPanel}, mine.end - mine.begin, shape.columns, steps,
                          c.data() + mine.begin * shape.columns, shape.columns, false);
        };
        Team team(m_threads);
        return shape.flops() / fastest(seconds, [&] { team.run(body); });
    }

    const at::Device m_device;
    const double m_seconds;
    const int m_threads;
    const std::atomic<bool>& m_cancelled;
};

int threadsOf(const Machine& machine, const PeaksRequest& request) {
    return static_cast<int>(std::clamp<std::int64_t>(request.threads > 0 ? request.threads : machine.cores, 1, 1024));
}

// All that the numbers depend on, in one line.
std::string keyOf(const Machine& machine, const PeaksRequest& request) {
    std::string key = fmt::format("{}; libtorch {}; {}", formsMachine(), machine.libtorch, request.device);
    if (request.device == "cpu") return key + fmt::format("; {} threads", threadsOf(machine, request));
    for (const Gpu& gpu : machine.gpus) key += "; " + gpu.name;
    key += "; driver " + machine.driver;
    for (char& c : key)
        if (c < ' ' || c > '~') c = ' ';
    return key;
}

std::string folderOf(const PeaksRequest& request) {
    return request.folder == "none" ? "" : request.folder.empty() ? peaksFolder() : request.folder;
}

std::string fileOf(const std::string& folder, const std::string& key) {
    return folder + "/" + hashOf(key).hex();
}

}  // namespace

std::string peaksFolder() {
    const std::string forms = formsFolder();
    return forms.empty() ? "" : forms.substr(0, forms.rfind('/')) + "/peaks";
}

std::vector<Precision> precisionsOf(const Machine& machine, const std::string& device) {
    std::vector<Precision> all{Precision::Float32};
    if (device != "cpu") {
        const auto number = static_cast<std::size_t>(at::Device(device).index());
        if (number < machine.gpus.size() && machine.gpus[number].computeMajor >= 8) all.push_back(Precision::Bf16);
        all.push_back(Precision::Fp16);
        return all;
    }
    if (machine.has("avx512_bf16") || machine.has("amx_bf16")) all.push_back(Precision::Bf16);
    if (machine.has("avx512_fp16") || machine.has("amx_fp16")) all.push_back(Precision::Fp16);
    return all;
}

MachinePeaks knownPeaks(const Machine& machine, const PeaksRequest& request) {
    const std::string folder = folderOf(request), key = keyOf(machine, request);
    if (folder.empty()) return {};
    const auto text = readSmallFile(fileOf(folder, key), kMostBytes);
    return text ? readPeaks(*text, key).value_or(MachinePeaks{}) : MachinePeaks{};
}

bool keepPeaks(const Machine& machine, const PeaksRequest& request, const MachinePeaks& peaks) {
    const std::string folder = folderOf(request), key = keyOf(machine, request);
    return !folder.empty() && replaceSmallFile(folder, fileOf(folder, key), writePeaks(key, peaks));
}

Result<MachinePeaks> measurePeaks(const Machine& machine, const PeaksRequest& request, const std::function<void(const std::string&)>& progress,
                                  const std::atomic<bool>& cancelled) {
    const LookTurn turn;
    if (!turn.taken()) return makeError(ErrorCode::Unsupported, "This machine's peaks cannot be measured while a run or an experiment goes on.");
    MachinePeaks peaks = knownPeaks(machine, request);
    const std::vector<int> processors = usableProcessors();
    const auto before = processorTimes(processors);
    const std::int64_t ownBefore = processorNs();
    try {
        const int threads = threadsOf(machine, request);
        at::set_num_threads(threads);
        Meter meter(request, threads, cancelled);
        bool measured = false;
        const auto measure = [&](double& into, const std::string& what, const auto& work) {
            if (std::isfinite(into) || cancelled || LookTurn::wanted()) return;
            if (progress) progress("measuring " + what);
            const double found = work();
            if (cancelled || LookTurn::wanted()) return;
            into = found;
            measured = true;
        };
        const auto can = precisionsOf(machine, request.device);
        for (const Precision precision : request.precisions)
            if (std::ranges::find(can, precision) != can.end())
                measure(peaks.of(precision),
                        fmt::format("matrix products in {}", precision == Precision::Float32 ? "float32"
                                                             : precision == Precision::Bf16  ? "bf16"
                                                                                             : "fp16"),
                        [&] { return meter.products(precision); });
        measure(peaks.bytesPerSecond, "memory", [&] { return meter.bytesPerSecond(); });
        if (request.device == "cpu") measure(peaks.secondsAPage, "what a page of memory costs", [&] { return meter.secondsAPage(); });
        device_memory::trim(at::Device(request.device));
        if (cancelled || LookTurn::wanted()) return makeError(ErrorCode::Cancelled, "Stopped before this machine's peaks were measured.");
        // What was measured beside other programs holds for this process alone: a later one may find a quieter machine.
        const auto after = processorTimes(processors);
        const auto shares = before && after ? sharesBetween(*before, *after, processorNs() - ownBefore) : std::nullopt;
        const bool quiet = !shares || (shares->othersPct < kMostOthersPct && shares->stealPct < kMostOthersPct);
        if (measured && quiet) keepPeaks(machine, request, peaks);
    } catch (const std::exception& thrown) {
        return describeException(thrown);
    }
    return peaks;
}

}  // namespace stepscope
