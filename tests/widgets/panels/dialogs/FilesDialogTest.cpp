// The list of another machine's files by itself: what it asks for and when, by mouse and by key, and a sentence for each state.
#include <gtest/gtest.h>

#include <QComboBox>
#include <QLineEdit>
#include <QPushButton>
#include <QSignalSpy>
#include <QTableView>
#include <QTest>
#include <QToolButton>
#include <memory>
#include <vector>

#include "widgets/panels/files/FilesDialog.h"

namespace stepscope {
namespace {

class FilesDialogTest : public testing::Test {
protected:
    void open(const FilesQuestion& question) {
        dialog = std::make_unique<FilesDialog>("rack", question);
        QObject::connect(dialog.get(), &FilesDialog::listRequested, [this](quint64 number, const FilesAsked& wanted) {
            asked.push_back(wanted);
            newest = number;
        });
        QObject::connect(dialog.get(), &FilesDialog::fileSelected, [this](const QString& path) { chosen << path; });
        dialog->show();
        ASSERT_TRUE(QTest::qWaitForWindowActive(dialog.get()));
        dialog->begin();
    }
    void openFiles() {
        open({.title = "Text to train on", .filters = {"Text (*.txt *.MD)", "All files (*)"}});
        dialog->setView(newest, {.folder = "/home/me", .entries = {{"texts", true}, {"a.txt", false, 1500}, {"b.txt", false, 3}}});
    }
    QString cell(int row, int column) { return dialog->list()->model()->index(row, column).data().toString(); }
    int rows() { return dialog->list()->model()->rowCount(); }
    void activate(int row) {
        const QRect place = dialog->list()->visualRect(dialog->list()->model()->index(row, 0));
        QTest::mouseClick(dialog->list()->viewport(), Qt::LeftButton, {}, place.center());
        QTest::mouseDClick(dialog->list()->viewport(), Qt::LeftButton, {}, place.center());
    }

    std::unique_ptr<FilesDialog> dialog;
    std::vector<FilesAsked> asked;
    quint64 newest = 0;
    QStringList chosen;
};

TEST_F(FilesDialogTest, BeginsAtTheHomeThereOrWhereSomethingWasChosenLast) {
    open({.title = "Text", .near = "kjv"});
    EXPECT_EQ(asked.back().path, "") << "a built-in text is no place";
    EXPECT_EQ(dialog->sentence(), "Asking rack…");
    EXPECT_FALSE(dialog->chooseButton()->isEnabled());
    open({.title = "Text", .near = "/data/a.txt"});
    EXPECT_EQ(asked.back().path, "/data/a.txt");
    dialog->setView(newest, {.folder = "/data", .file = "a.txt", .entries = {{"sub", true}, {"a.txt", false, 1}}});
    EXPECT_EQ(dialog->list()->selectionModel()->selectedRows().value(0).row(), 1) << "what was chosen last";
    EXPECT_TRUE(chosen.isEmpty());
    open({.title = "Text", .near = "/gone/a.txt"});
    dialog->setView(newest, {.folder = "/gone/a.txt", .problem = "\"/gone/a.txt\" on rack is not there."});
    EXPECT_EQ(asked.back().path, "") << "where that is gone, at the home";
    dialog->setView(newest, {.folder = "/home/me", .entries = {}});
    EXPECT_EQ(dialog->path()->text(), "/home/me");
}

TEST_F(FilesDialogTest, ShowsNameKindAndSizeUnderAccessibleNames) {
    openFiles();
    EXPECT_EQ(dialog->windowTitle(), "Text to train on: files of rack");
    ASSERT_EQ(rows(), 3);
    EXPECT_EQ(cell(0, 0), "texts");
    EXPECT_EQ(cell(0, 1), "folder");
    EXPECT_EQ(cell(0, 2), "");
    EXPECT_EQ(cell(1, 1), "txt file");
    EXPECT_EQ(cell(1, 2), QString("1.50\u202FkB"));
    EXPECT_EQ(dialog->path()->text(), "/home/me");
    EXPECT_EQ(dialog->list()->accessibleName(), "Files of rack");
    EXPECT_EQ(dialog->path()->accessibleName(), "Path on rack");
    EXPECT_EQ(dialog->upButton()->accessibleName(), "Up to the folder above");
    EXPECT_EQ(dialog->filter()->accessibleName(), "Kinds of files");
    EXPECT_TRUE(dialog->list()->hasFocus());
}

TEST_F(FilesDialogTest, ADoubleClickEntersAFolderAndChoosesAFile) {
    openFiles();
    activate(0);
    EXPECT_EQ(asked.back().path, "/home/me/texts");
    EXPECT_EQ(asked.back().endings, QStringList({".txt", ".md"}));
    activate(1);
    EXPECT_TRUE(chosen.isEmpty()) << "what is there is not known yet";
    dialog->setView(newest, {.folder = "/home/me/texts", .entries = {{"c.md", false, 1}}});
    activate(0);
    EXPECT_EQ(chosen, QStringList("/home/me/texts/c.md"));
    EXPECT_FALSE(dialog->isVisible());
}

TEST_F(FilesDialogTest, IsGoneThroughByKeysAlone) {
    openFiles();
    QTest::keyClick(dialog->list(), Qt::Key_Return);
    EXPECT_EQ(asked.back().path, "/home/me/texts") << "the first row is chosen";
    EXPECT_EQ(asked.size(), 2u) << "and nothing else was pressed by it";
    dialog->setView(newest, {.folder = "/home/me/texts", .entries = {{"c.txt", false, 1}}});
    QTest::keyClick(dialog->list(), Qt::Key_Backspace);
    EXPECT_EQ(asked.back().path, "/home/me");
    dialog->setView(newest, {.folder = "/home/me", .entries = {{"other", true}, {"texts", true}, {"a.txt", false, 1}}});
    EXPECT_EQ(dialog->list()->selectionModel()->selectedRows().value(0).row(), 1) << "the folder that was left";
    QTest::keyClick(dialog->list(), Qt::Key_Down);
    QTest::keyClick(dialog->list(), Qt::Key_Return);
    EXPECT_EQ(chosen, QStringList("/home/me/a.txt"));
}

TEST_F(FilesDialogTest, UpEndsAtTheRoot) {
    openFiles();
    QTest::mouseClick(dialog->upButton(), Qt::LeftButton);
    EXPECT_EQ(asked.back().path, "/home");
    dialog->setView(newest, {.folder = "/home", .entries = {}});
    QTest::keyClick(dialog.get(), Qt::Key_Up, Qt::AltModifier);
    EXPECT_EQ(asked.back().path, "/");
    dialog->setView(newest, {.folder = "/", .entries = {{"home", true}}});
    EXPECT_FALSE(dialog->upButton()->isEnabled());
    QTest::keyClick(dialog->list(), Qt::Key_Return);
    EXPECT_EQ(asked.back().path, "/home");
}

TEST_F(FilesDialogTest, ATypedPathIsListedOrChosenAndAWrongOneLeavesTheListAsItIs) {
    openFiles();
    const auto type = [&](const QString& path) {
        dialog->path()->setText(path);
        QTest::keyClick(dialog->path(), Qt::Key_Return);
    };
    type("~/x");
    EXPECT_EQ(asked.back().path, "~/x");
    dialog->setView(newest, {.folder = "/home/me/x", .problem = "\"/home/me/x\" on rack is not there."});
    EXPECT_EQ(dialog->sentence(), "\"/home/me/x\" on rack is not there.");
    EXPECT_EQ(rows(), 3);
    type("texts");
    EXPECT_EQ(asked.back().path, "/home/me/texts") << "what is relative lies in the folder that is listed";
    dialog->setView(newest, {.folder = "/home/me/texts", .entries = {}});
    type("/data/huge.txt");
    dialog->setView(newest, {.folder = "/data", .file = "huge.txt", .entries = {}});
    EXPECT_EQ(chosen, QStringList("/data/huge.txt"));
}

TEST_F(FilesDialogTest, AFolderIsChosenByItsRowOrFromWithin) {
    open({.title = "Folder of texts", .folder = true, .filters = {"Text (*.txt)"}});
    EXPECT_TRUE(asked.back().foldersOnly);
    EXPECT_TRUE(asked.back().endings.isEmpty());
    EXPECT_FALSE(dialog->filter()->isVisible());
    dialog->setView(newest, {.folder = "/data", .entries = {{"texts", true}}});
    EXPECT_EQ(dialog->chooseButton()->text(), "Choose this folder");
    QTest::mouseClick(dialog->chooseButton(), Qt::LeftButton);
    EXPECT_EQ(chosen, QStringList("/data"));
    open({.title = "Folder of texts", .folder = true});
    dialog->setView(newest, {.folder = "/data", .entries = {{"texts", true}}});
    dialog->list()->selectRow(0);
    EXPECT_EQ(dialog->chooseButton()->text(), "Choose “texts”");
    QTest::mouseClick(dialog->chooseButton(), Qt::LeftButton);
    EXPECT_EQ(chosen.last(), "/data/texts");
}

TEST_F(FilesDialogTest, AnotherKindOfFilesIsAskedForAnew) {
    openFiles();
    dialog->filter()->setCurrentIndex(1);
    Q_EMIT dialog->filter()->activated(1);
    EXPECT_EQ(asked.back().path, "/home/me");
    EXPECT_TRUE(asked.back().endings.isEmpty());
    dialog->setView(newest - 1, {.folder = "/late", .entries = {}});
    EXPECT_EQ(rows(), 3) << "an answer to an older question is nobody's";
}

TEST_F(FilesDialogTest, SaysWhatIsNotListedAndWhy) {
    openFiles();
    const auto shows = [&](const FilesView& view) {
        activate(0);
        dialog->setView(newest, view);
        const QString sentence = dialog->sentence();
        openFiles();
        return sentence;
    };
    EXPECT_EQ(shows({.folder = "/e", .entries = {}}), "There is nothing of this kind in this folder.");
    EXPECT_EQ(shows({.folder = "/e", .entries = {{"x", true}}}), "");
    EXPECT_TRUE(shows({.folder = "/e", .entries = {{"x", true}}, .more = 19'999}).startsWith("The first 1 of 20"));
    EXPECT_EQ(shows({.folder = "/e", .entries = {{"x", true}}, .hidden = 2, .unnamed = 1}),
              "2 whose name begins with a dot are not listed; type a path to go there. 1 whose name cannot be shown is left out.");
    EXPECT_EQ(shows({.problem = "The engine ended with status 255: Connection refused."}), "The engine ended with status 255: Connection refused.");
    open({.title = "Folder of texts", .folder = true});
    dialog->setView(newest, {.folder = "/e", .entries = {}});
    EXPECT_EQ(dialog->sentence(), "There is no folder in this one.");
    open({.title = "Anything"});
    dialog->setView(newest, {.folder = "/e", .entries = {}});
    EXPECT_EQ(dialog->sentence(), "This folder is empty.");
}

TEST_F(FilesDialogTest, EscapeChoosesNothing) {
    openFiles();
    QTest::keyClick(dialog.get(), Qt::Key_Escape);
    EXPECT_FALSE(dialog->isVisible());
    EXPECT_TRUE(chosen.isEmpty());
}

// A name is a stranger's: it is said letter by letter.
TEST_F(FilesDialogTest, ANameWithMarkupIsReadAsItIs) {
    open({.title = "Text to train on"});
    dialog->setView(newest, {.folder = "/home/me", .entries = {{"a&b <b>.txt", false, 1500}}});
    EXPECT_EQ(dialog->list()->model()->index(0, 0).data(Qt::ToolTipRole).toString(), "<p>a&amp;b &lt;b&gt;.txt</p>");
    EXPECT_EQ(cell(0, 0), "a&b <b>.txt");
}

}  // namespace
}  // namespace stepscope
