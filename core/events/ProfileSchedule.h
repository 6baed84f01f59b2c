// ProfileSchedule: which steps of a run `train --profile` and the window's Capture steps record, in the words that people know from other profilers.
// Any thread.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/Result.h"
#include "core/events/Command.h"

namespace stepscope {

constexpr std::int64_t kMostScheduledSteps = 1'000'000'000;
constexpr std::size_t kMostCaptureRounds = 1000;

// Over and over: `wait` steps as always, `warmup` steps observed and not kept, `active` steps recorded.
struct ProfileSchedule {
    std::int64_t wait = 0, warmup = 0, active = 0, repeat = 1;
};

// One sentence that names the number which cannot be.
Status checkSchedule(const ProfileSchedule& schedule);

// "wait=1,warmup=1,active=3" with repeat=N where it is more than once, in any order; active is at least 1, what is not named 0.
Result<ProfileSchedule> parseProfile(const std::string& text);

// One a round, of a run whose first step is the one behind `made`.
std::vector<Capture> capturesOf(const ProfileSchedule& schedule, std::int64_t made);

}  // namespace stepscope
