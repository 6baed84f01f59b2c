// StepLines: --log-every N: a line of plain text every N steps, for a pipe or a log file: loss, rate, times and speed over the steps since the last
// line. Owned by ConsoleSink, which serialises the calls.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "core/events/RunEvents.h"

namespace stepscope::cli {

class StepLines {
public:
    // every = 0: never. context: tokens of a sequence.
    StepLines(std::int64_t every, std::int64_t context) : m_every(every), m_context(context) {}

    bool wanted() const { return m_every > 0; }
    void begin(const SessionInfo& info);
    // The line that is due after this step.
    std::optional<std::string> after(const StepDone& step);

private:
    std::int64_t m_every, m_context;
    std::int64_t m_first = 0, m_last = 0, m_trainTokens = 0;
    double m_tokensBefore = -1;  // trained on before the first step seen; < 0 = not known yet
    std::int64_t m_tokens = 0;   // since then
    std::int64_t m_steps = 0, m_stepTokens = 0, m_skipped = 0;
    TimeNs m_time{0}, m_waiting{0};
};

}  // namespace stepscope::cli
