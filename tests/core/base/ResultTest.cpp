// Result<T>, Status and SS_CHECK.
#include <gtest/gtest.h>

#include <memory>

#include "core/base/Check.h"
#include "core/base/Result.h"
#include "core/base/Units.h"

namespace stepscope {
namespace {

Result<int> half(int number) {
    if (number % 2 != 0) return makeError(ErrorCode::BadInput, "The number is odd.", "remainder 1");
    return number / 2;
}

TEST(Result, HoldsAValueOrAnError) {
    const auto good = half(4);
    ASSERT_TRUE(good.ok());
    EXPECT_EQ(*good, 2);
    const auto bad = half(3);
    ASSERT_FALSE(bad);
    EXPECT_EQ(bad.error().code, ErrorCode::BadInput);
    EXPECT_EQ(bad.error().sentence, "The number is odd.");
    EXPECT_EQ(bad.error().cause, "remainder 1");
}

TEST(Result, CarriesTypesThatCanOnlyBeMoved) {
    Result<std::unique_ptr<int>> result(std::make_unique<int>(5));
    const std::unique_ptr<int> taken = *std::move(result);
    EXPECT_EQ(*taken, 5);
}

TEST(Result, TellsAValueFromAnErrorEvenWhenTheValueIsAnErrorsText) {
    const Result<std::string> text(std::string("an error"));
    EXPECT_TRUE(text.ok());
    EXPECT_EQ(text->size(), 8u);
}

TEST(Result, AndThenGoesOnWithTheValueAndHandsAnErrorOnWithoutCallingWhatFollows) {
    const auto quarter = half(12).andThen(half);
    ASSERT_TRUE(quarter.ok());
    EXPECT_EQ(*quarter, 3);
    int calls = 0;
    const auto odd = half(3).andThen([&](int number) {
        ++calls;
        return half(number);
    });
    ASSERT_FALSE(odd.ok());
    EXPECT_EQ(odd.error().cause, "remainder 1");
    EXPECT_EQ(calls, 0);
    EXPECT_EQ(half(6).andThen(half).error().code, ErrorCode::BadInput);
    const Status done;
    EXPECT_EQ(*done.andThen([] { return half(4); }), 2);
    EXPECT_FALSE(half(3).status().andThen([] { return half(4); }).ok());
}

TEST(Result, MapChangesTheValueAndMovesWhatCanOnlyBeMoved) {
    EXPECT_EQ(*half(8).map([](int number) { return std::to_string(number); }), "4");
    auto moved = Result<std::unique_ptr<int>>(std::make_unique<int>(5)).map([](std::unique_ptr<int> held) {
        *held += 1;
        return held;
    });
    EXPECT_EQ(**moved, 6);
    EXPECT_EQ(half(3).map([](int number) { return number + 1; }).error().sentence, "The number is odd.");
}

TEST(Result, KeepsTheSubjectThatWasNamedFirst) {
    const auto bad = half(3).about(Subject::Kind::Key, "heads").about(Subject::Kind::File, "run.yaml");
    EXPECT_EQ(bad.error().subject, (Subject{Subject::Kind::Key, "heads"}));
    EXPECT_EQ(bad.error().sentence, "The number is odd.");
    EXPECT_TRUE(half(4).about(Subject::Kind::Key, "heads").ok());
    EXPECT_EQ(half(3).error().subject, Subject{});
}

TEST(Status, IsGoodUnlessItHoldsAnError) {
    EXPECT_TRUE(Status().ok());
    const Status bad = makeError(ErrorCode::Io, "The disk is full.");
    ASSERT_FALSE(bad.ok());
    EXPECT_EQ(bad.error().sentence, "The disk is full.");
}

TEST(Check, ThrowsASentenceThatNamesWhatDoesNotHold) {
    EXPECT_NO_THROW(SS_CHECK(1 + 1 == 2));
    try {
        SS_CHECK(1 + 1 == 3);
        FAIL() << "nothing was thrown";
    } catch (const LogicError& mistake) {
        EXPECT_NE(std::string(mistake.what()).find("1 + 1 == 3"), std::string::npos);
    }
}

TEST(SessionClock, NeverRunsBackwards) {
    const SessionClock clock;
    TimeNs before = clock.now();
    EXPECT_GE(before.ns, 0);
    for (int i = 0; i < 1000; ++i) {
        const TimeNs now = clock.now();
        ASSERT_GE(now, before);
        before = now;
    }
}

}  // namespace
}  // namespace stepscope
