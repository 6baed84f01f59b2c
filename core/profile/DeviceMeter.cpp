#include "core/profile/DeviceMeter.h"

#include <fmt/format.h>

#include <utility>

#include "core/trace/Slice.h"

namespace stepscope {
namespace {

constexpr std::int64_t kMeterLanes = std::int64_t{1} << 50;  // told from those of other samples

struct Reading {
    const char *name, *unit;
    double (*of)(const CudaGpuSample& sample);  // below 0: unknown
};
template <class T>
double plain(T value) {
    return static_cast<double>(value);
}
constexpr Reading kReadings[] = {
    {"GPU utilisation", "%", [](const CudaGpuSample& s) { return s.utilisationPct; }},
    {"GPU memory controller", "%", [](const CudaGpuSample& s) { return s.memoryBusyPct; }},
    {"GPU memory", "B", [](const CudaGpuSample& s) { return plain(s.memoryUsedBytes); }},
    {"GPU power", "W", [](const CudaGpuSample& s) { return s.powerWatts; }},
    {"GPU energy", "J", [](const CudaGpuSample& s) { return s.energyJoules; }},
    {"GPU temperature", "°C", [](const CudaGpuSample& s) { return s.temperatureCelsius; }},
    {"SM clock", "MHz", [](const CudaGpuSample& s) { return plain(s.smClockMHz); }},
    {"clock throttle reasons", "", [](const CudaGpuSample& s) { return plain(s.throttleReasons); }},
    {"PCIe sent", "B/s", [](const CudaGpuSample& s) { return plain(s.pcieSentBytes); }},
    {"PCIe received", "B/s", [](const CudaGpuSample& s) { return plain(s.pcieReceivedBytes); }},
};

}  // namespace

DeviceMeter::DeviceMeter(const CudaInterface& cuda, std::int64_t device, std::int64_t rank, Out out)
    : m_cuda(cuda), m_device(device), m_out(std::move(out)) {
    m_block.lane = laneOfWorker(kMeterLanes + device, rank);  // as the lanes of its kernels are told from those of other workers
    m_block.rank = rank;
    m_block.process = m_block.device = device;
    m_block.name = fmt::format("GPU {}", device);
    for (const Reading& reading : kReadings) m_block.series.push_back({reading.name, reading.unit});
}

void DeviceMeter::read(std::int64_t at) {
    CudaGpuSample sample{};
    if (m_cuda.sampleGpu == nullptr || m_cuda.sampleGpu(static_cast<std::int32_t>(m_device), &sample) != nullptr) return;
    std::uint32_t series = 0;
    for (const Reading& reading : kReadings) {
        ++series;
        if (const double value = reading.of(sample); value >= 0) m_block.samples.push_back({at, series, value});
    }
    if (m_block.samples.size() >= kFull) finish();
}

void DeviceMeter::finish() {
    if (m_block.samples.empty()) return;
    SampleBlock full = m_block;
    m_block.samples.clear();
    m_out(std::move(full));
}

}  // namespace stepscope
