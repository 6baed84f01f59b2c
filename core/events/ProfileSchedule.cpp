#include "core/events/ProfileSchedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

namespace stepscope {
namespace {

struct Word {
    const char* name;
    std::int64_t ProfileSchedule::*value;
    std::int64_t least, most;
};
constexpr std::array kWords{Word{"wait", &ProfileSchedule::wait, 0, kMostScheduledSteps},
                            Word{"warmup", &ProfileSchedule::warmup, 0, kMostCapturedSteps},
                            Word{"active", &ProfileSchedule::active, 1, kMostCapturedSteps},
                            Word{"repeat", &ProfileSchedule::repeat, 1, static_cast<std::int64_t>(kMostCaptureRounds)}};

std::optional<std::int64_t> wholeNumber(const std::string& text) {
    std::int64_t value = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (text.empty() || problem != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

std::string takes(const Word& word) {
    return fmt::format("{} takes a whole number from {} to {}", word.name, word.least, word.most);
}

}  // namespace

Status checkSchedule(const ProfileSchedule& schedule) {
    for (const Word& word : kWords)
        if (const std::int64_t value = schedule.*word.value; value < word.least || value > word.most)
            return makeError(ErrorCode::BadInput, fmt::format("A schedule with {}={} cannot be: {}.", word.name, value, takes(word)));
    return {};
}

Result<ProfileSchedule> parseProfile(const std::string& text) {
    const auto refused = [&](const std::string& why) {
        return makeError(ErrorCode::BadInput,
                         fmt::format("\"{}\" is no schedule such as wait=1,warmup=1,active=3 or wait=10,active=5,repeat=2: {}", text, why));
    };
    std::array<bool, kWords.size()> given{};
    ProfileSchedule schedule;
    for (std::size_t from = 0; from <= text.size();) {
        const std::size_t comma = std::min(text.find(',', from), text.size());
        const std::string part = text.substr(from, comma - from);
        from = comma + 1;
        const auto equals = part.find('=');
        const auto word = std::ranges::find(kWords, part.substr(0, std::min(equals, part.size())), &Word::name);
        if (word == kWords.end() || equals == std::string::npos)
            return refused(fmt::format("\"{}\" is none of wait=N, warmup=N, active=N and repeat=N", part));
        const auto value = wholeNumber(part.substr(equals + 1));
        if (!value || *value < word->least || *value > word->most) return refused(takes(*word));
        bool& before = given[static_cast<std::size_t>(word - kWords.begin())];
        if (before) return refused(fmt::format("{} is given twice", word->name));
        before = true;
        schedule.*word->value = *value;
    }
    if (!given[2]) return refused("active=N, the number of steps to record, is missing");
    return schedule;
}

std::vector<Capture> capturesOf(const ProfileSchedule& schedule, std::int64_t made) {
    std::vector<Capture> all;
    for (std::int64_t round = 0; round < schedule.repeat; ++round) {
        const std::int64_t before = made + round * (schedule.wait + schedule.warmup + schedule.active);
        all.push_back({.steps = schedule.active, .firstStep = before + schedule.wait + schedule.warmup + 1, .warmUp = schedule.warmup});
    }
    return all;
}

}  // namespace stepscope
