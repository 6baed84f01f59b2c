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
