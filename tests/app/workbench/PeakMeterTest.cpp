// Peaks of this machine: measured where they are not known, believed where they are, and asked for in formats that it has units for.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "app/workbench/diagnose/PeakMeter.h"
#include "core/profile/MachineProbe.h"

namespace stepscope {
namespace {

class PeakMeterTest : public ::testing::Test {
protected:
    PeakMeterTest() {
        std::string folder = (std::filesystem::temp_directory_path() / "stepscope-peaks-XXXXXX").string();
        m_folder = mkdtemp(folder.data());
    }
    ~PeakMeterTest() override { std::filesystem::remove_all(m_folder); }
    PeaksRequest request() const { return {.threads = 1, .precisions = {Precision::Float32}, .secondsEach = 0.05, .folder = m_folder}; }

    std::string m_folder;
    const Machine m_machine = probeMachine();
    const std::atomic<bool> m_no{false};
};

TEST_F(PeakMeterTest, MeasuresWhatIsAskedForAndNothingElse) {
    const auto peaks = measurePeaks(m_machine, request(), {}, m_no);
    ASSERT_TRUE(peaks);
    EXPECT_GT(peaks->float32, 1e8);
    EXPECT_GT(peaks->bytesPerSecond, 1e7);
    EXPECT_GT(peaks->secondsAPage, 1e-9);
    EXPECT_LT(peaks->secondsAPage, 1e-2);
    EXPECT_TRUE(std::isnan(peaks->bf16));
}

TEST_F(PeakMeterTest, BelievesWhatIsKeptForTheSameMachineAndThreadsAlone) {
    const MachinePeaks kept{.float32 = 1.5e11, .bytesPerSecond = 2e9, .secondsAPage = 1e-6};
    ASSERT_TRUE(keepPeaks(m_machine, request(), kept));
    const auto peaks = measurePeaks(m_machine, request(), {}, m_no);
    ASSERT_TRUE(peaks);
    EXPECT_DOUBLE_EQ(peaks->float32, kept.float32);
    PeaksRequest two = request();
    two.threads = 2;
    EXPECT_TRUE(std::isnan(knownPeaks(m_machine, two).float32));
    Machine other = m_machine;
    other.libtorch = "1.0.0";
    EXPECT_TRUE(std::isnan(knownPeaks(other, request()).float32));
}

TEST_F(PeakMeterTest, OfASpoiltFileMeasuresAnew) {
    ASSERT_TRUE(keepPeaks(m_machine, request(), {.float32 = 1.5e11, .bytesPerSecond = 2e9, .secondsAPage = 1e-6}));
    for (const auto& file : std::filesystem::directory_iterator(m_folder)) std::ofstream(file.path(), std::ios::app) << "float32 1e300\n";
    EXPECT_TRUE(std::isnan(knownPeaks(m_machine, request()).float32));
    const auto peaks = measurePeaks(m_machine, request(), {}, m_no);
    ASSERT_TRUE(peaks);
    EXPECT_NE(peaks->float32, 1.5e11);
}

TEST_F(PeakMeterTest, OfAFolderThatCannotBeMadeMeasuresAllTheSame) {
    PeaksRequest nowhere = request();
    nowhere.folder = "/proc/nowhere";
    EXPECT_FALSE(keepPeaks(m_machine, nowhere, {.float32 = 1e9}));
    EXPECT_TRUE(measurePeaks(m_machine, nowhere, {}, m_no));
}

TEST_F(PeakMeterTest, StopsWhenAskedTo) {
    const std::atomic<bool> yes{true};
    const auto peaks = measurePeaks(m_machine, request(), {}, yes);
    ASSERT_FALSE(peaks);
    EXPECT_EQ(peaks.error().code, ErrorCode::Cancelled);
}

TEST_F(PeakMeterTest, NamesOnlyFormatsThatTheDeviceHasUnitsFor) {
    Machine machine;
    EXPECT_EQ(precisionsOf(machine, "cpu"), std::vector{Precision::Float32});
    machine.instructions = {"avx512_bf16"};
    EXPECT_EQ(precisionsOf(machine, "cpu"), (std::vector{Precision::Float32, Precision::Bf16}));
    machine.gpus = {{.name = "old", .memory = {}, .computeMajor = 7}};
    EXPECT_EQ(precisionsOf(machine, "cuda:0"), (std::vector{Precision::Float32, Precision::Fp16}));
}

}  // namespace
}  // namespace stepscope
