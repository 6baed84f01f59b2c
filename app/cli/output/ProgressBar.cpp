#include "app/cli/output/ProgressBar.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/cli/output/Output.h"
#include "core/base/Format.h"

namespace stepscope::cli {
namespace {

constexpr auto kPause = std::chrono::milliseconds(100);
constexpr std::size_t kBlocks = 20;
constexpr const char* kClearLine = "\r\x1b[K";

}  // namespace

void ProgressBar::begin(std::int64_t firstStep, std::int64_t lastStep) {
    m_first = firstStep;
    m_last = lastStep;
    m_preparing.clear();
}

void ProgressBar::advance(const StepDone& step) {
    m_preparing.clear();
    const auto duration = static_cast<double>(step.duration.ns);
    m_nsPerStep = m_nsPerStep == 0 ? duration : m_nsPerStep + (duration - m_nsPerStep) / 20;
    m_step = step;
    draw(step.step == m_last);
}

void ProgressBar::preparing(const Preparing& what) {
    m_preparing = std::isfinite(what.fraction) ? fmt::format("{} {}", what.what, format::percent(what.fraction)) : what.what;
    draw(false);
}

void ProgressBar::clear() {
    if (m_shown) printStatus(kClearLine);
    m_shown = false;
    m_drawn = {};
}

std::string ProgressBar::line(std::size_t columns) const {
    std::string text;
    if (!m_preparing.empty()) {
        text = m_preparing;
    } else {
        const std::int64_t last = std::max(m_last, m_step.step);
        const double share = static_cast<double>(m_step.step - m_first) / static_cast<double>(std::max<std::int64_t>(1, last - m_first));
        const auto filled = static_cast<std::size_t>(std::lround(std::clamp(share, 0.0, 1.0) * kBlocks));
        std::string bar;
        for (std::size_t i = 0; i < kBlocks; ++i) bar += i < filled ? "▓" : "░";
        const TimeNs left{static_cast<std::int64_t>(m_nsPerStep * static_cast<double>(last - m_step.step))};
        text = fmt::format("step {} / {} {} {} left · {} · {} · loss {:.3f}", format::count(m_step.step), format::count(last), bar,
                           format::duration(left), format::rate(static_cast<double>(m_step.tokens) / m_nsPerStep * 1e9, "tok/s"),
                           format::milliseconds(m_nsPerStep / 1e6), m_step.loss);
    }
    // Cut between code points: a line that wraps cannot be drawn over.
    std::size_t width = 0, end = 0;
    for (; end < text.size(); ++end) {
        if ((static_cast<unsigned char>(text[end]) & 0xC0) != 0x80 && ++width >= columns) break;
    }
    return text.substr(0, end);
}

void ProgressBar::draw(bool now) {
    const auto time = std::chrono::steady_clock::now();
    if (!now && time - m_drawn < kPause) return;
    m_drawn = time;
    m_shown = true;
    printStatus(kClearLine + line(terminalColumns()));
}

}  // namespace stepscope::cli
