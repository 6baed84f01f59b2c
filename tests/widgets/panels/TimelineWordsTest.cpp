// The words and colours of a timeline: what is told of a slice, its kin and a range, which colour means what, what a lane is called, where rows lie.
#include <gtest/gtest.h>

#include <QRegularExpression>
#include <set>

#include "core/base/StepPlace.h"
#include "widgets/style/SeriesColours.h"
#include "widgets/timeline/TimelineLayout.h"
#include "widgets/timeline/TimelineLooks.h"
#include "widgets/timeline/TimelineWords.h"

namespace stepscope {
namespace {

// Cell by cell with a bar between, as it is read.
QString wordsOf(QString html) {
    html.replace("</tr>", "\n").replace("</td>", "|").replace("</p>", "\n");
    return html.remove(QRegularExpression("<[^>]*>"));
}

TraceSlice toldSlice() {
    TraceSlice slice;
    slice.thread.name = "trainer";
    slice.name = "aten::mm";
    slice.slice.start = 1'500'000'000;
    slice.slice.duration = 2'000'000;
    return slice;
}

TEST(TimelineWords, NumbersOfTheRulerHaveThinSpacesInThousands) {
    EXPECT_EQ(rulerText(0, 0), "0");
    EXPECT_EQ(rulerText(500, 0), "500");
    EXPECT_EQ(rulerText(1500, 0), "1\u202F500");
    EXPECT_EQ(rulerText(375000, 0), "375\u202F000");
    EXPECT_EQ(rulerText(-1234567.25, 2), "-1\u202F234\u202F567.25");
    EXPECT_EQ(rulerText(-100, 0), "-100");
    EXPECT_EQ(rulerText(0.125, 3), "0.125");
}

TEST(TimelineWords, ASliceIsToldByItsTimesAndOnlyWhatIsKnownOfIt) {
    TraceSlice slice = toldSlice();
    QString words = wordsOf(sliceWords(slice, {}, {}, 500'000'000));
    EXPECT_TRUE(words.startsWith("aten::mmkind|operation|")) << words.toStdString();
    EXPECT_TRUE(words.contains("begins|1.000000000 s|")) << "since the session began: " << words.toStdString();
    EXPECT_TRUE(words.contains("takes|2.00\u202Fms|")) << words.toStdString();
    EXPECT_TRUE(words.contains("on|trainer|"));
    for (const char* unknown : {"layer", "part", "phase", "step|", "computes", "moves", "launched", "called with", "of it itself", "All "})
        EXPECT_FALSE(words.contains(unknown)) << unknown;
    slice.slice.called = 500'000;
    slice.slice.layer = 0;
    slice.slice.step = 1200;
    slice.slice.recomputed = true;
    slice.role = "mlp/up";
    slice.arguments.flops = 6'000'000'000;
    slice.arguments.bytes = 4'000'000;
    slice.arguments.grid = {80, 2, 1};
    slice.arguments.block = {256, 1, 1};
    slice.arguments.registers = 32;
    words = wordsOf(sliceWords(slice, {}, {}, 0));
    EXPECT_TRUE(words.contains("operation, recomputed|"));
    EXPECT_TRUE(words.contains("of it itself|1.50\u202Fms|")) << words.toStdString();
    EXPECT_TRUE(words.contains("layer|0|")) << "the first layer is one too";
    EXPECT_TRUE(words.contains("step|1\u202F200|"));
    EXPECT_TRUE(words.contains("computes|6.00 GFLOP, 3e+03 GFLOP/s|")) << words.toStdString();
    EXPECT_TRUE(words.contains("moves|4.00\u202FMB|"));
    EXPECT_TRUE(words.contains("grid 80 × 2 × 1, block 256 × 1 × 1, 32 registers, 0 B shared"));
    slice.slice.duration = slice.slice.called = 0;
    words = wordsOf(sliceWords(slice, {}, {}, 0));
    EXPECT_TRUE(words.contains("computes|6.00 GFLOP|")) << "no rate of something that took no time: " << words.toStdString();
}

TEST(TimelineWords, NamesOfStrangersAreTextAndNeverMarkup) {
    TraceSlice slice = toldSlice(), other = toldSlice();
    slice.name = "gemm<float, 4> & <b>co</b>";
    slice.thread.name = "<i>thread</i>";
    slice.arguments.text = "<table>";
    slice.role = "<u>";
    other.name = "<script>";
    const QString html = sliceWords(slice, {}, {other}, 0);
    EXPECT_TRUE(html.contains("gemm&lt;float, 4&gt; &amp; &lt;b&gt;co&lt;/b&gt;")) << html.toStdString();
    for (const char* tag : {"<i>", "<u>", "<script>", "<b>co"}) EXPECT_FALSE(html.contains(tag)) << tag;
    EXPECT_EQ(html.count("<table>"), 1) << "ours";
    RangeSums sums;
    sums.sums = {{"void f<int>()", SliceKind::Kernel, 1, 10, 10}};
    EXPECT_FALSE(sumsWords(0, 10, sums).contains("f<int>"));
}

TEST(TimelineWords, KinOfASliceSayBeforeAndAfterAndHowTheirDurationsSpread) {
    TraceSlice slice = toldSlice(), before = toldSlice(), after = toldSlice();
    before.name = "launch";
    before.slice.start -= 3'000'000;
    after.name = "kernel";
    after.slice.start += 40'000;
    KinAnswer kin;
    kin.count = 4;
    kin.total = 40'000;
    kin.self = 20'000;
    kin.shortest = 5'000;
    kin.longest = 20'000;
    for (const std::int64_t duration : {5'000, 7'500, 7'500, 20'000}) kin.durations.add(duration);
    const QString words = wordsOf(sliceWords(slice, kin, {before, after}, 0));
    EXPECT_TRUE(words.contains("comes from|launch, 3.00\u202Fms before|")) << words.toStdString();
    EXPECT_TRUE(words.contains("leads to|kernel, 40.0\u202Fµs later|")) << words.toStdString();
    EXPECT_TRUE(words.contains("All 4 of that name"));
    EXPECT_TRUE(words.contains("mean|10.0\u202Fµs|"));
    EXPECT_TRUE(words.contains("shortest, longest|5.00\u202Fµs, 20.0\u202Fµs|")) << words.toStdString();
    kin.count = 1;
    EXPECT_TRUE(wordsOf(sliceWords(slice, kin, {before, after}, 0)).contains("The only one of that name in this session:"));
    EXPECT_EQ(words.count(QChar(0x2588)), 1) << "one duration is the most frequent: " << words.toStdString();
    EXPECT_EQ(words.count(QChar(0x2584)), 2) << "the two others half as often";
    const qsizetype durations = words.indexOf("durations");
    ASSERT_GE(durations, 0);
    EXPECT_FALSE(words.mid(durations, words.indexOf('|', durations) - durations).contains(' ')) << "nowhere to break it: " << words.toStdString();
    KinAnswer one;
    one.count = 1;
    one.shortest = one.longest = one.total = 9'000;
    one.durations.add(9'000);
    EXPECT_TRUE(wordsOf(sliceWords(slice, one, {}, 0)).contains("p50, p95|9.00\u202Fµs, 9.00\u202Fµs")) << "never outside of what there was";
}

TEST(TimelineWords, TotalsLeaveOutCallsWithinCallsOfTheSameNameOrSayThatTheyDoNot) {
    KinAnswer kin;
    kin.count = 2;
    kin.total = 150'000;
    kin.nested = 50'000;
    QString words = wordsOf(sliceWords(toldSlice(), kin, {}, 0));
    EXPECT_TRUE(words.contains("total|100\u202Fµs|")) << words.toStdString();
    EXPECT_TRUE(words.contains("mean|75.0\u202Fµs|")) << "of all calls: " << words.toStdString();
    EXPECT_FALSE(words.contains("count each")) << words.toStdString();
    kin.nested = 0;
    kin.nestedEach = true;
    words = wordsOf(sliceWords(toldSlice(), kin, {}, 0));
    EXPECT_TRUE(words.contains("total|150\u202Fµs|")) << words.toStdString();
    EXPECT_TRUE(words.contains("Calls within calls of the same name count each in the total")) << words.toStdString();
    RangeSums sums;
    sums.sums = {{"aten::x", SliceKind::Operation, 2, 150'000, 100'000, 150'000}};
    EXPECT_FALSE(sumsWords(0, 10, sums).contains("count each"));
    sums.nestedEach = true;
    EXPECT_TRUE(sumsWords(0, 10, sums).contains("Calls within calls of the same name count each in the total"));
}

TEST(TimelineWords, ARangeNamesFortyAndCountsTheOthersAndWhatWasLost) {
    RangeSums sums;
    sums.slices = 41'000;
    for (int i = 0; i < 43; ++i) sums.sums.push_back({"name " + std::to_string(i), SliceKind::Operation, i + 1, 2000, 1000});
    sums.sums[0].name.clear();
    sums.sums[0].kind = SliceKind::Step;
    QString words = wordsOf(sumsWords(1'000, 3'001'000, sums));
    EXPECT_TRUE(words.startsWith("3.00\u202Fms selected, 41\u202F000 slices begin in it.name|")) << words.toStdString();
    EXPECT_TRUE(words.contains("\nstep|1|1.00\u202Fµs|2.00\u202Fµs|")) << "what has no name is called by its kind";
    EXPECT_TRUE(words.contains("name 39|40|"));
    EXPECT_FALSE(words.contains("name 40|"));
    EXPECT_TRUE(words.contains("3 more names, each with less time."));
    EXPECT_FALSE(words.contains("could not be kept"));
    sums.lost = 4;
    sums.invalid = 1;
    sums.sums.resize(40);
    words = wordsOf(sumsWords(0, 999, sums));
    EXPECT_TRUE(words.contains("999 ns selected")) << words.toStdString();
    EXPECT_TRUE(words.contains("5 more could not be kept."));
    EXPECT_FALSE(words.contains("more names"));
}

TEST(TimelineLooks, ARoleDecidesAndWhereThereIsNoneTheKind) {
    const auto look = [](SliceKind kind, const std::string& role = {}) { return lookOf({"x", role, kind}); };
    for (int i = 1; i < kRoles; ++i) {
        const LookClass found = look(SliceKind::Operation, toString(static_cast<Role>(i)));
        EXPECT_NE(found, LookClass::Other) << toString(static_cast<Role>(i));
        EXPECT_NE(found, LookClass::Annotation) << "one of ours: " << toString(static_cast<Role>(i));
        EXPECT_EQ(look(SliceKind::Kernel, toString(static_cast<Role>(i))), found) << "a kernel looks like the operation that launched it";
    }
    EXPECT_EQ(look(SliceKind::Operation, toString(Role::Norm1AndQkv)), LookClass::Attention);
    EXPECT_EQ(look(SliceKind::Operation, toString(Role::LastNorm)), LookClass::Norm);
    EXPECT_EQ(look(SliceKind::Operation, toString(Role::Communication)), LookClass::Communication);
    EXPECT_EQ(look(SliceKind::Operation, "somebody's range"), LookClass::Annotation);
    EXPECT_EQ(look(SliceKind::Operation), LookClass::Other);
    EXPECT_EQ(look(SliceKind::Kernel), LookClass::Kernel);
    EXPECT_EQ(look(SliceKind::Memset), LookClass::Copy);
    EXPECT_EQ(look(SliceKind::Driver), LookClass::Runtime);
    EXPECT_EQ(look(SliceKind::Synchronisation), LookClass::Waiting);
    EXPECT_EQ(look(SliceKind::Evaluation, toString(Role::MlpUp)), LookClass::Step) << "of whatever part: it is a frame";
}

TEST(TimelineLooks, EveryColourHasAnotherNameAndIsToldFromTheGround) {
    std::set<QString> names;
    for (int i = 0; i < kLookClasses; ++i) {
        const auto look = static_cast<LookClass>(i);
        EXPECT_FALSE(lookName(look).isEmpty()) << i;
        names.insert(lookName(look));
        for (const bool dark : {false, true})
            EXPECT_GE(contrast(lookColour(look, dark), dark ? QColor(0x17191c) : QColor(Qt::white)), 1.3) << lookName(look).toStdString() << dark;
    }
    EXPECT_EQ(names.size(), static_cast<std::size_t>(kLookClasses));
    std::set<QString> kinds;
    for (int i = 0; i < kSliceKinds; ++i) kinds.insert(kindName(static_cast<SliceKind>(i)));
    EXPECT_EQ(kinds.size(), static_cast<std::size_t>(kSliceKinds));
    EXPECT_EQ(kindName(SliceKind::Other), "other");
    EXPECT_EQ(kindName(SliceKind::Memset), "memset");
}

TEST(TimelineLooks, TimesAreShortForPeopleAndExactWhereTheyAreCopied) {
    EXPECT_EQ(timeText(0), "0 ns");
    EXPECT_EQ(timeText(999), "999 ns");
    EXPECT_EQ(timeText(1000), "1.00\u202Fµs");
    EXPECT_EQ(timeText(2.5e9), "2.50\u202Fs");
    EXPECT_EQ(timeText(-1500), "-1.50\u202Fµs");
    EXPECT_EQ(exactTimeText(1), "0.000000001 s");
    EXPECT_EQ(exactTimeText(-2'000'000'003), "-2.000000003 s");
}

TEST(TimelineLayout, ALaneIsCalledByItsNameElseByItsNumber) {
    TraceLane lane;
    lane.thread.thread = 4711;
    EXPECT_EQ(laneTitle(lane, false), "thread 4711");
    lane.thread.name = "trainer";
    lane.thread.rank = 3;
    EXPECT_EQ(laneTitle(lane, false), "trainer");
    EXPECT_EQ(laneTitle(lane, true), "rank 3 trainer");
    lane.thread = {.thread = 7, .device = 1};
    EXPECT_EQ(laneTitle(lane, false), "GPU 1 stream 7");
    lane.thread.name = "copies";
    EXPECT_EQ(laneTitle(lane, true), "rank 0 GPU 1 copies");
    lane.thread = {.thread = 4294967295, .name = "stream 4294967295 (sync)", .device = 1};
    EXPECT_EQ(laneTitle(lane, false), "GPU 1 all streams (sync)");
    lane.thread.name.clear();
    EXPECT_EQ(laneTitle(lane, false), "GPU 1 without a stream");
}

TEST(TimelineLayout, ACounterSaysItsHighestValueAndWhatIsBelowZeroItsLowestToo) {
    CounterSeries series{"loss", "nats", {{0, 2}, {5, 3}}};
    EXPECT_EQ(series.range(), "to 3 nats");
    series.points = {{0, -4}, {5, -1.5}};
    EXPECT_EQ(series.range(), "-4 to -1.5 nats") << "0 is none of its values";
    series.points.clear();
    EXPECT_EQ(series.range(), "to 0 nats");
}

TEST(TimelineLayout, RowsLieBelowEachOtherAndEveryPlaceBelongsToAtMostOne) {
    TimelineContent content;
    for (const std::int64_t number : {5, 6}) {
        TraceLane lane;
        lane.lane = number;
        lane.depths = number == 5 ? 3 : 0;  // nothing recorded yet: a row all the same
        content.lanes.lanes.push_back(lane);
    }
    content.counters.push_back({"memory", "MB", {}});
    TimelineLayout layout;
    layout.set(content, {});
    ASSERT_EQ(layout.rows().size(), 5u);
    for (std::size_t i = 0; i < layout.rows().size(); ++i) {
        const TimelineRow& row = layout.rows()[i];
        EXPECT_EQ(layout.rowAt(row.y), &row);
        EXPECT_EQ(layout.rowAt(row.y + row.height - 1), &row);
        if (i > 0) {
            EXPECT_GE(row.y, layout.rows()[i - 1].y + layout.rows()[i - 1].height);
        }
        EXPECT_LE(row.y + row.height, layout.height());
    }
    EXPECT_EQ(layout.rowAt(-1), nullptr);
    EXPECT_EQ(layout.rowAt(layout.height()), nullptr);
    EXPECT_EQ(layout.rowOf(5, 2)->depth, 2);
    EXPECT_EQ(layout.rowOf(5, 9)->depth, 2) << "deeper than was known: the last";
    EXPECT_EQ(layout.rowOf(7, 0), nullptr);
    const int end = layout.rowOf(5, 2)->y + TimelineLayout::kBar;
    for (const int depth : {0, 1, 2}) EXPECT_EQ(layout.rowOf(5, depth)->end, end) << "each knows where its lane ends";
    EXPECT_EQ(layout.rowOf(6, 0)->end, layout.rowOf(6, 0)->y + TimelineLayout::kBar);
    EXPECT_EQ(layout.rows().back().end, layout.rows().back().y + TimelineLayout::kCounter);
    layout.set(content, {5});
    EXPECT_EQ(layout.rows().size(), 3u);
    EXPECT_EQ(layout.rowOf(5, 2)->depth, 0);
    EXPECT_EQ(layout.rowOf(5, 0)->end, TimelineLayout::kBar);
    layout.set({}, {});
    EXPECT_EQ(layout.height(), 0);
}

TEST(TimelineLayout, ACounterThatIsCutSaysSoBelowItsName) {
    CounterSeries series{"queue", "works", {}};
    for (std::size_t i = 0; i < CounterSeries::kMostPoints; ++i) series.add(static_cast<qint64>(i), i == 5 ? 7.0 : 1.0);
    EXPECT_EQ(series.range(), QString("to 7 works")) << "all of it is there";
    series.add(static_cast<qint64>(CounterSeries::kMostPoints), 9);
    EXPECT_EQ(series.points.size(), CounterSeries::kMostPoints);
    EXPECT_EQ(series.range(), QString("first 200000 values only, to 7 works"));
}

}  // namespace
}  // namespace stepscope
