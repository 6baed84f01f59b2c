// The page Operations by itself: rows that sort by what they mean, a filter over names and places, ways to group, and a sentence for each state.
#include <gtest/gtest.h>

#include <QComboBox>
#include <QHeaderView>
#include <QLineEdit>
#include <QPushButton>
#include <QSignalSpy>
#include <QTableView>
#include <QTest>

#include "widgets/panels/operations/OperationsPage.h"
#include "widgets/panels/operations/OperationsTable.h"

namespace stepscope {
namespace {

OperationsView someView() {
    SliceBlock block;
    block.strings = {"", "aten::mm", "aten::gelu", "aten::add", "mlp/up", "head/loss"};
    block.slices = {{.start = 0, .duration = 9'000'000, .name = 1, .role = 4, .layer = 1},
                    {.start = 0, .duration = 11'000'000, .name = 2, .role = 4, .layer = 0},
                    {.start = 0, .duration = 200'000, .name = 3, .role = 5},
                    {.start = 0, .duration = 30'000'000, .kind = SliceKind::Step, .step = 1}};
    OperationSummary summary;
    summary.add(block);
    OperationsView view{.session = 7, .totals = summary.totals()};
    view.operations = summary.rows(SummaryBy::Operation, SummarySort::Self);
    view.layers = summary.rows(SummaryBy::Layer, SummarySort::Self);
    view.roles = summary.rows(SummaryBy::Role, SummarySort::Self);
    return view;
}

std::vector<std::string> names(const OperationsPage& page) {
    std::vector<std::string> all;
    const auto* rows = page.table()->model();
    for (int row = 0; row < rows->rowCount(); ++row) all.push_back(rows->index(row, 0).data().toString().toStdString());
    return all;
}

TEST(OperationsPage, SortsByNumbersAndNotByTheirText) {
    OperationsPage page;
    page.setView(someView());
    EXPECT_EQ(names(page), (std::vector<std::string>{"aten::gelu", "aten::mm", "aten::add"})) << "11 ms before 9 ms before 200 us";
    page.table()->sortByColumn(OperationsTable::Self, Qt::AscendingOrder);
    EXPECT_EQ(names(page).front(), "aten::add");
    page.table()->sortByColumn(OperationsTable::Name, Qt::AscendingOrder);
    EXPECT_EQ(names(page).front(), "aten::add");
}

TEST(OperationsPage, FiltersByNameLayerAndRole) {
    OperationsPage page;
    page.setView(someView());
    page.filter()->setText("MLP");
    EXPECT_EQ(names(page).size(), 2u);
    page.filter()->setText("mlp layer 1");
    EXPECT_EQ(names(page), std::vector<std::string>{"aten::mm"});
    page.filter()->setText("nothing like it");
    EXPECT_TRUE(names(page).empty());
}

TEST(OperationsPage, GroupsByLayerAndByPartOfTheModel) {
    OperationsPage page;
    page.setView(someView());
    page.grouping()->setCurrentIndex(1);
    EXPECT_EQ(names(page), (std::vector<std::string>{"layer 0", "layer 1", "head/loss"}));
    page.grouping()->setCurrentIndex(2);
    EXPECT_EQ(names(page), (std::vector<std::string>{"mlp/up", "head/loss"}));
}

TEST(OperationsPage, NamesHaveTheRoomThatOtherColumnsLeaveUntilAPersonDrawsTheirs) {
    OperationsPage page;
    page.resize(1400, 500);
    page.setView(someView());
    page.show();
    QHeaderView* heads = page.table()->horizontalHeader();
    const int letter = page.fontMetrics().averageCharWidth();
    EXPECT_TRUE(QTest::qWaitFor([&] { return heads->sectionSize(OperationsTable::Name) > 40 * letter; })) << heads->sectionSize(0);
    EXPECT_TRUE(QTest::qWaitFor([&] { return heads->length() <= page.table()->viewport()->width(); }));
    page.resize(500, 500);
    EXPECT_TRUE(QTest::qWaitFor([&] { return heads->sectionSize(OperationsTable::Name) < 30 * letter; })) << heads->sectionSize(0);
    heads->resizeSection(OperationsTable::Name, 333);
    page.resize(1400, 500);
    QCoreApplication::processEvents();
    EXPECT_EQ(heads->sectionSize(OperationsTable::Name), 333);
}

TEST(OperationsPage, OneStepIsSaidAsOne) {
    OperationsPage page;
    page.setView(someView());
    EXPECT_TRUE(page.sentence().contains("3 calls of operations in 1 captured step, ")) << page.sentence().toStdString();
}

TEST(OperationsPage, SaysWhyItCountsMoreCallsThanOperationsAStep) {
    OperationsPage page;
    const auto says = [&] {
        return std::ranges::any_of(page.findChildren<QWidget*>(), [](const QWidget* one) { return one->toolTip().contains("“Operations a step”"); });
    };
    EXPECT_FALSE(says()) << "nothing is counted";
    page.setView(someView());
    EXPECT_TRUE(says());
}

TEST(OperationsPage, NamesOfAStrangersTraceAreSaidLetterByLetter) {
    SliceBlock block;
    block.strings = {"", "fill<b>"};
    block.slices = {{.start = 0, .duration = 9'000'000, .name = 1}};
    OperationSummary summary;
    summary.add(block);
    OperationsView view{.session = 7, .totals = summary.totals()};
    view.operations = summary.rows(SummaryBy::Operation, SummarySort::Self);
    OperationsPage page;
    page.setView(view);
    ASSERT_EQ(names(page), std::vector<std::string>{"fill<b>"});
    const QString tip = page.table()->model()->index(0, 0).data(Qt::ToolTipRole).toString();
    EXPECT_TRUE(tip.startsWith("<p>fill&lt;b&gt;<br>shortest ")) << tip.toStdString();
}

TEST(OperationsPage, PromisesTheTimelineOnlyWhereARowLeadsThere) {
    OperationsPage page;
    page.setView(someView());
    QSignalSpy wanted(&page, &OperationsPage::showInTimeline);
    for (const int by : {0, 1, 2, 3, 0}) {
        page.grouping()->setCurrentIndex(by);
        wanted.clear();
        if (page.table()->model()->rowCount() > 0) Q_EMIT page.table()->activated(page.table()->model()->index(0, 0));
        EXPECT_EQ(wanted.count(), by == 0 ? 1 : 0) << by;
        EXPECT_EQ(page.table()->toolTip().contains("timeline"), by == 0) << by;
    }
}

TEST(OperationsPage, HasASentenceForEachState) {
    OperationsPage page;
    EXPECT_TRUE(page.sentence().contains("start a run")) << page.sentence().toStdString();
    EXPECT_FALSE(page.captureButton()->isEnabled());
    page.setReady(true);
    EXPECT_TRUE(page.captureButton()->isEnabled());
    QSignalSpy asked(&page, &OperationsPage::captureRequested);
    page.captureButton()->click();
    ASSERT_EQ(asked.size(), 1);
    EXPECT_EQ(asked[0][0].toInt(), 3);
    page.setWaiting(true);
    EXPECT_FALSE(page.captureButton()->isEnabled()) << "once at a time";
    EXPECT_EQ(page.sentence(), "Waiting for the steps.");
    page.setWaiting(false);
    page.setView({.session = 4});
    EXPECT_TRUE(page.sentence().contains("No step of session 4")) << page.sentence().toStdString();
    EXPECT_FALSE(page.exportButton()->isEnabled());
    page.setView({.session = 4, .problem = "A block of slices is damaged at byte 7: the bytes end within a number."});
    EXPECT_TRUE(page.sentence().contains("byte 7"));
    OperationsView lossy = someView();
    lossy.totals.lost = 5;
    page.setView(lossy);
    EXPECT_TRUE(page.sentence().contains("5 more could not be kept")) << page.sentence().toStdString();
    lossy.whose = "Counted is the first of 3 workers; the timeline has all of them.";
    page.setView(lossy);
    EXPECT_TRUE(page.sentence().contains("first of 3 workers; the timeline has all of them. 5 more")) << page.sentence().toStdString();
    EXPECT_TRUE(page.exportButton()->isEnabled());
    page.setReady(false);
    EXPECT_FALSE(page.captureButton()->isEnabled());
}

TEST(OperationsPage, ShowsATraceThatHasKernelsAndNoOperations) {
    SliceBlock block;
    block.strings = {"", "ampere_sgemm_128x64_tn", "ampere_sgemm_128x64_nn"};
    block.slices = {{.start = 0, .duration = 9'000'000, .name = 1, .kind = SliceKind::Kernel},
                    {.start = 9'000'000, .duration = 1'000'000, .name = 2, .kind = SliceKind::Kernel}};
    OperationSummary summary;
    summary.add(block);
    OperationsView view{.session = 9, .totals = summary.totals()};
    view.kernels = summary.rows(SummaryBy::Kernel, SummarySort::Total);
    OperationsPage page;
    page.show();
    page.setView(view);
    EXPECT_TRUE(page.exportButton()->isEnabled());
    EXPECT_TRUE(page.grouping()->isVisible());
    EXPECT_TRUE(page.table()->isVisible());
    EXPECT_EQ(page.grouping()->currentText(), "by kernel");
    EXPECT_EQ(names(page).size(), 2u);
    EXPECT_TRUE(page.sentence().startsWith("2 kernels and copies took")) << page.sentence().toStdString();
    page.grouping()->setCurrentIndex(0);
    EXPECT_TRUE(page.sentence().contains("by kernel")) << page.sentence().toStdString();
    EXPECT_EQ(page.table()->textElideMode(), Qt::ElideMiddle) << "what tells these two apart is their end";
}

}  // namespace
}  // namespace stepscope
