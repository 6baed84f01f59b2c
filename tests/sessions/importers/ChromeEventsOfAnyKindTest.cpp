// Events of a Chrome trace made of whatever a stranger may write in any place: each is either kept or counted with a reason, and never both.
#include <gtest/gtest.h>

#include <random>
#include <string_view>
#include <vector>

#include "sessions/importers/ChromeEvents.h"
#include "tests/sessions/importers/BuiltTrace.h"

namespace stepscope::test {
namespace {

using importing::ChromeEvent;
using importing::ChromeEvents;

TEST(ChromeEventsOfAnyKind, AreKeptOrCountedWhateverStandsInThem) {
    std::mt19937_64 random(41);
    const std::vector<std::string_view> tokens{"",
                                               "null",
                                               "true",
                                               "0",
                                               "-1",
                                               "7",
                                               "1.5",
                                               "1e300",
                                               "-1e300",
                                               "9223372036854775807",
                                               "-9223372036854775808",
                                               "\"\"",
                                               "\"a\"",
                                               "\"7\"",
                                               "\"\\u0000\\ud83d\"",
                                               "[]",
                                               "[1,2,3]",
                                               "[[4]]",
                                               "{}",
                                               "{\"a\":[1]}",
                                               "\"ProfilerStep#5\"",
                                               "\"[memory]\"",
                                               "[\"float\"]",
                                               "\"0x10\""};
    const std::vector<std::string_view> phases{"\"X\"", "\"B\"", "\"E\"", "\"i\"", "\"C\"", "\"s\"", "\"f\"", "\"t\"", "\"M\"", "\"Z\"", "\"\"", "7"};
    const std::vector<std::string_view> cats{"\"cpu_op\"",          "\"kernel\"", "\"gpu_memcpy\"", "\"cuda_sync\"",
                                             "\"user_annotation\"", "\"fwdbwd\"", "\"x\"",          ""};
    const std::vector<std::string_view> keys{"External id",
                                             "correlation",
                                             "stream",
                                             "device",
                                             "bytes",
                                             "grid",
                                             "block",
                                             "Input Dims",
                                             "Input type",
                                             "flops",
                                             "Sequence number",
                                             "Fwd thread id",
                                             "Layer",
                                             "Role",
                                             "Phase",
                                             "Recomputed",
                                             "Step",
                                             "name",
                                             "value",
                                             "Bytes",
                                             "Device Id",
                                             "Device Type",
                                             "memory bandwidth (GB/s)",
                                             "shared memory",
                                             "registers per thread",
                                             ""};
    const auto any = [&](const std::vector<std::string_view>& of) { return of[random() % of.size()]; };
    for (int round = 0; round < 300; ++round) {
        BuiltTrace of;
        ChromeEvents taking(of.trace);
        std::int64_t ranges = 0;
        for (int i = 0; i < 60; ++i) {
            ChromeEvent event{.ph = any(phases),
                              .cat = any(cats),
                              .name = any(tokens),
                              .pid = any(tokens),
                              .tid = any(tokens),
                              .ts = any(tokens),
                              .dur = any(tokens),
                              .id = any(tokens),
                              .scope = any(tokens),
                              .args = {}};
            for (auto left = random() % 5; left > 0; --left)
                if (const auto value = any(tokens); !value.empty()) event.args.emplace_back(any(keys), value);
            const std::int64_t before = of.trace.recorded() + of.trace.counts().skipped;
            taking.take(event);
            const std::int64_t told = of.trace.recorded() + of.trace.counts().skipped - before;
            if (event.ph == "\"X\"") {
                EXPECT_EQ(told, 1) << "kept or counted, once";
            }
            if (event.ph == "\"Z\"" || event.ph == "7" || event.ph == "\"\"") {
                EXPECT_EQ(told, 1);
            }
            ranges += event.ph == "\"B\"" && told == 0 ? 1 : 0;
        }
        taking.end();
        EXPECT_GE(ranges, of.reason("ranges that have no end"));
        (void)of.finish();  // and each block of it can be stored and read
    }
}

}  // namespace
}  // namespace stepscope::test
