// PhaseDiary: the phases that a Program told while it ran, in order, and whatever was wrong about their begins and ends. One thread.
#pragma once
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "core/base/OperationSpan.h"
#include "core/events/Phase.h"

namespace stepscope::testing {

class PhaseDiary final : public StepObserver {
public:
    void rangeBegins(const RangeFacts& range) noexcept override {
        if (range.kind != RangeFacts::Kind::Phase) return;
        if (m_open != Activity::None) problems.push_back(std::string(toString(range.activity)) + " begins within " + toString(m_open));
        m_open = range.activity;
        m_since = now();
        phases.push_back(toString(range.activity));
    }
    void rangeEnds(const RangeFacts& range) noexcept override {
        if (range.kind != RangeFacts::Kind::Phase) return;
        if (m_open != range.activity) problems.push_back(std::string(toString(range.activity)) + " ends within " + toString(m_open));
        m_open = Activity::None;
        m_ns[toString(range.activity)] += now() - m_since;
    }
    // A step says the time of each phase that was heard, and of no other. Its clock runs from before a begin is told until after an end is, so it
    // says no less than was heard; how much more, a busy machine decides.
    void expectTimesOf(const std::array<std::int64_t, kPhases>& phaseNs) const {
        constexpr std::int64_t kRounding = 2'000;  // ns: events of a device tell thousandths of a millisecond
        EXPECT_EQ(m_open, Activity::None) << "the last phase has its end";
        for (std::size_t phase = 0; phase < kPhases; ++phase) {
            const char* word = toString(static_cast<Phase>(phase));
            const auto heard = m_ns.find(word);
            EXPECT_EQ(phaseNs[phase] > 0, heard != m_ns.end()) << word;
            if (heard == m_ns.end()) continue;
            EXPECT_GE(phaseNs[phase] + kRounding, heard->second) << word;
        }
    }

    std::vector<std::string> phases, problems;

private:
    static std::int64_t now() { return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1); }

    Activity m_open = Activity::None;
    std::int64_t m_since = 0;
    std::map<std::string, std::int64_t> m_ns;
};

}  // namespace stepscope::testing
