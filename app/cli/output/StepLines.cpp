#include "app/cli/output/StepLines.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/Format.h"

namespace stepscope::cli {

void StepLines::begin(const SessionInfo& info) {
    m_first = info.firstStep;
    m_last = info.config ? info.config->steps : 0;
    m_trainTokens = info.trainTokens;
}

std::optional<std::string> StepLines::after(const StepDone& step) {
    // Of a resumed run: as many a step as now.
    if (m_tokensBefore < 0) m_tokensBefore = static_cast<double>(m_first) * static_cast<double>(step.tokens);
    m_tokens += step.tokens;
    m_stepTokens += step.tokens;
    m_skipped += step.skipped ? 1 : 0;
    m_time = m_time + step.duration;
    m_waiting = m_waiting + TimeNs{step.phaseNs[static_cast<std::size_t>(Phase::Waiting)]};
    ++m_steps;
    if (!wanted() || (step.step % m_every != 0 && step.step != m_last)) return std::nullopt;

    const double seconds = static_cast<double>(m_time.ns) * 1e-9, tokensPerSecond = static_cast<double>(m_stepTokens) / seconds;
    std::string line = fmt::format("step {}/{} · loss {:.4f} · lr {:.3g}", step.step, m_last, step.loss, step.learningRate);
    if (std::isfinite(step.gradientNorm)) line += fmt::format(" · grad norm {:.3g}", step.gradientNorm);
    line += fmt::format(" · {} a step", format::milliseconds(1e3 * seconds / static_cast<double>(m_steps)));
    if (m_waiting.ns > 0)
        line += fmt::format(", {} of it waiting for other workers", format::milliseconds(m_waiting.milliseconds() / static_cast<double>(m_steps)));
    line += fmt::format(" · {} · {}", format::rate(tokensPerSecond / static_cast<double>(std::max<std::int64_t>(1, m_context)), "samples/s"),
                        format::rate(tokensPerSecond, "tok/s"));
    if (m_trainTokens > 0) {
        const auto epoch = static_cast<double>(m_trainTokens);
        line += fmt::format(" · epoch {:.3f} of {}", (m_tokensBefore + static_cast<double>(m_tokens)) / epoch,
                            format::duration(TimeNs{static_cast<std::int64_t>(std::min(epoch / tokensPerSecond, 3e9) * 1e9)}));
    }
    if (m_skipped > 0) line += fmt::format(" · {} left out by fp16", m_skipped);
    m_time = m_waiting = {0};
    m_steps = m_stepTokens = m_skipped = 0;
    return line;
}

}  // namespace stepscope::cli
