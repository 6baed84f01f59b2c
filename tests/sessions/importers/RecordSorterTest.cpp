// Records of any number in order with a set amount of memory: whatever the buffers hold, the order and every field are the same.
#include <gtest/gtest.h>

#include <random>
#include <tuple>

#include "sessions/importers/RecordSorter.h"
#include "tests/sessions/TestSupport.h"

namespace stepscope::importing {
namespace {

auto fieldsOf(const Record& r) {
    return std::tie(r.lane, r.kind, r.recomputed, r.start, r.duration, r.name, r.phase, r.role, r.arguments, r.layer, r.step, r.sequence,
                    r.forwardThread, r.correlation, r.external);
}

// Times close together, so that many are of one start, and fields at the ends of their ranges.
std::vector<Record> drawn(std::size_t count, std::uint32_t seed) {
    std::mt19937_64 random(seed);
    const auto any = [&]() -> std::int64_t {
        return random() % 8 == 0 ? std::numeric_limits<std::int64_t>::min() : static_cast<std::int64_t>(random());
    };
    std::vector<Record> all(count);
    for (std::size_t i = 0; i < count; ++i) {
        Record& r = all[i];
        r.lane = static_cast<std::uint32_t>(random() % 5);
        r.kind = random() % 2 == 0 ? SliceKind::Operation : SliceKind::Other;
        r.recomputed = random() % 2 == 0;
        r.start = static_cast<std::int64_t>(random() % 50) - 25;
        r.duration = static_cast<std::int64_t>(random() % 3);
        r.name = static_cast<std::uint32_t>(random());
        r.phase = static_cast<std::uint32_t>(random());
        r.role = static_cast<std::uint32_t>(random());
        r.arguments = static_cast<std::uint32_t>(random());
        r.layer = static_cast<std::int32_t>(random());
        r.step = any();
        r.sequence = any();
        r.forwardThread = any();
        r.correlation = any();
        r.external = static_cast<std::int64_t>(i);  // where it came in the file
    }
    return all;
}

std::vector<Record> sorted(const std::vector<Record>& records, std::size_t most) {
    const test::TempFolder folder;
    RecordSorter sorter(folder.path(), most);
    for (const Record& record : records) sorter.add(record);
    std::vector<Record> out;
    const Status done = sorter.merge([&](const Record& record) {
        out.push_back(record);
        return true;
    });
    EXPECT_TRUE(done.ok());
    return out;
}

TEST(RecordSorter, OrdersByLaneStartAndLengthAndKeepsTheFilesOrderOfEqualOnes) {
    const auto records = drawn(2000, 1);
    auto wanted = records;
    std::ranges::stable_sort(
        wanted, [](const Record& a, const Record& b) { return std::tuple(a.lane, a.start, -a.duration) < std::tuple(b.lane, b.start, -b.duration); });
    const auto out = sorted(records, 1'000'000);
    ASSERT_EQ(out.size(), wanted.size());
    for (std::size_t i = 0; i < out.size(); ++i) ASSERT_EQ(fieldsOf(out[i]), fieldsOf(wanted[i])) << i;
}

TEST(RecordSorter, GivesTheSameWhateverFitsIntoMemory) {
    const auto records = drawn(30'000, 2);
    const auto whole = sorted(records, 1'000'000);
    for (const std::size_t most : {std::size_t{1000}, std::size_t{4096}, std::size_t{29'999}, std::size_t{30'000}}) {
        const auto out = sorted(records, most);
        ASSERT_EQ(out.size(), whole.size()) << most;
        for (std::size_t i = 0; i < out.size(); ++i) ASSERT_EQ(fieldsOf(out[i]), fieldsOf(whole[i])) << most << ", " << i;
    }
}

TEST(RecordSorter, OneRecordABufferIsStillInOrder) {
    const auto records = drawn(200, 3);
    const auto whole = sorted(records, 1'000'000), out = sorted(records, 1);
    ASSERT_EQ(out.size(), whole.size());
    for (std::size_t i = 0; i < out.size(); ++i) EXPECT_EQ(fieldsOf(out[i]), fieldsOf(whole[i])) << i;
}

TEST(RecordSorter, EndsWhereNobodyWantsMore) {
    const test::TempFolder folder;
    for (const std::size_t most : {std::size_t{10}, std::size_t{1000}}) {
        RecordSorter sorter(folder.path(), most);
        for (const Record& record : drawn(100, 4)) sorter.add(record);
        int taken = 0;
        EXPECT_TRUE(sorter.merge([&](const Record&) { return ++taken < 7; }).ok());
        EXPECT_EQ(taken, 7) << most;
    }
}

TEST(RecordSorter, OfNothingHandsOutNothing) {
    EXPECT_TRUE(sorted({}, 10).empty());
}

TEST(RecordSorter, WhereNothingCanBeWrittenItSaysSo) {
    RecordSorter sorter("/proc/no-such-folder", 10);
    for (const Record& record : drawn(100, 5)) sorter.add(record);
    const Status done = sorter.merge([](const Record&) { return true; });
    ASSERT_FALSE(done.ok());
    EXPECT_TRUE(done.error().sentence.ends_with('.')) << done.error().sentence;
}

}  // namespace
}  // namespace stepscope::importing
