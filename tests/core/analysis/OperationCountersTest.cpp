// What the processor counted for operations: sums of several captures, and nothing where it was not counted.
#include <gtest/gtest.h>

#include "core/analysis/captures/OperationCounters.h"

namespace stepscope {
namespace {

SampleBlock countedBlock(double cycles, double instructions, double bytes, double ns) {
    SampleBlock block;
    block.name = kCountedOperations;
    block.series = {{}, {"aten::mm", "cycles"}, {"aten::mm", "instructions"}, {"aten::mm", "B"}, {"aten::mm", "ns"}};
    block.samples = {{1, 1, cycles}, {1, 2, instructions}, {1, 3, bytes}, {1, 4, ns}};
    return block;
}

TEST(OperationCounters, AddUpWhatCapturesCounted) {
    OperationCounters counters;
    EXPECT_FALSE(counters.known());
    counters.add(countedBlock(100, 300, 10, 5));
    counters.add(countedBlock(300, 300, 30, 15));
    const CountedOperation mm = counters.of("aten::mm");
    EXPECT_DOUBLE_EQ(mm.instructionsPerCycle.value(), 1.5);
    EXPECT_DOUBLE_EQ(mm.bytesPerSecond.value(), 2e9) << "40 bytes in 20 ns";
    EXPECT_FALSE(mm.stalledShare) << "this processor does not count it";
    EXPECT_FALSE(counters.of("aten::add").instructionsPerCycle);
}

TEST(OperationCounters, PassOverOtherSamplesAndWhatCannotBe) {
    OperationCounters counters;
    SampleBlock other = countedBlock(1, 1, 1, 1);
    other.name = "GPU 0";
    counters.add(other);
    EXPECT_FALSE(counters.known());
    counters.add(countedBlock(0, 5, -1, 0));
    EXPECT_FALSE(counters.of("aten::mm").instructionsPerCycle) << "no cycles to divide by";
    EXPECT_FALSE(counters.of("aten::mm").bytesPerSecond);
}

}  // namespace
}  // namespace stepscope
