// The LibTorch that is loaded beside the one whose headers were read. CTest.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <string>

#include "core/workers/TorchLibrary.h"

namespace stepscope {
namespace {

using testing::HasSubstr;

const TorchLibrary kOne{.version = "2.11.0", .commit = "70d99e998b4955e0049d13a98d77ae1b14db1f45"};

TEST(TorchLibrary, TheOneThatTheProgramsWereBuiltWithIsLoaded) {
    EXPECT_THAT(compiledTorch().version, testing::StartsWith("2.11."));
    EXPECT_EQ(loadedTorch().version, compiledTorch().version);
    EXPECT_TRUE(sameTorch(compiledTorch(), loadedTorch())) << loadedTorch().commit << " is not " << compiledTorch().commit;
}

TEST(TorchLibrary, AnotherVersionIsRefusedAndBothAreNamed) {
    const Status same = sameTorch(kOne, {.version = "2.12.0", .commit = "0123456789abcdef"});
    ASSERT_FALSE(same);
    EXPECT_EQ(same.error().sentence,
              "Several workers need the LibTorch that this program was built with, 2.11.0 (70d99e998b49), and 2.12.0 (0123456789ab) is loaded; "
              "LD_LIBRARY_PATH may name another one.");
    EXPECT_THAT(sameTorch(kOne, {}).error().sentence, HasSubstr("and one of an unknown version is loaded"));
}

TEST(TorchLibrary, OneVersionOfOtherSourcesIsRefusedWhereBothSayTheirs) {
    EXPECT_FALSE(sameTorch(kOne, {.version = "2.11.0", .commit = "0123456789abcdef"}));
    EXPECT_TRUE(sameTorch(kOne, {.version = "2.11.0", .commit = ""}));
    EXPECT_TRUE(sameTorch({.version = "2.11.0", .commit = ""}, kOne));
    EXPECT_TRUE(sameTorch(kOne, kOne));
}

// another_torch says of itself what another library would; a sanitizer would want to be loaded before it.
TEST(TorchLibrary, AWorkerThatHasLoadedAnotherOneEndsBeforeItMeetsAnybody) {
    FILE* pipe = popen(
        fmt::format(
            "RANK=0 WORLD_SIZE=2 STEPSCOPE_WORKERS_FILE=/nowhere/meet timeout 60 env ASAN_OPTIONS=verify_asan_link_order=0 LD_PRELOAD={} {} all 2>&1",
            STEPSCOPE_ANOTHER_TORCH, STEPSCOPE_WORKER_PEER)
            .c_str(),
        "r");
    std::string said;
    std::array<char, 4096> buffer{};
    while (fgets(buffer.data(), buffer.size(), pipe) != nullptr) said += buffer.data();
    const int status = pclose(pipe);
    EXPECT_EQ(WIFEXITED(status) ? WEXITSTATUS(status) : -1, 3) << said;
    EXPECT_THAT(said, HasSubstr("and 2.10.0 (0123456789ab) is loaded; LD_LIBRARY_PATH may name another one."));
}

}  // namespace
}  // namespace stepscope
