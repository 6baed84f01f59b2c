// What a control group's quota held up: on folders laid out as both versions of the kernel's groups are.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "core/profile/ProcessorTimes.h"

namespace stepscope {
namespace {

class CpuQuotaTest : public ::testing::Test {
protected:
    CpuQuotaTest() {
        std::string name = ::testing::TempDir() + "/quota-XXXXXX";
        m_root = mkdtemp(name.data());
    }
    ~CpuQuotaTest() override { std::filesystem::remove_all(m_root); }

    void statistics(const std::string& group, std::int64_t periods, std::int64_t throttled) {
        std::filesystem::create_directories(m_root + group);
        std::ofstream(m_root + group + "/cpu.stat")
            << fmt::format("usage_usec 5\nuser_usec 3\nsystem_usec 2\nnr_periods {}\nnr_throttled {}\nthrottled_usec 77\n", periods, throttled);
    }
    CpuQuota quotaOf(const std::string& groups) {
        std::ofstream(m_root + "/groups") << groups;
        return CpuQuota(m_root + "/groups", m_root);
    }
    std::string m_root;
};

TEST_F(CpuQuotaTest, SaysInHowManyPeriodsSinceTheLastReadingThreadsWereStopped) {
    statistics("/pod/box", 100, 40);
    CpuQuota quota = quotaOf("0::/pod/box\n");
    statistics("/pod/box", 110, 43);
    EXPECT_NEAR(quota.throttledPct().value_or(-1), 30, 1e-9);
    statistics("/pod/box", 115, 43);
    EXPECT_EQ(quota.throttledPct(), 0) << "what was before is not counted twice";
    statistics("/pod/box", 120, 44);
    EXPECT_NEAR(quota.throttledPct().value_or(-1), 20, 1e-9);
    EXPECT_EQ(quota.throttledPct(), 0) << "no period has passed";
}

TEST_F(CpuQuotaTest, AnAncestorMayHoldUpMoreThanTheGroupItself) {
    statistics("/pod/box", 10, 0);
    statistics("/pod", 10, 0);
    CpuQuota quota = quotaOf("0::/pod/box\n");
    statistics("/pod/box", 20, 1);
    statistics("/pod", 20, 5);
    EXPECT_NEAR(quota.throttledPct().value_or(-1), 50, 1e-9);
}

TEST_F(CpuQuotaTest, TheFirstVersionKeepsProcessorsInAHierarchyOfTheirOwn) {
    statistics("/cpu,cpuacct/box", 4, 4);
    statistics("/memory/box", 4, 0);
    CpuQuota quota = quotaOf("9:memory:/box\n4:cpu,cpuacct:/box\n3:cpuset:/box\n");
    statistics("/cpu,cpuacct/box", 8, 7);
    EXPECT_NEAR(quota.throttledPct().value_or(-1), 75, 1e-9);
}

TEST_F(CpuQuotaTest, AHierarchyWhoseControllersAreNamedInAnotherOrderIsFoundByItsLink) {
    statistics("/cpu,cpuacct/box", 4, 4);
    std::filesystem::create_directory_symlink(m_root + "/cpu,cpuacct", m_root + "/cpu");
    CpuQuota quota = quotaOf("4:cpuacct,cpu:/box\n");
    statistics("/cpu,cpuacct/box", 8, 5);
    EXPECT_NEAR(quota.throttledPct().value_or(-1), 25, 1e-9);
}

TEST_F(CpuQuotaTest, APathOfTheHostIsLookedForAtTheRootOfTheContainer) {
    statistics("", 4, 0);
    CpuQuota quota = quotaOf("0::/system.slice/of-the-host\n");
    statistics("", 8, 1);
    EXPECT_NEAR(quota.throttledPct().value_or(-1), 25, 1e-9);
}

TEST_F(CpuQuotaTest, IsUnknownWhereThereIsNoQuota) {
    statistics("/box", 0, 0);
    EXPECT_FALSE(quotaOf("0::/box\n").throttledPct()) << "a group without a quota counts no periods";
    EXPECT_FALSE(quotaOf("").throttledPct());
    EXPECT_FALSE(quotaOf("no line of groups\n0:\n").throttledPct());
    EXPECT_FALSE(CpuQuota("/nowhere/groups", m_root).throttledPct());
}

}  // namespace
}  // namespace stepscope
