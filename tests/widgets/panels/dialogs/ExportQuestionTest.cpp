// The question where an export is written, by itself: of what several workers captured a choice whose part, which is in the name that is suggested.
#include <gtest/gtest.h>

#include <QComboBox>
#include <QFileDialog>
#include <QFileInfo>
#include <QLineEdit>
#include <QPointer>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

#include "widgets/panels/sessions/ExportQuestion.h"

namespace stepscope {
namespace {

class ExportQuestionTest : public testing::Test {
protected:
    ~ExportQuestionTest() override {
        if (question) delete &question->dialog();
    }
    void ask(const std::vector<ExportChoice>& choices, const std::vector<ExportPart>& parts) {
        question = new ExportQuestion(7, choices, parts, "Export", nullptr);
        question->dialog().setDirectory(folder.path());
        question->dialog().show();
    }
    QString name() { return QFileInfo(question->dialog().selectedFiles().value(0)).fileName(); }
    void choosePart(Qt::Key key) {
        question->parts()->setFocus();
        QTest::keyClick(question->parts(), key);
    }

    const ExportChoice perfetto{"perfetto", "Perfetto trace", {"*.perfetto-trace"}, "session-%.perfetto-trace", true};
    const ExportChoice report{"report", "Report", {"*.html", "*.md"}, "session-%-captured.html"};
    const std::vector<ExportPart> three{{kAllRanks, "All workers"}, {0, "Worker 0"}, {1, "Worker 1"}};
    QTemporaryDir folder;
    QPointer<ExportQuestion> question;
};

TEST_F(ExportQuestionTest, ThereIsNothingToChooseWhereOneWorkerWasCaptured) {
    ask({perfetto}, {});
    EXPECT_EQ(question->parts(), nullptr);
    EXPECT_FALSE(question->dialog().testOption(QFileDialog::DontUseNativeDialog)) << "the system's own, where there is one";
    EXPECT_EQ(name(), "session-7.perfetto-trace");
}

TEST_F(ExportQuestionTest, AChosenWorkerIsInTheNameAndIsAskedFor) {
    ask({perfetto}, three);
    QSignalSpy answered(question, &ExportQuestion::answered);
    ASSERT_NE(question->parts(), nullptr);
    EXPECT_TRUE(question->parts()->isVisible());
    EXPECT_EQ(question->parts()->currentText(), "All workers");
    EXPECT_EQ(name(), "session-7.perfetto-trace");
    choosePart(Qt::Key_End);
    EXPECT_EQ(question->parts()->currentText(), "Worker 1");
    EXPECT_EQ(name(), "session-7-rank-1.perfetto-trace");
    choosePart(Qt::Key_Up);
    EXPECT_EQ(name(), "session-7-rank-0.perfetto-trace");
    choosePart(Qt::Key_Down);
    QMetaObject::invokeMethod(&question->dialog(), "accept");
    ASSERT_EQ(answered.size(), 1);
    EXPECT_EQ(QFileInfo(answered[0][0].toString()).fileName(), "session-7-rank-1.perfetto-trace");
    EXPECT_EQ(answered[0][1].toString(), "perfetto");
    EXPECT_EQ(answered[0][2].toLongLong(), 1);
}

TEST_F(ExportQuestionTest, ANameThatWasTypedStays) {
    ask({perfetto}, three);
    auto* line = question->dialog().findChild<QLineEdit*>("fileNameEdit");
    ASSERT_NE(line, nullptr);
    line->setFocus();
    line->selectAll();
    QTest::keyClicks(line, "mine.perfetto-trace");
    choosePart(Qt::Key_End);
    EXPECT_EQ(name(), "mine.perfetto-trace");
}

TEST_F(ExportQuestionTest, AFormatThatIsOfAllOfThemHasNoPart) {
    ask({perfetto, report}, three);
    QSignalSpy answered(question, &ExportQuestion::answered);
    choosePart(Qt::Key_End);
    auto* formats = question->dialog().findChild<QComboBox*>("fileTypeCombo");
    ASSERT_NE(formats, nullptr);
    formats->setFocus();
    QTest::keyClick(formats, Qt::Key_Down);
    EXPECT_FALSE(question->parts()->isEnabled());
    EXPECT_EQ(name(), "session-7-captured.html");
    QMetaObject::invokeMethod(&question->dialog(), "accept");
    ASSERT_EQ(answered.size(), 1);
    EXPECT_EQ(answered[0][1].toString(), "") << "the name says it";
    EXPECT_EQ(answered[0][2].toLongLong(), kAllRanks);
}

}  // namespace
}  // namespace stepscope
