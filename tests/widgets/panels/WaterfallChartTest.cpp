// The waterfall of the page Compare by itself: gone through by keys, and what they are at is said.
#include <gtest/gtest.h>

#include <QTest>

#include "widgets/panels/compare/WaterfallChart.h"

namespace stepscope {
namespace {

TEST(WaterfallChart, IsGoneThroughByKeysThatSayTheBarTheyAreAt) {
    WaterfallResult result;
    result.measuredA = 100;
    result.measuredB = 80;
    ClassDifference products;
    products.kind = WorkClass::MatrixProducts;
    products.a = 60;
    products.b = 42;
    result.classes.push_back(products);
    WaterfallChart chart;
    chart.setResult(result);
    chart.resize(chart.sizeHint());
    chart.show();
    EXPECT_NE(chart.focusPolicy() & Qt::TabFocus, 0);
    EXPECT_TRUE(chart.accessibleDescription().contains("Up and Down")) << chart.accessibleDescription().toStdString();
    const int last = static_cast<int>(chart.bars().size()) - 1;
    ASSERT_GE(last, 3) << "A, a kind of work, what is not explained, B";
    QTest::keyClick(&chart, Qt::Key_Down);
    EXPECT_EQ(chart.chosen(), 0);
    EXPECT_TRUE(chart.accessibleDescription().startsWith("A step of A takes")) << chart.accessibleDescription().toStdString();
    QTest::keyClick(&chart, Qt::Key_Down);
    EXPECT_TRUE(chart.accessibleDescription().startsWith("matrix products: ")) << chart.accessibleDescription().toStdString();
    for (int i = 0; i < 20; ++i) QTest::keyClick(&chart, Qt::Key_Down);
    EXPECT_EQ(chart.chosen(), last);
    QTest::keyClick(&chart, Qt::Key_Up);
    EXPECT_TRUE(chart.accessibleDescription().startsWith("not explained: ")) << chart.accessibleDescription().toStdString();
    EXPECT_FALSE(chart.grab().isNull());
    chart.setResult({});
    EXPECT_EQ(chart.chosen(), -1);
}

}  // namespace
}  // namespace stepscope
