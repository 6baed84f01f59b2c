// Peaks as text: written and read again, and nothing believed that does not hold together.
#include <gtest/gtest.h>

#include <cmath>

#include "core/prediction/MachinePeaks.h"

namespace stepscope {
namespace {

TEST(MachinePeaks, AreReadAsTheyWereWritten) {
    MachinePeaks peaks;
    peaks.float32 = 1.25e11;
    peaks.bytesPerSecond = 3.5e9;
    const auto read = readPeaks(writePeaks("this machine", peaks), "this machine");
    ASSERT_TRUE(read);
    EXPECT_DOUBLE_EQ(read->float32, peaks.float32);
    EXPECT_DOUBLE_EQ(read->bytesPerSecond, peaks.bytesPerSecond);
    EXPECT_TRUE(std::isnan(read->bf16));
    EXPECT_TRUE(std::isnan(read->secondsAPage));
}

TEST(MachinePeaks, OfAnotherMachineOrSpoiltAreNotBelieved) {
    const std::string head = "stepscope peaks 1\nthis machine\n";
    ASSERT_TRUE(readPeaks(head, "this machine"));
    EXPECT_FALSE(readPeaks(head, "another machine"));
    for (const char* line : {"float32 0\n", "float32 -1\n", "float32 nan\n", "float32 inf\n", "float32 1e30\n", "float32 1e9x\n", "float32\n",
                             "float64 1e9\n", "float32 1e9\nfloat32 2e9\n", "float32 1e9", "\n"})
        EXPECT_FALSE(readPeaks(head + line, "this machine")) << line;
    EXPECT_FALSE(readPeaks("", "this machine"));
}

}  // namespace
}  // namespace stepscope
