#include "core/analysis/captures/LevelCosts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>

#include "core/analysis/RunHistory.h"
#include "core/analysis/Statistics.h"
#include "core/base/Format.h"

namespace stepscope {
namespace {

// Of more the ratios take long to sort and say little more.
constexpr std::size_t kMostCaptured = 300, kMostBeside = 2000;
constexpr std::size_t kNearRows = 1200;  // from a capture, where steps beside it are looked for
constexpr double kNormal = 1.959964;     // of 95 %, to both sides

// Its rows, and those between the flips before and behind it. None where a switch was flipped meanwhile: that is not what capturing cost.
struct CapturedRows {
    std::size_t first = 0, last = 0, from = 0, until = 0;  // [first, last) of [from, until)
};
std::optional<CapturedRows> rowsAround(const RunHistory& run, const CaptureDone& capture) {
    const auto& steps = run.steps().step;
    CapturedRows rows;
    rows.first = static_cast<std::size_t>(std::ranges::lower_bound(steps, capture.firstStep) - steps.begin());
    rows.last = static_cast<std::size_t>(std::ranges::upper_bound(steps, capture.step) - steps.begin());
    rows.until = run.rows();
    if (rows.first >= rows.last) return std::nullopt;
    const auto& flips = run.flips();
    const auto next = std::ranges::upper_bound(flips, rows.first, {}, &FlippedSwitch::row);
    if (next != flips.begin()) rows.from = std::prev(next)->row;
    if (next == flips.end()) return rows;
    if (next->row < rows.last) return std::nullopt;
    rows.until = next->row;
    return rows;
}

std::vector<double> undisturbed(const RunHistory& run, const CapturedRows& rows) {
    const StepColumns& steps = run.steps();
    std::vector<double> found;
    const auto take = [&](std::size_t row) {
        if (steps.disturbed[row] == 0 && steps.stepMs[row] > 0) found.push_back(steps.stepMs[row]);
    };
    const std::size_t near = rows.first - std::min(rows.first - rows.from, kNearRows);
    for (std::size_t row = rows.first; row > near && found.size() < CaptureCost::kBeside; --row) take(row - 1);
    const std::size_t before = found.size(), far = std::min(rows.until, rows.last + kNearRows);
    for (std::size_t row = rows.last; row < far && found.size() < before + CaptureCost::kBeside; ++row) take(row);
    return found;
}

std::string shareText(double share, bool sign) {
    const double percent = 100 * share, size = std::abs(percent);
    if (size < 0.0005) return sign ? "0.000 %" : "below 0.001 %";
    const char* before = percent < 0 ? "−" : sign ? "+" : "";
    return fmt::format("{}{:.{}f} %", before, size, size < 0.1 ? 3 : size < 1 ? 2 : 1);
}

std::string alwaysText(double share, double ns, const std::string& unknown) {
    if (!std::isfinite(share)) return unknown;
    return fmt::format("{} of a step ({})", shareText(share, false), format::milliseconds(ns / 1e6));
}

}  // namespace

void CaptureCost::add(std::span<const double> captured, std::span<const double> beside) {
    if (captured.empty() || beside.size() < kFewest) return;
    const double usual = median(beside);
    if (!(usual > 0)) return;
    for (const double one : captured.first(std::min(captured.size(), kMostCaptured - m_captured.size()))) m_captured.push_back(one / usual);
    for (const double one : beside.first(std::min(beside.size(), kMostBeside - m_beside.size())))
        if (one > 0) m_beside.push_back(one / usual);
}

MeasuredCost CaptureCost::cost() const {
    MeasuredCost cost{.steps = static_cast<std::int64_t>(m_captured.size()), .beside = static_cast<std::int64_t>(m_beside.size())};
    std::vector<double> ratios;
    ratios.reserve(m_captured.size() * m_beside.size());
    for (const double one : m_captured)
        for (const double other : m_beside) ratios.push_back(one / other);
    if (ratios.empty()) return cost;
    const auto inOrder = [&](std::size_t rank) {
        const auto place = ratios.begin() + static_cast<std::ptrdiff_t>(rank);
        std::ranges::nth_element(ratios, place);
        return *place - 1;
    };
    cost.share = (inOrder((ratios.size() - 1) / 2) + inOrder(ratios.size() / 2)) / 2;
    const auto m = static_cast<double>(m_captured.size()), n = static_cast<double>(m_beside.size());
    const double rank = std::floor(m * n / 2 - kNormal * std::sqrt(m * n * (m + n + 1) / 12));
    if (rank < 1) return cost;
    cost.low = inOrder(static_cast<std::size_t>(rank) - 1);
    cost.high = inOrder(ratios.size() - static_cast<std::size_t>(rank));
    return cost;
}

LevelCosts levelsOfRun(const RunHistory& run, std::span<const CaptureDone> captures) {
    LevelCosts levels;
    CaptureCost cost;
    for (std::size_t later = 0; later < captures.size(); ++later) {
        const CaptureDone& capture = captures[captures.size() - 1 - later];  // the newest first
        if (std::isnan(levels.always.recordNs)) levels.always = capture.always;
        if (!tellsItsCost(capture)) continue;
        const auto rows = rowsAround(run, capture);
        if (!rows) continue;
        std::vector<double> captured;
        for (std::size_t row = rows->first; row < rows->last; ++row)
            if (run.steps().stepMs[row] > 0) captured.push_back(run.steps().stepMs[row]);
        const std::vector<double> beside = undisturbed(run, *rows);
        cost.add(captured, beside);
        if (std::isnan(levels.stepNs) && beside.size() >= CaptureCost::kFewest) levels.stepNs = 1e6 * median(beside);
    }
    levels.capture = cost.cost();
    return levels;
}

std::string costText(const MeasuredCost& cost) {
    if (!std::isfinite(cost.share)) return {};
    std::string text = shareText(cost.share, true);
    if (std::isfinite(cost.low)) text += fmt::format(" (95 %: {} to {})", shareText(cost.low, true), shareText(cost.high, true));
    return text;
}

std::vector<LevelWords> levelWords(const LevelCosts& levels, const std::string& unknown) {
    const MeasuredCost& capture = levels.capture;
    std::string captured = costText(capture);
    if (captured.empty())
        captured = unknown;
    else
        captured +=
            fmt::format(", {} captured step{} beside {}", format::count(capture.steps), capture.steps == 1 ? "" : "s", format::count(capture.beside));
    return {{"L0", "steps", alwaysText(levels.records(), levels.always.recordNs, unknown)},
            {"L1", "phases", alwaysText(levels.phases(), levels.always.phasesNs, unknown)},
            {"L2", "operations and kernels", std::move(captured)}};
}

std::string levelSentence(const LevelCosts& levels, const std::string& unknown) {
    std::vector<std::string> parts;
    for (const LevelWords& one : levelWords(levels, unknown)) parts.push_back(fmt::format("{} {}: {}", one.level, one.what, one.cost));
    return fmt::format("{}.", fmt::join(parts, "; "));
}

}  // namespace stepscope
