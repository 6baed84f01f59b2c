// The strip after a flip while its steps are being measured: what has not changed is left as it is, and no figure stays that is no longer there.
#include <gtest/gtest.h>

#include <QToolButton>

#include "widgets/panels/ElidedLabel.h"
#include "widgets/panels/ToneLabel.h"
#include "widgets/panels/run/FlipStrip.h"

namespace stepscope {
namespace {

FlipStripReading readingOf(const QString& note, int figures) {
    FlipStripReading reading{"Mixed precision: off → bf16", note, {}};
    for (int i = 0; i < figures; ++i)
        reading.figures.push_back({QString("figure %1").arg(i), "20.0 ms → …", "", "", FlipStripReading::Verdict::Neutral});
    return reading;
}

QStringList shown(const FlipStrip& strip) {
    QStringList texts;
    for (const auto* label : strip.findChildren<QLabel*>())
        if (label->isVisibleTo(&strip) && !label->text().isEmpty()) texts << label->text();
    return texts;
}

TEST(FlipStrip, KeepsItsLabelsWhileTheStepsAreCounted) {
    FlipStrip strip;
    strip.setReading(readingOf("measuring: 5 of 20", 4));
    const auto before = strip.findChildren<QLabel*>();
    strip.setReading(readingOf("measuring: 10 of 20", 4));
    EXPECT_EQ(strip.findChildren<QLabel*>(), before) << "new labels would lay out the whole page anew";
    EXPECT_TRUE(shown(strip).contains("measuring: 10 of 20"));
}

TEST(FlipStrip, ShowsAsManyFiguresAsAReadingHas) {
    FlipStrip strip;
    strip.setReading(readingOf("measured", 5));
    EXPECT_TRUE(shown(strip).contains("figure 4"));
    strip.setReading(readingOf("measured", 4));
    EXPECT_TRUE(shown(strip).contains("figure 3"));
    EXPECT_FALSE(shown(strip).contains("figure 4"));
    strip.setReading(readingOf("not compared", 0));
    EXPECT_EQ(shown(strip), (QStringList{"Mixed precision: off → bf16", "not compared"}));
}

TEST(FlipStrip, ClosedByAPersonComesBackOnlyWithSomethingElse) {
    FlipStrip strip;
    strip.setReading(readingOf("measuring: 5 of 20", 4));
    strip.findChild<QToolButton*>()->click();
    EXPECT_TRUE(strip.isHidden());
    strip.setReading(readingOf("measuring: 10 of 20", 4));
    EXPECT_TRUE(strip.isHidden()) << "the same flip, ten steps later";
    FlipStripReading other = readingOf("measuring: 5 of 20", 4);
    other.heading = "Flash attention: off → on";
    strip.setReading(other);
    EXPECT_FALSE(strip.isHidden());
    strip.findChild<QToolButton*>()->click();
    strip.reopen();  // the same switch was flipped once more
    strip.setReading(other);
    EXPECT_FALSE(strip.isHidden());
    EXPECT_TRUE(shown(strip).contains("Flash attention: off → on"));
}

TEST(FlipStrip, PutsAReasonThatIsLongerThanItsRowBelowTheFigures) {
    const QString reason = "inconclusive: what was measured before the flip and after it overlaps, and other programs used the machine meanwhile";
    FlipStrip strip;
    strip.setReading(readingOf(reason, 4));
    strip.resize(620, 110);
    QCoreApplication::processEvents();
    const ElidedLabel* shows = nullptr;
    for (const auto* label : strip.findChildren<ElidedLabel*>())
        if (label->isVisible() && label->text() == reason) shows = label;
    ASSERT_NE(shows, nullptr);
    EXPECT_FALSE(shows->isElided());
    EXPECT_TRUE(strip.rect().contains(shows->geometry()));
    strip.resize(2000, 110);
    QCoreApplication::processEvents();
    EXPECT_EQ(shown(strip).count(reason), 1);
}

}  // namespace
}  // namespace stepscope
