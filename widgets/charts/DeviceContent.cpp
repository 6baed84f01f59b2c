// The two device charts: how busy the processors are, and how much memory is taken. Samples come twice a second.
#include <algorithm>
#include <cmath>

#include "widgets/charts/ChartContent.h"

namespace stepscope {
namespace {

QString whyNoSamples(const ChartContent& content, const DrawRequest& request) {
    if (request.history == nullptr || !request.history->started()) return content.ChartContent::whyEmpty(request);
    if (!request.history->device().place.empty()) return {};
    if (const auto& state = request.history->state(); state && ended(state->state))
        return QStringLiteral("This run was too short for a device sample: they are taken every half second.");
    return QStringLiteral("No device samples yet: they are taken every half second.");
}

// Drawn only where it was ever worth a line: on most machines the host takes nothing.
bool isStolenFrom(const DrawRequest& request) {
    constexpr double kWorthSaying = 1;  // per cent
    const Column& steal = request.history->device().stealPct;
    const auto extremes = steal.extremes(0, steal.size());
    return extremes.any && steal[extremes.high] >= kWorthSaying;
}

bool knowsOthers(const DrawRequest& request) {
    const Column& others = request.history->device().othersPct;
    return others.extremes(0, others.size()).any;
}

bool hasGpu(const DrawRequest& request) {
    const Column& gpu = request.history->device().gpuPct;
    return gpu.extremes(0, gpu.size()).any;
}

class UtilisationContent : public ChartContent {
public:
    QString title() const override { return QStringLiteral("Utilisation"); }
    QString help() const override {
        return QStringLiteral(
            "Of the time of all cores that this process may use: what it takes itself, what every other process takes, and what the host of a "
            "virtual machine gives to others. And of the GPU where there is one. Sampled every half second.");
    }
    Quantity quantity() const override { return Quantity::Percent; }

    Scale fill(ChartCanvas& canvas, const DrawRequest& request) override {
        if (!m_made) {
            m_cpu = canvas.addLine();
            m_gpu = canvas.addLine();
            m_others = canvas.addLine();
            m_steal = canvas.addLine();
            m_made = true;
        }
        const Scale y{0, 105, false};  // a line at 100 % is seen whole
        const auto set = [&](ChartCanvas::Shape shape, const Column* column, const LineStyle& style) {
            if (column == nullptr) return canvas.setLine(shape, {}, {});
            const Places places = devicePlaces(*request.history, request.axis);
            canvas.setLine(shape, toShares(decimate(places, *column, request.x, request.pixels, false), request.x, y), style);
        };
        const DeviceColumns* device = request.history != nullptr ? &request.history->device() : nullptr;
        set(m_cpu, device != nullptr ? &device->cpuPct : nullptr, {request.colour(SeriesRole::Cpu), 1.5});
        set(m_gpu, device != nullptr ? &device->gpuPct : nullptr, {request.colour(SeriesRole::Gpu), 1.5, Qt::DashLine});
        set(m_others, device != nullptr ? &device->othersPct : nullptr, {request.colour(SeriesRole::OtherProcesses), 1.2});
        const bool stolen = device != nullptr && isStolenFrom(request);
        set(m_steal, stolen ? &device->stealPct : nullptr, {request.colour(SeriesRole::Steal), 1.2, Qt::DotLine});
        return y;
    }

    QString whyEmpty(const DrawRequest& request) const override { return whyNoSamples(*this, request); }

    std::vector<LegendItem> legend(const DrawRequest& request, std::optional<std::size_t> row) const override {
        std::vector<LegendItem> items{{LegendItem::Mark::Line, request.colour(SeriesRole::Cpu), QStringLiteral("CPU"), {}}};
        if (request.history == nullptr) return items;
        const DeviceColumns& device = request.history->device();
        const auto sample = deviceRow(*request.history, row);
        const auto& info = request.history->info();
        const int cores = info && info->machine ? info->machine->cores : 0;
        if (cores > 0) items[0].name = QStringLiteral("CPU, %1 %2").arg(cores).arg(cores == 1 ? QStringLiteral("core") : QStringLiteral("cores"));
        const auto value = [&](const Column& column) { return sample ? readOut(column[*sample], Quantity::Percent) : QString(); };
        items[0].value = value(device.cpuPct);
        if (knowsOthers(request))
            items.push_back({LegendItem::Mark::Line, request.colour(SeriesRole::OtherProcesses), QStringLiteral("others"), value(device.othersPct)});
        if (isStolenFrom(request))
            items.push_back({LegendItem::Mark::Dashed, request.colour(SeriesRole::Steal), QStringLiteral("host"), value(device.stealPct)});
        if (hasGpu(request))
            items.push_back({LegendItem::Mark::Dashed, request.colour(SeriesRole::Gpu), QStringLiteral("GPU"), value(device.gpuPct)});
        return items;
    }

    std::vector<CursorDot> dots(const DrawRequest& request, std::size_t row) const override {
        const auto sample = deviceRow(*request.history, row);
        if (!sample) return {};
        const DeviceColumns& device = request.history->device();
        const double x = device.place[*sample].on(request.axis);
        std::vector<CursorDot> all{{x, device.cpuPct[*sample], request.colour(SeriesRole::Cpu)},
                                   {x, device.gpuPct[*sample], request.colour(SeriesRole::Gpu)},
                                   {x, device.othersPct[*sample], request.colour(SeriesRole::OtherProcesses)}};
        if (isStolenFrom(request)) all.push_back({x, device.stealPct[*sample], request.colour(SeriesRole::Steal)});
        return all;
    }

private:
    bool m_made = false;
    ChartCanvas::Shape m_cpu = 0, m_gpu = 0, m_others = 0, m_steal = 0;
};

class MemoryContent : public ChartContent {
public:
    QString title() const override { return QStringLiteral("Memory"); }
    QString help() const override {
        return QStringLiteral(
            "Resident memory of this process and, where there is a GPU, its used memory. \"free\" is what the machine could still "
            "give, drawn where it comes near. Page faults (right axis): pages that a step touched for the first time, many where memory is given "
            "back "
            "to the system at every step (host-memory).");
    }
    Quantity quantity() const override { return Quantity::Bytes; }

    Scale fill(ChartCanvas& canvas, const DrawRequest& request) override {
        if (!m_made) {
            m_fill = canvas.addArea();
            m_resident = canvas.addLine();
            m_available = canvas.addLine();
            m_gpu = canvas.addLine();
            m_faults = canvas.addLine();
            m_made = true;
        }
        m_right.reset();
        if (request.history == nullptr) {
            canvas.setArea(m_fill, {}, {}, {});
            for (const auto shape : {m_resident, m_available, m_gpu, m_faults}) canvas.setLine(shape, {}, {});
            return m_y = niceScale(0, 1e9, false, true);
        }
        const DeviceColumns& device = request.history->device();
        const Places places = devicePlaces(*request.history, request.axis);
        const RowRange rows = visibleRows(places, request.x);
        VisibleValues used, available;
        used.add(device.residentBytes, rows, false);
        used.add(device.gpuMemoryBytes, rows, false);
        available.add(device.availableBytes, rows, false);
        // Free memory far above what is used would press the line of interest flat: then it is a number in the head only.
        const bool near = available.low < 2 * used.high;
        const Scale y = m_y = niceScale(0, near ? std::max(used.high, available.high) : used.high, false, true);

        const auto lines = [&](const Column& column) { return toShares(decimate(places, column, request.x, request.pixels, false), request.x, y); };
        const QColor colour = request.colour(SeriesRole::Memory);
        const auto resident = lines(device.residentBytes);
        canvas.setArea(m_fill, resident.size() == 1 && resident[0].size() > 1 ? resident[0] : Line{}, {}, faint(colour, request.ground, 0.15));
        canvas.setLine(m_resident, resident, {colour, 1.5});
        canvas.setLine(m_gpu, lines(device.gpuMemoryBytes), {request.colour(SeriesRole::GpuMemory), 1.5, Qt::DashLine});
        canvas.setLine(m_available, near ? lines(device.availableBytes) : std::vector<Line>{}, {request.colour(SeriesRole::Idle), 1.5, Qt::DotLine});
        fillFaults(canvas, request);
        return y;
    }

    std::optional<RightAxis> rightAxis() const override { return m_right; }

    QString whyEmpty(const DrawRequest& request) const override { return whyNoSamples(*this, request); }

    std::vector<LegendItem> legend(const DrawRequest& request, std::optional<std::size_t> row) const override {
        std::vector<LegendItem> items{{LegendItem::Mark::Line, request.colour(SeriesRole::Memory), QStringLiteral("resident"), {}}};
        if (request.history == nullptr) return items;
        const auto sample = deviceRow(*request.history, row);
        if (!sample) return items;
        const DeviceColumns& device = request.history->device();
        items[0].value = readOut(device.residentBytes[*sample], Quantity::Bytes);
        if (hasGpu(request))
            items.push_back({LegendItem::Mark::Dashed, request.colour(SeriesRole::GpuMemory), QStringLiteral("GPU"),
                             readOut(device.gpuMemoryBytes[*sample], Quantity::Bytes)});
        items.push_back({LegendItem::Mark::None, {}, QStringLiteral("free"), readOut(device.availableBytes[*sample], Quantity::Bytes)});
        if (request.hasSteps()) {
            const Column& faults = request.history->steps().pageFaults;
            items.push_back({LegendItem::Mark::Line, request.colour(SeriesRole::PageFaults), QStringLiteral("page faults a step"),
                             readOut(row ? faults[*row] : faults.back(), Quantity::Events), QStringLiteral("faults")});
        }
        return items;
    }

    std::vector<CursorDot> dots(const DrawRequest& request, std::size_t row) const override {
        const auto sample = deviceRow(*request.history, row);
        if (!sample) return {};
        const DeviceColumns& device = request.history->device();
        const double x = device.place[*sample].on(request.axis);
        std::vector<CursorDot> dots{{x, device.residentBytes[*sample], request.colour(SeriesRole::Memory)},
                                    {x, device.gpuMemoryBytes[*sample], request.colour(SeriesRole::GpuMemory)}};
        if (m_right)
            dots.push_back({request.history->x(request.axis, row), m_y.fromShare(m_right->scale.toShare(request.history->steps().pageFaults[row])),
                            m_right->colour});
        return dots;
    }

private:
    void fillFaults(ChartCanvas& canvas, const DrawRequest& request) {
        const Column& faults = request.history->steps().pageFaults;
        const Places places = stepPlaces(*request.history, request.axis);
        VisibleValues visible;
        visible.add(faults, visibleRows(places, request.x), false);
        const QColor colour = request.colour(SeriesRole::PageFaults);
        if (request.hasSteps()) m_right = {niceScale(0, visible.high, false, true), Quantity::Count, colour};
        canvas.setLine(
            m_faults, m_right ? toShares(decimate(places, faults, request.x, request.pixels, false), request.x, m_right->scale) : std::vector<Line>{},
            {colour, 1.25});
    }

    bool m_made = false;
    ChartCanvas::Shape m_fill = 0, m_resident = 0, m_available = 0, m_gpu = 0, m_faults = 0;
    Scale m_y;
    std::optional<RightAxis> m_right;
};

}  // namespace

std::unique_ptr<ChartContent> makeUtilisationContent() {
    return std::make_unique<UtilisationContent>();
}
std::unique_ptr<ChartContent> makeMemoryContent() {
    return std::make_unique<MemoryContent>();
}

}  // namespace stepscope
