// The two device charts: how busy the processors are, and how much memory is taken. Samples come twice a second.
#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "widgets/charts/ChartContent.h"

namespace stepscope {
namespace {

const QString kCpu = QStringLiteral("CPU"), kGpu = QStringLiteral("GPU"), kOthers = QStringLiteral("others"), kHost = QStringLiteral("host"),
              kQuota = QStringLiteral("quota"), kResident = QStringLiteral("process"), kFaults = QStringLiteral("page faults a step"),
              kCpuPower = QStringLiteral("CPU power"), kGpuPower = QStringLiteral("GPU power");

ValueTable sampleTable(const RunHistory& history, QStringList names, std::function<double(std::size_t, std::size_t)> at) {
    const DeviceColumns& device = history.device();
    return {std::move(names), device.place.size(), [&device](std::size_t row) { return device.place[row]; }, std::move(at)};
}

QString whyNoSamples(const ChartContent& content, const DrawRequest& request) {
    if (request.history == nullptr || !request.history->started()) return content.ChartContent::whyEmpty(request);
    if (!request.history->device().place.empty()) return {};
    if (isImport(request.history))
        return request.hasSteps() ? QStringLiteral("What was imported has no samples of the machine.") : content.ChartContent::whyEmpty(request);
    if (const auto& state = request.history->state(); state && ended(state->state))
        return QStringLiteral("This run was too short for a device sample: they are taken every half second.");
    return QStringLiteral("No device samples yet: they are taken every half second.");
}

// Drawn only where it was ever worth a line: on most machines the host takes nothing.
bool isWorthALine(const Column& column) {
    constexpr double kWorthSaying = 1;  // per cent
    const auto extremes = column.extremes(0, column.size());
    return extremes.any && column[extremes.high] >= kWorthSaying;
}

bool knows(const Column& column) {
    return column.extremes(0, column.size()).any;
}

bool hasGpu(const DrawRequest& request) {
    return knows(request.history->device().gpuPct);
}

class UtilisationContent : public ChartContent {
public:
    QString title() const override { return QStringLiteral("Utilisation"); }
    QString help() const override {
        return QStringLiteral(
            "Of the time of all cores that this process may use: what it takes itself, what every other process takes, and what the host of a "
            "virtual machine gives to others. And of the GPU where there is one. Dashed where it ever happens: in which share of the periods of "
            "a control group's quota (a container's limit of processors) the threads were stopped. Dotted, on the right axis: the power that the "
            "processors take for all programs together (RAPL), and that of the GPU. Sampled every half second.");
    }
    QString helpHere(const DrawRequest& request) const override {
        if (request.history == nullptr || !request.history->info() || request.history->device().place.empty()) return {};
        if (knows(request.history->device().cpuPowerW)) return {};
        const auto& machine = request.history->info()->machine;
        return machine && !machine->whyNoProcessorEnergy.empty()
                   ? QStringLiteral(" The processors' power is not known: ") + QString::fromStdString(machine->whyNoProcessorEnergy)
                   : QStringLiteral(" The processors' power is not known: it was not recorded in this session.");
    }
    Quantity quantity() const override { return Quantity::Percent; }

    Scale fill(ChartCanvas& canvas, const DrawRequest& request) override {
        if (!m_made) {
            m_cpu = canvas.addLine();
            m_gpu = canvas.addLine();
            m_others = canvas.addLine();
            m_steal = canvas.addLine();
            m_throttled = canvas.addLine();
            m_cpuPower = canvas.addLine();
            m_gpuPower = canvas.addLine();
            m_made = true;
        }
        const Scale y = m_y = request.yOr({0, 105, false});  // a line at 100 % is seen whole
        const auto set = [&](ChartCanvas::Shape shape, const Column* column, const LineStyle& style) {
            if (column == nullptr) return canvas.setLine(shape, {}, {});
            const Places places = devicePlaces(*request.history, request.axis);
            canvas.setLine(shape, toShares(decimate(places, *column, request.x, request.pixels, false), request.x, y), style);
        };
        const DeviceColumns* device = request.history != nullptr ? &request.history->device() : nullptr;
        const auto shown = [&](const QString& series, Column DeviceColumns::*column) -> const Column* {
            return device != nullptr && request.shows(series) ? &(device->*column) : nullptr;
        };
        set(m_cpu, shown(kCpu, &DeviceColumns::cpuPct), {request.colour(SeriesRole::Cpu), 1.5});
        set(m_gpu, shown(kGpu, &DeviceColumns::gpuPct), {request.colour(SeriesRole::Gpu), 1.5, Qt::DashLine});
        set(m_others, shown(kOthers, &DeviceColumns::othersPct), {request.colour(SeriesRole::OtherProcesses), 1.2});
        const bool stolen = device != nullptr && isWorthALine(device->stealPct), stopped = device != nullptr && isWorthALine(device->throttledPct);
        set(m_throttled, stopped ? shown(kQuota, &DeviceColumns::throttledPct) : nullptr, {request.colour(SeriesRole::Steal), 1.2, Qt::DashLine});
        set(m_steal, stolen ? shown(kHost, &DeviceColumns::stealPct) : nullptr, {request.colour(SeriesRole::Steal), 1.2, Qt::DotLine});
        fillPower(canvas, request, shown(kCpuPower, &DeviceColumns::cpuPowerW), shown(kGpuPower, &DeviceColumns::gpuPowerW));
        return y;
    }

    std::optional<RightAxis> rightAxis() const override { return m_right; }

    QString whyEmpty(const DrawRequest& request) const override { return whyNoSamples(*this, request); }

    std::vector<LegendItem> legend(const DrawRequest& request, std::optional<std::size_t> row) const override {
        std::vector<LegendItem> items{
            {.mark = LegendItem::Mark::Line, .colour = request.colour(SeriesRole::Cpu), .name = kCpu, .value = {}, .series = kCpu}};
        if (request.history == nullptr) return items;
        const DeviceColumns& device = request.history->device();
        const auto sample = deviceRow(*request.history, row);
        const auto& info = request.history->info();
        const int cores = info && info->machine ? info->machine->cores : 0;
        if (cores > 0) items[0].name = QStringLiteral("CPU, %1 %2").arg(cores).arg(cores == 1 ? QStringLiteral("core") : QStringLiteral("cores"));
        const auto value = [&](const Column& column, Quantity quantity) { return sample ? readOut(column[*sample], quantity) : QString(); };
        const auto add = [&](LegendItem::Mark mark, SeriesRole role, const QString& name, const Column& column,
                             Quantity quantity = Quantity::Percent) {
            items.push_back({.mark = mark, .colour = request.colour(role), .name = name, .value = value(column, quantity), .series = name});
        };
        items[0].value = value(device.cpuPct, Quantity::Percent);
        if (knows(device.othersPct)) add(LegendItem::Mark::Line, SeriesRole::OtherProcesses, kOthers, device.othersPct);
        if (isWorthALine(device.stealPct)) add(LegendItem::Mark::Dotted, SeriesRole::Steal, kHost, device.stealPct);
        if (isWorthALine(device.throttledPct)) add(LegendItem::Mark::Dashed, SeriesRole::Steal, kQuota, device.throttledPct);
        if (hasGpu(request)) add(LegendItem::Mark::Dashed, SeriesRole::Gpu, kGpu, device.gpuPct);
        if (knows(device.cpuPowerW)) add(LegendItem::Mark::Dotted, SeriesRole::Cpu, kCpuPower, device.cpuPowerW, Quantity::Watts);
        if (knows(device.gpuPowerW)) add(LegendItem::Mark::Dotted, SeriesRole::Gpu, kGpuPower, device.gpuPowerW, Quantity::Watts);
        return items;
    }

    std::vector<CursorDot> dots(const DrawRequest& request, std::size_t row) const override {
        const auto sample = deviceRow(*request.history, row);
        if (!sample) return {};
        const DeviceColumns& device = request.history->device();
        const double x = device.place[*sample].on(request.axis);
        std::vector<CursorDot> dots;
        const auto add = [&](const QString& series, const Column& column, SeriesRole role) {
            if (request.shows(series)) dots.push_back({x, column[*sample], request.colour(role)});
        };
        add(kCpu, device.cpuPct, SeriesRole::Cpu);
        add(kGpu, device.gpuPct, SeriesRole::Gpu);
        add(kOthers, device.othersPct, SeriesRole::OtherProcesses);
        if (isWorthALine(device.stealPct)) add(kHost, device.stealPct, SeriesRole::Steal);
        if (isWorthALine(device.throttledPct)) add(kQuota, device.throttledPct, SeriesRole::Steal);
        const auto addPower = [&](const QString& series, const Column& column, SeriesRole role) {
            if (m_right && request.shows(series)) dots.push_back({x, m_y.fromShare(m_right->scale.toShare(column[*sample])), request.colour(role)});
        };
        addPower(kCpuPower, device.cpuPowerW, SeriesRole::Cpu);
        addPower(kGpuPower, device.gpuPowerW, SeriesRole::Gpu);
        return dots;
    }

    ValueTable values(const RunHistory& history) const override {
        const DeviceColumns& device = history.device();
        return sampleTable(
            history,
            {QStringLiteral("cpu_percent"), QStringLiteral("gpu_percent"), QStringLiteral("others_percent"), QStringLiteral("steal_percent"),
             QStringLiteral("cpu_power_w"), QStringLiteral("gpu_power_w"), QStringLiteral("throttled_percent")},
            [&device](std::size_t column, std::size_t row) {
                const std::array<const Column*, 7> columns{&device.cpuPct,    &device.gpuPct,    &device.othersPct,   &device.stealPct,
                                                           &device.cpuPowerW, &device.gpuPowerW, &device.throttledPct};
                return (*columns[column])[row];
            });
    }

private:
    // Null: not shown.
    void fillPower(ChartCanvas& canvas, const DrawRequest& request, const Column* cpu, const Column* gpu) {
        m_right.reset();
        VisibleValues visible;
        for (const Column* column : {cpu, gpu})
            if (column != nullptr) visible.add(*column, visibleRows(devicePlaces(*request.history, request.axis), request.x), false);
        if (visible.high > 0)
            m_right = {niceScale(0, visible.high, false, true), Quantity::Watts,
                       request.colour(cpu != nullptr && knows(*cpu) ? SeriesRole::Cpu : SeriesRole::Gpu)};
        const auto set = [&](ChartCanvas::Shape shape, const Column* column, SeriesRole role) {
            if (column == nullptr || !m_right) return canvas.setLine(shape, {}, {});
            const Places places = devicePlaces(*request.history, request.axis);
            canvas.setLine(shape, toShares(decimate(places, *column, request.x, request.pixels, false), request.x, m_right->scale),
                           {request.colour(role), 1.2, Qt::DotLine});
        };
        set(m_cpuPower, cpu, SeriesRole::Cpu);
        set(m_gpuPower, gpu, SeriesRole::Gpu);
    }

    bool m_made = false;
    ChartCanvas::Shape m_cpu = 0, m_gpu = 0, m_others = 0, m_steal = 0, m_throttled = 0, m_cpuPower = 0, m_gpuPower = 0;
    Scale m_y;
    std::optional<RightAxis> m_right;
};

class MemoryContent : public ChartContent {
public:
    QString title() const override { return QStringLiteral("Memory"); }
    QString help() const override {
        return QStringLiteral(
            "What this process holds in the machine's memory (resident): tensors, what is kept to be used again, the program and its libraries; the "
            "most of it stands in the strip at a run's end. What tensors alone take, the most in a step, is less, and stands in the strip of a flip. "
            "Where there is a GPU, its used memory. \"free\" is what the machine could still give, drawn where it comes near. Page faults (right "
            "axis): pages that a step touched for the first time, many where memory is given back to the system at every step (host-memory).");
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
            return m_y = request.yOr(niceScale(0, 1e9, false, true));
        }
        const DeviceColumns& device = request.history->device();
        const Places places = devicePlaces(*request.history, request.axis);
        const RowRange rows = visibleRows(places, request.x);
        VisibleValues used, available;
        if (request.shows(kResident)) used.add(device.residentBytes, rows, false);
        if (request.shows(kGpu)) used.add(device.gpuMemoryBytes, rows, false);
        available.add(device.availableBytes, rows, false);
        // Free memory far above what is used would press the line of interest flat: then it is a number in the head only.
        const bool near = available.low < 2 * used.high;
        const Scale y = m_y = request.yOr(niceScale(0, near ? std::max(used.high, available.high) : used.high, false, true));

        const auto lines = [&](const Column& column) { return toShares(decimate(places, column, request.x, request.pixels, false), request.x, y); };
        const QColor colour = request.colour(SeriesRole::Memory);
        const auto resident = request.shows(kResident) ? lines(device.residentBytes) : std::vector<Line>{};
        canvas.setArea(m_fill, resident.size() == 1 && resident[0].size() > 1 ? resident[0] : Line{}, {}, faint(colour, request.ground, 0.15));
        canvas.setLine(m_resident, resident, {colour, 1.5});
        canvas.setLine(m_gpu, request.shows(kGpu) ? lines(device.gpuMemoryBytes) : std::vector<Line>{},
                       {request.colour(SeriesRole::GpuMemory), 1.5, Qt::DashLine});
        canvas.setLine(m_available, near ? lines(device.availableBytes) : std::vector<Line>{}, {request.colour(SeriesRole::Idle), 1.5, Qt::DotLine});
        fillFaults(canvas, request);
        return y;
    }

    std::optional<RightAxis> rightAxis() const override { return m_right; }

    QString whyEmpty(const DrawRequest& request) const override { return whyNoSamples(*this, request); }

    std::vector<LegendItem> legend(const DrawRequest& request, std::optional<std::size_t> row) const override {
        std::vector<LegendItem> items{
            {.mark = LegendItem::Mark::Line, .colour = request.colour(SeriesRole::Memory), .name = kResident, .value = {}, .series = kResident}};
        if (request.history == nullptr) return items;
        const auto sample = deviceRow(*request.history, row);
        if (!sample) return items;
        const DeviceColumns& device = request.history->device();
        items[0].value = readOut(device.residentBytes[*sample], Quantity::Bytes);
        if (hasGpu(request))
            items.push_back({.mark = LegendItem::Mark::Dashed,
                             .colour = request.colour(SeriesRole::GpuMemory),
                             .name = kGpu,
                             .value = readOut(device.gpuMemoryBytes[*sample], Quantity::Bytes),
                             .series = kGpu});
        items.push_back({LegendItem::Mark::None, {}, QStringLiteral("free"), readOut(device.availableBytes[*sample], Quantity::Bytes)});
        if (request.hasSteps()) {
            const Column& faults = request.history->steps().pageFaults;
            items.push_back({.mark = LegendItem::Mark::Line,
                             .colour = request.colour(SeriesRole::PageFaults),
                             .name = kFaults,
                             .value = readOut(row ? faults[*row] : faults.back(), Quantity::Events),
                             .shortName = QStringLiteral("faults"),
                             .series = kFaults});
        }
        return items;
    }

    std::vector<CursorDot> dots(const DrawRequest& request, std::size_t row) const override {
        const auto sample = deviceRow(*request.history, row);
        if (!sample) return {};
        const DeviceColumns& device = request.history->device();
        const double x = device.place[*sample].on(request.axis);
        std::vector<CursorDot> dots;
        if (request.shows(kResident)) dots.push_back({x, device.residentBytes[*sample], request.colour(SeriesRole::Memory)});
        if (request.shows(kGpu)) dots.push_back({x, device.gpuMemoryBytes[*sample], request.colour(SeriesRole::GpuMemory)});
        if (m_right)
            dots.push_back({request.history->x(request.axis, row), m_y.fromShare(m_right->scale.toShare(request.history->steps().pageFaults[row])),
                            m_right->colour});
        return dots;
    }

    ValueTable values(const RunHistory& history) const override {
        return sampleTable(history,
                           {QStringLiteral("resident_bytes"), QStringLiteral("available_bytes"), QStringLiteral("gpu_memory_bytes"),
                            QStringLiteral("page_faults_of_step")},
                           [&history](std::size_t column, std::size_t row) {
                               const DeviceColumns& device = history.device();
                               if (column == 0) return device.residentBytes[row];
                               if (column == 1) return device.availableBytes[row];
                               if (column == 2) return device.gpuMemoryBytes[row];
                               if (history.rows() == 0) return kUnknown;
                               return history.steps().pageFaults[history.rowAt(XAxis::WallTime, device.place[row].seconds)];
                           });
    }

private:
    void fillFaults(ChartCanvas& canvas, const DrawRequest& request) {
        const Column& faults = request.history->steps().pageFaults;
        const Places places = stepPlaces(*request.history, request.axis);
        VisibleValues visible;
        visible.add(faults, visibleRows(places, request.x), false);
        const QColor colour = request.colour(SeriesRole::PageFaults);
        if (request.hasSteps() && request.shows(kFaults))
            m_right = {niceScale(0, visible.high, false, true), Quantity::Events, colour, QStringLiteral("faults/step")};
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
