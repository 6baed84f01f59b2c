// Two captures side by side in the window, of two sessions and of one: locked at their first steps, a click finds what stands on the other side,
// another capture can be chosen, and where there is nothing to show a sentence says what would fill it.
#include <gtest/gtest.h>

#include <QComboBox>
#include <QLabel>
#include <QPushButton>
#include <QTableWidget>

#include "WindowFixture.h"
#include "core/base/StepPlace.h"
#include "core/events/Presets.h"
#include "core/trace/SliceCodec.h"
#include "sessions/record/Recorder.h"
#include "widgets/panels/sessions/CapturesDialog.h"
#include "widgets/panels/sessions/SessionsPanel.h"
#include "widgets/style/Theme.h"
#include "widgets/timeline/LockedTimelines.h"
#include "widgets/timeline/SideBySideDialog.h"

namespace stepscope {
namespace {

constexpr std::int64_t kMs = 1'000'000;

struct CapturePlan {
    std::int64_t beginMs = 0, stepMs = 0, firstStep = 0, steps = 0;
};

class WindowSideBySideTest : public WindowTest {
protected:
    // Steps with a product in each of three layers, forward and backward, and an optimizer.
    void record(const std::string& name, const std::vector<CapturePlan>& captures) {
        SessionInfo info;
        info.name = name;
        info.config = *presetConfig("tiny-cpu");
        auto recorder = Recorder::open({.path = options.database.toStdString()}, info);
        ASSERT_TRUE(recorder) << recorder.error().sentence;
        for (const CapturePlan& plan : captures) {
            SliceBlock block{.thread = {.process = 1, .thread = 5, .name = "trainer"},
                             .strings = {"", "step", "aten::mm", "aten::gelu", "optimizer", "forward", "backward", toString(Role::AttentionQkv),
                                         toString(Role::MlpUp)}};
            const std::int64_t length = plan.stepMs * kMs;
            for (std::int64_t step = 0; step < plan.steps; ++step) {
                const std::int64_t at = plan.beginMs * kMs + step * length;
                const auto put = [&](double from, double share, std::uint32_t what, std::uint32_t phase, std::uint32_t role, std::int32_t depth,
                                     std::int32_t layer, SliceKind kind) {
                    block.slices.push_back({.start = at + static_cast<std::int64_t>(from * static_cast<double>(length)),
                                            .duration = static_cast<std::int64_t>(share * static_cast<double>(length)),
                                            .name = what,
                                            .phase = phase,
                                            .role = role,
                                            .depth = depth,
                                            .layer = layer,
                                            .kind = kind,
                                            .step = plan.firstStep + step});
                };
                put(0, 0.98, 1, 0, 0, 0, -1, SliceKind::Step);
                for (std::int32_t layer = 0; layer < 3; ++layer) {
                    put(0.02 + 0.1 * layer, 0.05, 2, 5, 7, 1, layer, SliceKind::Operation);
                    put(0.075 + 0.1 * layer, 0.03, 3, 5, 8, 1, layer, SliceKind::Operation);
                }
                for (std::int32_t layer = 0; layer < 3; ++layer) put(0.35 + 0.15 * layer, 0.12, 2, 6, 7, 1, 2 - layer, SliceKind::Backward);
                put(0.85, 0.1, 4, 0, 0, 1, -1, SliceKind::Phase);
            }
            (*recorder)->publishChunk(std::make_shared<const Chunk>(encodeSlices(block)));
            const std::int64_t end = plan.beginMs * kMs + plan.steps * length;
            (*recorder)->publish(CaptureDone{
                .step = plan.firstStep + plan.steps - 1, .at = {end}, .duration = {end}, .firstStep = plan.firstStep, .steps = plan.steps});
        }
        ASSERT_TRUE((*recorder)->finish());
    }
    void recordTwo() {
        record("slow", {{1000, 30, 10, 2}, {3000, 30, 50, 3}});
        record("fast", {{500, 20, 10, 2}, {700, 20, 400, 5}});
    }
    SideBySideDialog& dialog() { return place->sideBySide().dialog(); }
    LockedTimelines& both() { return dialog().both(); }
    bool says(const QString& words) {
        return QTest::qWaitFor([&] { return both().sentence().contains(words); }, 8000);
    }
    bool sharp() {
        return QTest::qWaitFor([&] { return both().a().styles() > 0 && both().a().sharp() && both().b().styles() > 0 && both().b().sharp(); }, 5000);
    }
    static qint64 laneOf(TimelineView& view) { return view.content().lanes.lanes.front().lane; }
};

TEST_F(WindowSideBySideTest, TwoSessionsAreLockedAtTheFirstStepsOfTheirNewestCaptures) {
    recordTwo();
    options.size = {1280, 800};
    open();
    Q_EMIT window().sessions().sideBySideRequested(1, 2);
    ASSERT_TRUE(says("Locked together")) << both().sentence().toStdString();
    EXPECT_TRUE(both().sentence().contains("step 50") && both().sentence().contains("step 400")) << both().sentence().toStdString();
    ASSERT_TRUE(sharp());
    const auto offset = static_cast<double>((700 - 3000) * kMs);
    EXPECT_NEAR(both().offset(), offset, 1);
    EXPECT_EQ(both().a().nsPerPixel(), both().b().nsPerPixel());
    // The shorter one is shown as far as the longer one reaches.
    EXPECT_GE(both().a().nsPerPixel() * both().a().lanesRect().width(), static_cast<double>(100 * kMs));
    both().a().setView(static_cast<double>(3010 * kMs), 40'000);
    EXPECT_NEAR(both().b().from() - both().a().from(), offset, 1);
    both().b().setView(static_cast<double>(720 * kMs), 50'000);
    EXPECT_NEAR(both().b().from() - both().a().from(), offset, 1);
    EXPECT_EQ(both().a().nsPerPixel(), 50'000);
    ASSERT_EQ(dialog().captures(1)->count(), 2);
    EXPECT_EQ(dialog().captures(1)->currentIndex(), 1);
    EXPECT_TRUE(dialog().captures(1)->itemText(0).contains("steps 10 to 11")) << dialog().captures(1)->itemText(0).toStdString();
    Q_EMIT dialog().captureChosen(1, 0);
    ASSERT_TRUE(says("B from step 10")) << both().sentence().toStdString();
    EXPECT_NEAR(both().offset(), static_cast<double>((500 - 3000) * kMs), 1);
}

TEST_F(WindowSideBySideTest, AClickFindsWhatStandsOnTheOtherSideAndEscapeLetsGoOfIt) {
    recordTwo();
    options.size = {1280, 800};
    open();
    Q_EMIT window().sessions().sideBySideRequested(1, 2);
    ASSERT_TRUE(says("Locked together")) << both().sentence().toStdString();
    ASSERT_TRUE(sharp());
    // The backward product of layer 1 in the second step of A: B's is of the second step too.
    Q_EMIT both().a().sliceWanted(laneOf(both().a()), 1, 3000 * kMs + 30 * kMs + static_cast<qint64>(0.55 * 30 * kMs), 0);
    ASSERT_TRUE(says("in A,")) << both().sentence().toStdString();
    EXPECT_TRUE(both().sentence().contains("step 2 of the capture")) << both().sentence().toStdString();
    ASSERT_TRUE(both().b().selected().has_value());
    EXPECT_EQ(both().b().selected()->slice.layer, 1);
    EXPECT_EQ(both().b().selected()->slice.step, 401);
    EXPECT_EQ(both().b().selected()->phase, "backward");
    EXPECT_NEAR(both().b().xOf(both().b().selected()->slice.start), both().a().xOf(both().a().selected()->slice.start), 0.5);
    both().a().setFocus();
    QTest::keyClick(&both().a(), Qt::Key_Escape);
    EXPECT_FALSE(both().a().selected().has_value());
    EXPECT_FALSE(both().b().selected().has_value());
    EXPECT_TRUE(dialog().isVisible()) << "the first Esc is the selection's";
    EXPECT_NEAR(both().offset(), static_cast<double>((700 - 3000) * kMs), 1);
    // B's fifth step has no partner.
    Q_EMIT both().b().sliceWanted(laneOf(both().b()), 0, 700 * kMs + 4 * 20 * kMs + kMs, 0);
    ASSERT_TRUE(says("in A nothing stands there")) << both().sentence().toStdString();
    Q_EMIT both().a().sumsWanted(3000 * kMs, 3030 * kMs);
    EXPECT_TRUE(says("11 slices begin in it in A")) << both().sentence().toStdString();
}

TEST_F(WindowSideBySideTest, TwoCapturesOfOneSessionAreChosenInItsList) {
    recordTwo();
    open();
    Q_EMIT window().sessions().capturesRequested(1, "slow");
    CapturesDialog& captures = place->captures().dialog();
    ASSERT_TRUE(QTest::qWaitFor([&] { return captures.table()->rowCount() == 2; }, 8000)) << captures.sentence().toStdString();
    captures.table()->selectRow(1);
    ASSERT_TRUE(captures.besideButton()->isEnabled());
    QTest::mouseClick(captures.besideButton(), Qt::LeftButton);
    ASSERT_TRUE(says("Locked together")) << both().sentence().toStdString();
    EXPECT_NEAR(both().offset(), static_cast<double>((3000 - 1000) * kMs), 1) << "the older one is A";
    EXPECT_EQ(dialog().captures(0)->currentIndex(), 0);
    EXPECT_EQ(dialog().captures(1)->currentIndex(), 1);
}

TEST_F(WindowSideBySideTest, WhatHasNothingToShowSaysWhatWouldFillIt) {
    recordTwo();
    record("without captures", {});
    open();
    Q_EMIT window().sessions().sideBySideRequested(1, 3);
    ASSERT_TRUE(says("Session 3 has no capture with operations")) << both().sentence().toStdString();
    EXPECT_FALSE(both().a().isVisible());
    Q_EMIT window().sessions().sideBySideRequested(1, 99);
    ASSERT_TRUE(says("no session 99")) << both().sentence().toStdString();
    Q_EMIT window().sessions().sideBySideRequested(2, 1);
    ASSERT_TRUE(says("Locked together")) << both().sentence().toStdString();
    EXPECT_TRUE(both().a().isVisible());
    EXPECT_TRUE(sharp()) << "what was refused before left nothing behind";
}

TEST_F(WindowSideBySideTest, IsReadableInASmallWindowAndInALargeOne) {
    recordTwo();
    for (const QSize size : {QSize(1024, 640), QSize(1280, 800), QSize(1920, 1080)}) {
        options.size = size;
        open();
        Q_EMIT window().sessions().sideBySideRequested(1, 2);
        ASSERT_TRUE(says("Locked together")) << both().sentence().toStdString();
        EXPECT_LE(dialog().width(), size.width());
        EXPECT_LE(dialog().height(), size.height());
        EXPECT_GE(both().a().height(), 150);
        ASSERT_TRUE(sharp());
        Q_EMIT both().a().sliceWanted(laneOf(both().a()), 1, 3000 * kMs + 30 * kMs + static_cast<qint64>(0.55 * 30 * kMs), 0);
        ASSERT_TRUE(says("in A,")) << both().sentence().toStdString();
        for (const Theme theme : {Theme::Light, Theme::Dark}) {
            applyStyle(*qApp, theme);
            QTest::qWait(150);
            // The sentence is read whole: its label is as high as its lines, and leaves all other room to the timelines.
            EXPECT_TRUE(QTest::qWaitFor([&] {
                for (const auto* label : dialog().findChildren<QLabel*>())
                    if (label->text() == both().sentence())
                        return label->height() >= label->heightForWidth(label->width()) &&
                               label->height() <= 2 * label->heightForWidth(label->width());
                return false;
            })) << size.width();
            picture(dialog(), QString("side-by-side-%1-%2").arg(theme == Theme::Dark ? "dark" : "light").arg(size.width()));
        }
        applyStyle(*qApp, Theme::Light);
        place = nullptr;
    }
}

}  // namespace
}  // namespace stepscope
