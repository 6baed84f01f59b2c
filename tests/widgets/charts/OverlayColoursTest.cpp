// The colours of up to 20 runs laid over each other: all of them different, seen on the ground of either theme, the first two those of A and B.
#include <gtest/gtest.h>

#include "core/analysis/overlay/RunsOverlay.h"
#include "widgets/style/SeriesColours.h"

namespace stepscope {
namespace {

TEST(OverlayColours, AreDifferentAndSeenOnTheGroundOfEitherTheme) {
    for (const bool dark : {false, true}) {
        const QColor ground = dark ? QColor(0x1b1d20) : QColor(Qt::white);
        for (std::size_t place = 0; place < RunsOverlay::kMost; ++place) {
            EXPECT_GE(contrast(overlayColour(place, dark), ground), 3.0) << place << (dark ? " dark" : " light");
            for (std::size_t other = 0; other < place; ++other) {
                const QColor a = overlayColour(place, dark), b = overlayColour(other, dark);
                const int apart = std::abs(a.red() - b.red()) + std::abs(a.green() - b.green()) + std::abs(a.blue() - b.blue());
                EXPECT_TRUE(apart >= 24 || overlayDash(place) != overlayDash(other)) << place << ' ' << other;
                EXPECT_NE(a, b);
            }
        }
    }
    EXPECT_EQ(overlayColour(0, false), seriesColour(SeriesRole::A, false));
    EXPECT_EQ(overlayColour(1, false), seriesColour(SeriesRole::B, false));
    EXPECT_EQ(overlayDash(6), Qt::SolidLine);
    EXPECT_EQ(overlayDash(7), Qt::DashLine);
    EXPECT_EQ(overlayDash(19), Qt::DotLine);
}

}  // namespace
}  // namespace stepscope
