// The guide: every chapter is reachable, every link leads somewhere, the search finds and marks.
#include <gtest/gtest.h>

#include <QApplication>
#include <QDir>
#include <QFile>
#include <QLineEdit>
#include <QListWidget>
#include <QRegularExpression>
#include <QTest>
#include <QTextBrowser>
#include <QTextTable>
#include <set>

#include "widgets/panels/guide/GuidePanel.h"
#include "widgets/style/Theme.h"

namespace stepscope {
namespace {

TEST(Guide, ListsEveryChapterThereIsOnce) {
    std::set<QString> listed;
    for (const auto& chapter : readGuide()) {
        EXPECT_TRUE(listed.insert(chapter.file).second) << chapter.file.toStdString();
        EXPECT_TRUE(chapter.text.startsWith("# ")) << chapter.file.toStdString();
        EXPECT_FALSE(chapter.text.contains("<!--")) << chapter.file.toStdString();
    }
    std::set<QString> there;
    for (const QString& file : QDir(":/guide").entryList()) there.insert(file);
    there.erase("README.md");
    EXPECT_EQ(listed, there);
}

TEST(Guide, EveryLinkLeadsToAChapter) {
    static const QRegularExpression link(R"(\]\(([^)]+)\))");
    std::set<QString> files;
    for (const auto& chapter : readGuide()) files.insert(chapter.file);
    int links = 0;
    for (const auto& chapter : readGuide())
        for (auto all = link.globalMatch(chapter.text); all.hasNext(); ++links) {
            const QString target = all.next().captured(1);
            const bool picture = target.startsWith("qrc:/screenshots/") && QFile::exists(target.mid(3));
            EXPECT_TRUE(target.startsWith("http") || files.contains(target) || picture) << chapter.file.toStdString() << ": " << target.toStdString();
        }
    EXPECT_GT(links, 0);
}

TEST(Guide, ShowsTheChapterThatIsChosenOrLinkedTo) {
    GuidePanel guide;
    EXPECT_EQ(guide.chapter(), "first-run.md");
    guide.showChapter("sessions.md");
    EXPECT_TRUE(guide.text().toPlainText().startsWith("Sessions and replay"));
    Q_EMIT guide.text().anchorClicked(QUrl("checkpoints.md"));
    EXPECT_EQ(guide.chapter(), "checkpoints.md");
    guide.findChild<QListWidget*>()->setCurrentRow(1);
    EXPECT_EQ(guide.chapter(), "charts.md");
}

TEST(Guide, SearchLeavesTheChaptersThatHaveTheWordsAndMarksEveryPlace) {
    GuidePanel guide;
    const std::size_t all = guide.chaptersShown();
    guide.search("umask");
    EXPECT_EQ(guide.chaptersShown(), 1u);
    EXPECT_EQ(guide.chapter(), "checkpoints.md");
    EXPECT_EQ(guide.text().textCursor().selectedText(), "umask");
    guide.search("loss");
    EXPECT_GT(guide.chaptersShown(), 3u);
    EXPECT_EQ(guide.text().extraSelections().size(), guide.text().toPlainText().count("loss", Qt::CaseInsensitive));
    guide.search("no such words anywhere");
    EXPECT_EQ(guide.chaptersShown(), 0u);
    EXPECT_FALSE(guide.chapter().isEmpty()) << "the text one was reading stays";
    guide.search("");
    EXPECT_EQ(guide.chaptersShown(), all);
    EXPECT_TRUE(guide.text().extraSelections().isEmpty());
}

TEST(Guide, ReturnGoesFromPlaceToPlaceThroughAllChaptersAndRoundAgain) {
    GuidePanel guide;
    guide.search("memorise");
    std::set<QString> visited;
    const QString first = guide.chapter();
    int places = 0;
    do {
        EXPECT_EQ(guide.text().textCursor().selectedText().toLower(), "memorise");
        visited.insert(guide.chapter());
        guide.findNext();
        ASSERT_LT(++places, 100);
    } while (guide.chapter() == first || visited.size() < guide.chaptersShown());
    EXPECT_EQ(visited.size(), guide.chaptersShown());
    EXPECT_GT(visited.size(), 1u);
}

TEST(Guide, TablesFollowLightAndDark) {
    const auto line = [](GuidePanel& guide) {
        for (QTextFrame* frame : guide.text().document()->rootFrame()->childFrames())
            if (const auto* table = qobject_cast<QTextTable*>(frame)) return table->format().borderBrush().color();
        return QColor();
    };
    GuidePanel guide;
    guide.show();
    const QColor light = line(guide);
    ASSERT_TRUE(light.isValid());
    applyStyle(*qApp, Theme::Dark);
    QCoreApplication::processEvents();
    const QColor dark = line(guide);
    applyStyle(*qApp, Theme::Light);
    EXPECT_LT(dark.lightness(), light.lightness());
}

TEST(Guide, EscapeClearsTheSearchAndThenCloses) {
    GuidePanel guide;
    guide.open();
    auto* search = guide.findChild<QLineEdit*>();
    QTest::keyClicks(search, "loss");
    EXPECT_LT(guide.chaptersShown(), readGuide().size());
    QTest::keyClick(search, Qt::Key_Escape);
    EXPECT_EQ(guide.chaptersShown(), readGuide().size());
    EXPECT_TRUE(guide.isVisible());
    QTest::keyClick(search, Qt::Key_Escape);
    EXPECT_FALSE(guide.isVisible());
}

}  // namespace
}  // namespace stepscope
