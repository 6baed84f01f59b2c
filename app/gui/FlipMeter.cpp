// See FlipMeter.h.
#include "app/gui/FlipMeter.h"

#include "core/analysis/Statistics.h"
#include "core/base/Format.h"

#include <cmath>

namespace stepscope {
namespace {

double medianRate(const RunHistory& history, std::size_t begin, std::size_t end) {
    std::vector<double> rates;
    for (std::size_t row = begin; row < end; ++row)
        if (std::isfinite(history.steps().tokensPerSecond[row])) rates.push_back(history.steps().tokensPerSecond[row]);
    return rates.size() < FlipMeter::kSteps / 2 ? kUnknown : median(rates);
}

}  // namespace

void FlipMeter::flipped(const RunHistory& history, const SwitchApplied& flip, const Value& byDefault) {
    // A second flip within the measured steps would be measured together with the first.
    m_open.clear();
    const std::string usual = toString(byDefault), from = toString(flip.from), to = toString(flip.to);
    if (from == to || (from != usual && to != usual)) return;
    const std::size_t rows = history.rows();
    const double before = medianRate(history, rows > kSteps ? rows - kSteps : 0, rows);
    if (std::isfinite(before)) m_open.push_back({flip, from == usual, before, rows + kWarmUp});
}

std::vector<FlipChip> FlipMeter::finished(const RunHistory& history) {
    std::vector<FlipChip> chips;
    std::erase_if(m_open, [&](const Open& open) {
        if (history.rows() < open.from + kSteps) return false;
        const double after = medianRate(history, open.from, open.from + kSteps);
        if (!std::isfinite(after)) return true;
        const double gain = open.awayFromDefault ? after / open.before : open.before / after;
        const auto rate = [](double value) { return QString::fromStdString(format::rate(value, "tok/s")); };
        const std::string away = toString(open.awayFromDefault ? open.flip.to : open.flip.from);
        chips.push_back({open.flip.id, chipText(gain),
                         QString("Measured on this machine with %1: %2 → %3, medians of %4 steps before and after step %5")
                             .arg(QString::fromStdString(away), rate(open.awayFromDefault ? open.before : after),
                                  rate(open.awayFromDefault ? after : open.before))
                             .arg(kSteps)
                             .arg(open.flip.step)});
        return true;
    });
    return chips;
}

QString FlipMeter::chipText(double ratio) {
    if (std::abs(ratio - 1) < 0.02) return "no gain";
    if (ratio < 1) return QString("−%1 %").arg((1 - ratio) * 100, 0, 'f', 0);
    return QString("×%1").arg(ratio, 0, 'f', ratio < 10 ? 2 : 0);
}

}  // namespace stepscope
