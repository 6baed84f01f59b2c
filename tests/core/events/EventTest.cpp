// The words of the enumerations: stored in databases, so they must differ from each other and never be empty.
#include <gtest/gtest.h>

#include <set>

#include "core/events/Event.h"
#include "core/events/SwitchCatalogue.h"

namespace stepscope {
namespace {

TEST(EventWords, EveryPhaseHasItsOwn) {
    std::set<std::string> words;
    for (std::size_t i = 0; i < kPhases; ++i) words.insert(toString(static_cast<Phase>(i)));
    EXPECT_EQ(words, (std::set<std::string>{"batch", "copy", "forward", "backward", "clip", "optimizer", "waiting"}));
}

TEST(EventWords, EveryStateHasItsOwnAndTheLastFourAreEnds) {
    std::set<std::string> words;
    for (int i = 0; i <= static_cast<int>(RunState::Interrupted); ++i) words.insert(toString(static_cast<RunState>(i)));
    EXPECT_EQ(words, (std::set<std::string>{"preparing", "running", "paused", "finished", "stopped", "failed", "interrupted"}));
    EXPECT_FALSE(ended(RunState::Paused));
    EXPECT_TRUE(ended(RunState::Finished));
    EXPECT_TRUE(ended(RunState::Interrupted));
}

TEST(EventWords, EverySwitchGroupHasItsOwn) {
    std::set<std::string> words;
    for (int i = 0; i <= static_cast<int>(SwitchGroup::Loop); ++i) words.insert(toString(static_cast<SwitchGroup>(i)));
    EXPECT_EQ(words.size(), static_cast<std::size_t>(SwitchGroup::Loop) + 1);
}

TEST(EventWords, ValuesAreWrittenShortestAndExact) {
    EXPECT_EQ(toString(Value{std::int64_t{-7}}), "-7");
    EXPECT_EQ(toString(Value{0.1}), "0.1");
    EXPECT_EQ(toString(Value{std::string("bf16")}), "bf16");
}

}  // namespace
}  // namespace stepscope
