// Stored sessions laid over each other in the window: two, twenty, one too many; in groups, sorted, read under the cursor, in every size.
#include <gtest/gtest.h>

#include <QComboBox>
#include <QFile>
#include <QHeaderView>
#include <QListView>
#include <QMenu>
#include <QSignalSpy>

#include "tests/widgets/gui/overlay/OverlayFixture.h"

namespace stepscope {
namespace {

TEST_F(WindowOverlayTest, LaysTwoSessionsOverEachOtherAndSaysHowFarTheyCanBeCompared) {
    const auto a = store(300, 4), b = store(400, 6);
    open();
    ASSERT_TRUE(listed(2));
    window().sessions().view().setCurrentIndex(window().sessions().view().model()->index(0, 0));
    window().sessions().view().selectAll();
    QTest::keyClick(&window().sessions().view(), Qt::Key_O);
    ASSERT_TRUE(allRead());
    ASSERT_EQ(overlay()->read(), 2U);
    EXPECT_EQ(page().overlayPane().title(), "2 sessions laid over each other");
    EXPECT_TRUE(page().overlayPane().remark().startsWith("Comparability: ")) << page().overlayPane().remark().toStdString();
    EXPECT_TRUE(page().overlayPane().remark().contains("of 100: "));
    EXPECT_EQ(overlay()->lineOf(a)->label, "layers=4, steps=300");
    window().resize(1280, 900);
    ASSERT_TRUE(drawn());
    for (std::size_t chart = 0; chart < LivePage::kCharts; ++chart) {
        if (page().chart(chart).visibleRegion().isEmpty()) continue;
        EXPECT_EQ(page().chart(chart).whyEmpty(), "") << chart;
        EXPECT_TRUE(hasColour(chart, overlay()->lineOf(b)->colour)) << chart;
    }
    EXPECT_NEAR(page().range().scale().high, 400, 20);
    EXPECT_TRUE(table().shownColumns().contains("layers"));
    EXPECT_FALSE(table().shownColumns().contains("seed")) << "it does not differ";
    EXPECT_EQ(table().rowCount(), 2);
    page().chart(0).setFocus();
    key(Qt::Key_Escape);
    EXPECT_EQ(overlay(), nullptr);
    EXPECT_FALSE(page().overlayPane().head().isVisible());
    EXPECT_TRUE(page().chart(0).content().help().contains("Diamonds")) << "the live chart is back";
    layOver({b, a});
    ASSERT_TRUE(allRead());
    EXPECT_EQ(overlay()->lineOf(b)->colour, 0U) << "opened again";
}

TEST_F(WindowOverlayTest, TakesTwentyAndSaysOneSentenceOfTwentyOneAndOfOne) {
    std::vector<std::int64_t> all;
    all.reserve(21);
    for (int i = 0; i < 21; ++i) all.push_back(store(120, 2 + i % 3, i, "run " + std::to_string(i)));
    open();
    layOver(all);
    EXPECT_EQ(overlay(), nullptr);
    EXPECT_TRUE(notice().contains("2 to 20 sessions") && notice().contains("21 are chosen")) << notice().toStdString();
    layOver({all[0]});
    EXPECT_TRUE(notice().contains("1 is chosen"));
    all.pop_back();
    layOver(all);
    ASSERT_TRUE(allRead());
    EXPECT_EQ(overlay()->read(), 20U);
    EXPECT_EQ(table().rowCount(), 20);
    EXPECT_TRUE(hasColour(0, 0));
    EXPECT_TRUE(hasColour(3, 13) || hasColour(3, 6)) << "the second chart that is looked at most";
}

TEST_F(WindowOverlayTest, GroupsByAKeyAndSortsAndHides) {
    for (int i = 0; i < 6; ++i) store(200, i < 3 ? 4 : 6, i);
    open();
    layOver({1, 2, 3, 4, 5, 6});
    ASSERT_TRUE(allRead());
    ASSERT_TRUE(groupsBy("layers"));
    ASSERT_EQ(overlay()->lines().size(), 2U);
    EXPECT_EQ(overlay()->lines()[0].label, "layers=4 (3)");
    EXPECT_TRUE(hasColour(0, 0) && hasColour(0, 3));
    table().sortByColumn(table().shownColumns().indexOf("median step"), Qt::DescendingOrder);
    EXPECT_GE(table().session(0), 4) << "six layers take longer";
    const int row = 0;
    const auto session = table().session(row);
    table().item(row, 0)->setCheckState(Qt::Unchecked);
    ASSERT_TRUE(QTest::qWaitFor([&] { return overlay()->find(session)->hidden; }));
    EXPECT_EQ(overlay()->lineOf(session)->runs.size(), 2U);
    Q_EMIT page().chart(0).hideWanted("layers=4", true);
    ASSERT_TRUE(drawn());
    EXPECT_FALSE(hasColour(0, 0));
    for (auto* axis : page().findChildren<QComboBox*>())
        if (axis->accessibleName() == "x axis") axis->setCurrentIndex(static_cast<int>(XAxis::Tokens));
    ASSERT_TRUE(drawn());
    EXPECT_NEAR(page().range().scale().high, 200.0 * 1536, 200.0 * 1536 / 15);
    EXPECT_EQ(page().chart(0).whyEmpty(), "");
    auto menu = table().columnsMenu();
    for (QAction* action : menu->actions())
        if (action->text() == "memory") action->setChecked(false);
    EXPECT_FALSE(table().shownColumns().contains("memory"));
    Q_EMIT page().chart(0).hideWanted("layers=4", false);
    EXPECT_FALSE(table().shownColumns().contains("memory")) << "the choice stays";
}

// A log of losses and times, as other programs write them: without settings, a machine, tokens and a learning rate.
TEST_F(WindowOverlayTest, LaysALogOfAnotherProgramOverARunAndDrawsOfItWhatItTells) {
    const auto ours = store(300, 4, 1, "ours");
    QByteArray text = "step,loss,time\n";
    for (int step = 1; step <= 240; ++step)
        text += QByteArray::number(step) + ',' + QByteArray::number(3.6 - 0.004 * step) + ',' + QByteArray::number(0.004 * step) + '\n';
    QFile log(folder.filePath("theirs.csv"));
    ASSERT_TRUE(log.open(QIODevice::WriteOnly));
    log.write(text);
    log.close();
    open();
    QSignalSpy imported(&place->import(), &ImportWiring::imported);
    place->import().import({log.fileName()});
    ASSERT_TRUE(QTest::qWaitFor([&] { return imported.count() == 1; }, 10'000));
    const auto theirs = static_cast<std::int64_t>(imported.at(0).at(0).toLongLong());
    ASSERT_TRUE(listed(2));
    // What was imported is shown first.
    ASSERT_TRUE(QTest::qWaitFor([&] { return place->stage().replaying() && place->stage().replay().history()->rows() == 240; }, 10'000));
    window().resize(1280, 900);
    layOver({ours, theirs});
    ASSERT_TRUE(allRead());
    ASSERT_EQ(overlay()->read(), 2U) << notice().toStdString();
    EXPECT_EQ(overlay()->find(theirs)->run->info->kind, SessionKind::Trace);
    EXPECT_FALSE(overlay()->find(theirs)->run->info->config.has_value());
    EXPECT_EQ(overlay()->lineOf(ours)->label, "ours");
    EXPECT_EQ(overlay()->lineOf(theirs)->label, "theirs") << "no key is known to differ";
    EXPECT_FALSE(page().overlayPane().grouping().isEnabled());
    const std::size_t ofOurs = overlay()->lineOf(ours)->colour, ofTheirs = overlay()->lineOf(theirs)->colour;
    QStringList named;
    for (const LegendItem& item : page().chart(0).legend()) named << item.name;
    EXPECT_EQ(named.join(','), "ours,theirs");
    EXPECT_TRUE(hasColour(0, ofOurs) && hasColour(0, ofTheirs)) << "both losses are drawn";
    const auto valueOf = [&](RunMetric metric, std::int64_t session) {
        for (const LineValue& value : page().chart(static_cast<std::size_t>(metric)).valuesAt(100))
            if (value.series.toStdString() == overlay()->lineOf(session)->series) return value.value;
        return kUnknown;
    };
    EXPECT_TRUE(std::isfinite(valueOf(RunMetric::Loss, theirs)) && std::isfinite(valueOf(RunMetric::StepTime, theirs)));
    for (const RunMetric metric : {RunMetric::LearningRate, RunMetric::Throughput}) {
        EXPECT_TRUE(std::isfinite(valueOf(metric, ours))) << static_cast<int>(metric);
        EXPECT_TRUE(std::isnan(valueOf(metric, theirs))) << static_cast<int>(metric) << ": nobody wrote it down";
        const auto chart = static_cast<std::size_t>(metric);
        if (page().chart(chart).visibleRegion().isEmpty()) continue;
        EXPECT_TRUE(hasColour(chart, ofOurs)) << chart;
        EXPECT_FALSE(hasColour(chart, ofTheirs)) << chart;
    }
    ASSERT_EQ(table().rowCount(), 2);
    const int row = table().session(0) == theirs ? 0 : 1;
    const auto cell = [&](const QString& title) {
        for (int column = 0; column < table().columnCount(); ++column)
            if (table().horizontalHeaderItem(column)->text() == title) return table().item(row, column)->text();
        return QString("no such column");
    };
    EXPECT_EQ(cell("name"), "theirs");
    EXPECT_EQ(cell("steps made"), QString("240"));
    EXPECT_EQ(cell("loss at equal tokens"), QString("–"));
    EXPECT_NE(cell("loss at equal time"), QString("–"));
    const QString remark = page().overlayPane().remark();
    EXPECT_TRUE(remark.contains("the settings of one of them are not known")) << remark.toStdString();
    EXPECT_TRUE(remark.contains("the machine of one of them is not known")) << remark.toStdString();
    picture(window(), "overlay-imported");
}

TEST_F(WindowOverlayTest, OfSeveralSaysHowFarTheTwoThatAreShownCanBeCompared) {
    const auto a = store(300, 4, 1), b = store(300, 4, 2), c = store(300, 6, 3);
    open();
    layOver({a, b, c});
    ASSERT_TRUE(allRead());
    const auto remark = [&] { return page().overlayPane().remark(); };
    const auto box = [&](std::int64_t session, Qt::CheckState state) {
        for (int row = 0; row < table().rowCount(); ++row)
            if (table().session(row) == session) return table().item(row, 0)->setCheckState(state);
        FAIL() << "there is no row of " << session;
    };
    EXPECT_FALSE(remark().contains("Comparability")) << remark().toStdString();
    box(c, Qt::Unchecked);
    const auto saysOf = [&](std::int64_t first, std::int64_t second) {
        const QString begin = QString("Sessions %1 and %2: Comparability: ").arg(first).arg(second);
        return QTest::qWaitFor([&] { return remark().startsWith(begin); }, 5000);
    };
    ASSERT_TRUE(saysOf(a, b)) << remark().toStdString();
    EXPECT_FALSE(remark().contains("layers")) << remark().toStdString();
    box(c, Qt::Checked);
    ASSERT_TRUE(QTest::qWaitFor([&] { return !remark().contains("Comparability"); }, 5000)) << remark().toStdString();
    // By its line in a chart, too.
    Q_EMIT page().chart(0).hideWanted(QString::fromStdString(overlay()->lineOf(a)->series), true);
    ASSERT_TRUE(saysOf(b, c)) << remark().toStdString();
    EXPECT_TRUE(remark().contains("not the same work a step (layers)")) << remark().toStdString();
    // And where one of them is deleted meanwhile.
    Q_EMIT page().chart(0).hideWanted(QString::fromStdString(overlay()->lineOf(a)->series), false);
    ASSERT_TRUE(QTest::qWaitFor([&] { return !remark().contains("Comparability"); }, 5000)) << remark().toStdString();
    Q_EMIT window().sessions().deleteRequested(b, "stored");
    ASSERT_TRUE(QTest::qWaitFor([&] { return overlay()->slots().size() == 2; }, 10'000));
    ASSERT_TRUE(saysOf(a, c)) << remark().toStdString();
}

TEST_F(WindowOverlayTest, TheListOfSessionsHasTheColourOfEachLineAndOfAGroupThatOfItsFirst) {
    for (int i = 0; i < 4; ++i) store(60, i < 2 ? 4 : 6, i);
    open();
    ASSERT_TRUE(listed(4));
    const auto hasPatch = [&](std::int64_t session, std::size_t colour) {
        const QListView& view = window().sessions().view();
        const QImage image = view.viewport()->grab().toImage();
        for (int row = 0; row < view.model()->rowCount(); ++row) {
            const QModelIndex at = view.model()->index(row, 0);
            if (at.data(SessionsModel::IdRole).toLongLong() != session) continue;
            const QRect area = view.visualRect(at);
            for (int y = area.top(); y < area.bottom(); ++y)
                for (int x = area.left(); x < area.left() + 24; ++x)
                    if (image.valid(x, y) && image.pixelColor(x, y).rgb() == overlayColour(colour, isDark(page().palette())).rgb()) return true;
        }
        return false;
    };
    EXPECT_FALSE(hasPatch(1, 0));
    layOver({1, 2, 3});
    ASSERT_TRUE(allRead());
    for (const std::int64_t session : {1, 2, 3}) {
        EXPECT_TRUE(hasPatch(session, overlay()->lineOf(session)->colour)) << session;
        EXPECT_FALSE(hasPatch(4, overlay()->lineOf(session)->colour)) << "it was not chosen";
    }
    ASSERT_TRUE(groupsBy("layers"));
    EXPECT_TRUE(hasPatch(1, 0) && hasPatch(2, 0) && hasPatch(3, 2));
    EXPECT_FALSE(hasPatch(2, 1)) << "its line is that of the group";
    Q_EMIT page().overlayPane().closeRequested();
    EXPECT_FALSE(hasPatch(1, 0)) << "the dot of its state is back";
}

TEST_F(WindowOverlayTest, ReadsTheValueOfEachLineUnderTheCursorAndMarksOnlyTheFlipsOfTheLineThere) {
    store(300, 4);
    store(300, 6);
    open();
    layOver({1, 2});
    ASSERT_TRUE(allRead());
    ChartView& loss = page().chart(0);
    const QRectF plot = loss.plot();
    const double x = 200, value = loss.valuesAt(x)[1].value;
    const QPoint at(static_cast<int>(plot.left() + loss.xScale().toShare(x) * plot.width()),
                    static_cast<int>(plot.bottom() - loss.yScale().toShare(value) * plot.height()));
    EXPECT_TRUE(overlay()->marks().empty());
    QMouseEvent move(QEvent::MouseMove, at, loss.mapToGlobal(at), Qt::NoButton, Qt::NoButton, Qt::NoModifier);
    QCoreApplication::sendEvent(&loss, &move);
    EXPECT_EQ(overlay()->marks().size(), 1U) << "amp was flipped in the session with six layers";
    int named = 0;
    for (const LegendItem& item : loss.legend()) named += !item.value.isEmpty();
    EXPECT_EQ(named, 2);
    EXPECT_TRUE(loss.readOutText().contains("layers=6")) << loss.readOutText().toStdString();
    picture(window(), "overlay-hover");
    QEvent leave(QEvent::Leave);
    QCoreApplication::sendEvent(&loss, &leave);
    EXPECT_TRUE(overlay()->marks().empty());
    table().selectRow(1);
    EXPECT_EQ(overlay()->marks().size(), 1U);
}

TEST_F(WindowOverlayTest, CanBeLookedAtInEverySizeLightAndDark) {
    for (int i = 0; i < 8; ++i) store(400 + 20 * i, i % 2 == 0 ? 4 : 6, i, i % 2 == 0 ? "four layers" : "six layers");
    open();
    ASSERT_TRUE(listed(8));
    for (const Theme theme : {Theme::Light, Theme::Dark}) {
        applyStyle(*qApp, theme);
        for (const QSize size : {QSize(1024, 640), QSize(1280, 800), QSize(1920, 1080)}) {
            window().resize(size);
            for (const std::size_t many : {2, 8}) {
                std::vector<std::int64_t> sessions;
                for (std::size_t i = 1; i <= many; ++i) sessions.push_back(static_cast<std::int64_t>(i));
                layOver(sessions);
                ASSERT_TRUE(allRead());
                page().showStep(100);
                const QString name = QString("overlay-%1-%2-%3").arg(theme == Theme::Light ? "light" : "dark").arg(size.width()).arg(many);
                picture(window(), name);
                if (many != 8) continue;
                page().overlayPane().grouping().setCurrentIndex(page().overlayPane().grouping().findData("layers"));
                Q_EMIT page().overlayPane().groupRequested("layers");
                ASSERT_TRUE(drawn());
                picture(window(), name + "-grouped");
            }
            for (const QWidget* part : std::initializer_list<const QWidget*>{&page().overlayPane().head(), &table()}) {
                EXPECT_TRUE(part->isVisible());
                EXPECT_LE(part->mapTo(&page(), QPoint(part->width(), 0)).x(), page().width() + 1);
            }
            EXPECT_GE(table().viewport()->height(), 2 * table().verticalHeader()->defaultSectionSize());
        }
    }
    applyStyle(*qApp, Theme::Light);
}

}  // namespace
}  // namespace stepscope
