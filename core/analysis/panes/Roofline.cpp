#include "core/analysis/panes/Roofline.h"

#include <algorithm>
#include <string_view>

namespace stepscope {
namespace {

double shareOfTime(TimeNs part, TimeNs all) {
    return all.ns > 0 ? static_cast<double>(part.ns) / static_cast<double>(all.ns) : 0;
}

// Threads that share an operation do it at once.
TimeNs byTheClock(const PaneOperation& one) {
    return {one.row.self.ns / std::max<std::int64_t>(1, one.threads)};
}

void place(RooflineDot& dot, double flops, double bytes, TimeNs time, const Roof& roof) {
    dot.intensity = flops / bytes;
    dot.flopsPerSecond = flops / time.seconds();
    dot.bytesPerSecond = bytes / time.seconds();
    dot.bounded = boundBy(flops, bytes, time.seconds(), dot.type, roof);
}

void inOrderOfTime(std::vector<RooflineDot>& dots) {
    std::ranges::stable_sort(dots, [](const RooflineDot& a, const RooflineDot& b) { return a.time > b.time; });
}

}  // namespace

const char* formatOf(const std::string& type) {
    return type == "BFloat16" ? "bf16" : type == "Half" ? "fp16" : "float32";
}

double Roof::flopsOf(const std::string& type) const {
    if (type.empty()) {
        const int known = (float32 > 0 ? 1 : 0) + (bf16 > 0 ? 1 : 0) + (fp16 > 0 ? 1 : 0);
        return known == 1 ? float32 + bf16 + fp16 : 0;
    }
    const std::string_view format = formatOf(type);
    return format == "bf16" ? bf16 : format == "fp16" ? fp16 : float32;
}

const char* toString(Bound bound) {
    switch (bound) {
        case Bound::Compute:
            return "compute";
        case Bound::Memory:
            return "memory";
        case Bound::Neither:
            return "neither";
        case Bound::Unknown:
            break;
    }
    return "";
}

Bounded boundBy(double flops, double bytes, double seconds, const std::string& type, const Roof& roof) {
    if (seconds <= 0 || (flops <= 0 && bytes <= 0)) return {};
    const double peak = roof.flopsOf(type);
    if ((flops > 0 && peak <= 0) || (bytes > 0 && roof.bytesPerSecond <= 0)) return {};
    const double ofCompute = flops > 0 ? flops / seconds / peak : 0;
    const double ofMemory = bytes > 0 ? bytes / seconds / roof.bytesPerSecond : 0;
    // The lower of two roofs is the one of which more is reached.
    const double share = std::max(ofCompute, ofMemory);
    if (share < kBoundShare) return {Bound::Neither, share};
    return {ofCompute >= ofMemory ? Bound::Compute : Bound::Memory, share};
}

Bounded boundBy(const PaneOperation& one, const Roof& roof) {
    return boundBy(static_cast<double>(one.row.flops), static_cast<double>(one.row.bytes), byTheClock(one).seconds(), one.type, roof);
}

Bounded boundBy(const PaneKernel& one, const Roof& roof) {
    return boundBy(one.row.flops, one.row.movedBytes, one.row.worked.seconds(), one.row.type, roof);
}

std::vector<RooflineDot> operationDots(const RangePanes& panes, const Roof& roof) {
    std::vector<RooflineDot> dots;
    for (const PaneOperation& one : panes.operations) {
        const SummaryRow& row = one.row;
        if (row.flops <= 0 || row.bytes <= 0 || row.self.ns <= 0) continue;
        RooflineDot dot{.name = row.name,
                        .role = row.role,
                        .phase = row.phase,
                        .type = one.type,
                        .layer = row.layer,
                        .kind = row.own ? SliceKind::Own : SliceKind::Operation,
                        .calls = row.calls,
                        .threads = one.threads,
                        .time = row.self,
                        .share = shareOfTime(row.self, panes.totals.self),
                        .longest = one.longest};
        place(dot, static_cast<double>(row.flops), static_cast<double>(row.bytes), byTheClock(one), roof);
        dots.push_back(std::move(dot));
    }
    inOrderOfTime(dots);
    return dots;
}

std::vector<RooflineDot> kernelDots(const RangePanes& panes, const Roof& roof) {
    std::vector<RooflineDot> dots;
    for (const PaneKernel& one : panes.kernels) {
        const LaunchedRow& row = one.row;
        if (row.flops <= 0 || row.movedBytes <= 0 || row.worked.ns <= 0) continue;
        RooflineDot dot{.name = row.name,
                        .role = row.role,
                        .phase = one.phase,
                        .type = row.type,
                        .layer = row.layer,
                        .kind = row.kind,
                        .calls = row.calls,
                        .time = row.worked,
                        .share = shareOfTime(row.worked, panes.totals.deviceTime),
                        .longest = one.longest};
        place(dot, row.flops, row.movedBytes, row.worked, roof);
        dots.push_back(std::move(dot));
    }
    inOrderOfTime(dots);
    return dots;
}

}  // namespace stepscope
