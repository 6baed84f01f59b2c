// Edits while the engine takes its time to answer: the window goes on meanwhile, and the newest edit is the one that is answered.
#include <gtest/gtest.h>

#include <QDir>
#include <QElapsedTimer>
#include <QFile>
#include <QLabel>
#include <algorithm>
#include <set>

#include "WindowFixture.h"
#include "core/base/Format.h"
#include "widgets/panels/experiment/DataChooser.h"
#include "widgets/panels/experiment/ExperimentPanel.h"
#include "widgets/panels/experiment/ValueEdit.h"
#include "widgets/panels/experiment/ValueRow.h"
#include "widgets/panels/run/NoticeBar.h"

namespace stepscope {
namespace {

constexpr int kEstimateMs = 20;  // an answer takes more than ten of them

class WindowEditsTest : public WindowTest {
protected:
    ~WindowEditsTest() override { setFakeEstimateMs(0); }
    void openWithForecast() {
        open();
        ASSERT_TRUE(QTest::qWaitFor([&] { return !forecast().isEmpty(); }, 5000));
        setFakeEstimateMs(kEstimateMs);
    }
    void edit(const char* key, const char* text) { Q_EMIT window().experiment().row(key)->committed(key, text); }
    QString forecast() {
        for (const auto* label : window().experiment().findChildren<QLabel*>())
            if (label->text().contains("parameters · ") && label->text().front().isDigit()) return label->text();
        return {};
    }
};

TEST_F(WindowEditsTest, AreAnsweredWhileTheEventLoopGoesOn) {
    openWithForecast();
    const QString before = forecast();
    qint64 longest = 0;
    QElapsedTimer since;
    QTimer probe;
    QObject::connect(&probe, &QTimer::timeout, &probe, [&] { longest = std::max(longest, since.restart()); });
    since.start();
    probe.start(5);
    edit("layers", "5");
    ASSERT_TRUE(QTest::qWaitFor([&] { return forecast() != before; }, 5000));
    EXPECT_LT(longest, 10 * kEstimateMs);
}

// The engine's answers go into LibTorch, which may take its time, and at first loads and sets up.
TEST_F(WindowEditsTest, AndEverythingElseNeverAskTheEngineOnTheGuiThread) {
    openWithForecast();
    setFakeEstimateMs(0);
    edit("layers", "3");
    press("Run");
    ASSERT_TRUE(reaches(5));
    edit("amp", "bf16");
    ASSERT_TRUE(QTest::qWaitFor([&] { return live().config().word("amp") == "bf16"; }, 5000));
    press("Stop");
    ASSERT_TRUE(idle());
    place.reset();
    options.demo = true;
    options.settings = {"amp=bf16"};
    open();
    ASSERT_TRUE(reaches(5));
    EXPECT_FALSE(fakeWasAskedHere());
}

TEST_F(WindowEditsTest, OnlyTheNewestIsAnswered) {
    openWithForecast();
    const QString before = forecast();
    for (const char* layers : {"5", "6", "7"}) edit("layers", layers);
    const RunConfig& config = window().experiment().config();
    const double parameters = 12.0 * 7 * static_cast<double>(config.width * config.width) + 256.0 * static_cast<double>(config.width);
    const QString seven = QString::fromStdString(format::rate(parameters, "parameters"));
    std::set<QString> seen;
    EXPECT_TRUE(QTest::qWaitFor(
        [&] {
            if (forecast() != before) seen.insert(forecast());
            return forecast().startsWith(seven);
        },
        5000))
        << forecast().toStdString();
    EXPECT_EQ(seen.size(), 1u) << "an answer to an edit that was overtaken";
}

TEST_F(WindowEditsTest, TheForecastIsOfWhatTheFieldShowsAgainWhenTheRunRefuses) {
    openWithForecast();
    setFakeEstimateMs(0);
    const QString before = forecast();
    press("Run");
    ASSERT_TRUE(reaches(5));
    edit("batch-size", "60000");
    ValueRow* row = window().experiment().row("batch-size");
    ASSERT_TRUE(QTest::qWaitFor([&] { return row->problem().contains("more memory"); }, 5000));
    EXPECT_EQ(row->editor()->text(), "12");
    EXPECT_TRUE(QTest::qWaitFor([&] { return forecast() == before; }, 5000)) << forecast().toStdString();
    QTest::qWait(100);
    EXPECT_EQ(forecast(), before) << "no late answer to the refused value";
    EXPECT_TRUE(row->problem().contains("more memory")) << "the answer leaves the sentence alone";
}

TEST_F(WindowEditsTest, AreAnsweredWithTheMemoryByKindToo) {
    openWithForecast();
    bool told = false;
    for (const auto* label : window().experiment().findChildren<QLabel*>())
        told = told || label->toolTip().endsWith("attention 30 MB\nq, k, v 12 MB");
    EXPECT_TRUE(told);
}

TEST_F(WindowEditsTest, OfASwitchReachTheRunThatIsBeingPrepared) {
    open();
    press("Run");
    edit("amp", "bf16");
    ASSERT_TRUE(QTest::qWaitFor([&] { return live().config().has("amp") && live().config().word("amp") == "bf16"; }, 10'000));
    EXPECT_EQ(live().info()->config->word("amp"), "off") << "it was pressed before";
    EXPECT_EQ(window().experiment().config().word("amp"), "bf16");
    EXPECT_TRUE(std::ranges::any_of(live().markers(), [](const Marker& marker) { return marker.label == "amp bf16"; }));
}

TEST_F(WindowEditsTest, ATextThatIsNotUtf8IsToldWhenItIsChosen) {
    openWithForecast();
    setFakeEstimateMs(0);
    const auto write = [&](const QByteArray& bytes) {
        QFile file(folder.filePath("essay.txt"));
        EXPECT_TRUE(file.open(QIODevice::WriteOnly));
        file.write(bytes);
        return file.fileName();
    };
    const QByteArray longText = QByteArray(
                                    "Un texte en fran\xc3\xa7"
                                    "ais. ")
                                    .repeated(100'000);  // longer than is looked at in one go
    const QString path = write(longText + "caf\xe9");
    auto* chooser = window().experiment().findChild<DataChooser*>();
    Q_EMIT chooser->chosen(path);
    ASSERT_TRUE(QTest::qWaitFor([&] { return window().experiment().problem().contains("essay.txt is not UTF-8"); }, 5000));
    const QString offset = QString::number(longText.size() + 3);
    EXPECT_TRUE(window().experiment().problem().endsWith("the byte 0xE9 at offset " + offset + " cannot stand there; save the text as UTF-8."))
        << window().experiment().problem().toStdString();
    Q_EMIT window().experiment().row("layers")->committed("layers", "5");
    EXPECT_TRUE(QTest::qWaitFor([&] { return window().experiment().problem().contains("essay.txt"); }, 5000)) << "after other edits too";
    EXPECT_TRUE(QTest::qWaitFor([&] { return forecast().startsWith("1.02"); }, 5000)) << "predicted all the same: " << forecast().toStdString();
    press("Run");
    EXPECT_FALSE(place->runs().busy());
    write(longText);
    Q_EMIT chooser->chosen(path);
    EXPECT_TRUE(QTest::qWaitFor([&] { return !window().experiment().hasProblem(); }, 5000)) << window().experiment().problem().toStdString();
    QTest::qWait(50);
    EXPECT_FALSE(window().experiment().hasProblem());
}

TEST_F(WindowEditsTest, AFolderOrJsonlWithoutTextIsToldBesideTheChooserWhenItIsChosen) {
    openWithForecast();
    setFakeEstimateMs(0);
    auto* chooser = window().experiment().findChild<DataChooser*>();
    const auto beside = [&](const QString& text) {
        for (const auto* label : chooser->findChildren<QLabel*>())
            if (label->isVisible() && label->text().contains(text)) return true;
        return false;
    };
    const QDir inside(folder.path());
    ASSERT_TRUE(inside.mkdir("texts"));
    Q_EMIT chooser->chosen(inside.filePath("texts"));
    EXPECT_TRUE(QTest::qWaitFor([&] { return beside("is empty of text"); }, 5000));
    QFile lines(inside.filePath("lines.jsonl"));
    ASSERT_TRUE(lines.open(QIODevice::WriteOnly));
    lines.write("{\"text\": \"\"}\n");
    lines.close();
    Q_EMIT chooser->chosen(lines.fileName());
    EXPECT_TRUE(QTest::qWaitFor([&] { return beside("no line holds a text"); }, 5000));
    press("Run");
    EXPECT_FALSE(place->runs().busy());
    EXPECT_TRUE(window().notice().isVisible());
    EXPECT_TRUE(window().notice().sentence().contains("no line holds a text"));
    picture(window(), "wrong-file");
    Q_EMIT chooser->chosen("generated");
    EXPECT_TRUE(QTest::qWaitFor([&] { return !window().experiment().hasProblem() && !beside("holds a text"); }, 5000));
    EXPECT_FALSE(window().notice().isVisible()) << "what it said is mended";
}

TEST_F(WindowEditsTest, AnEditTakesAwayWhatWasSaidOfTheSettingsAndNothingElseInTheSameWords) {
    openWithForecast();
    for (const bool again : {false, true}) {
        edit("heads", "3");
        press("Run");
        const QString sentence = window().notice().sentence();
        ASSERT_TRUE(sentence.contains("heads")) << sentence.toStdString();
        if (again) window().notice().say(NoticeBar::Kind::Error, sentence);
        edit("heads", "4");
        ASSERT_FALSE(window().experiment().hasProblem());
        EXPECT_EQ(window().notice().isVisible(), again) << "said once more, it is of something else";
    }
}

TEST_F(WindowEditsTest, AValidationTextThatCannotBeReadIsToldInItsRowWhenItIsChosen) {
    openWithForecast();
    setFakeEstimateMs(0);
    ValueRow* row = window().experiment().row("validation");
    const QString path = QDir(folder.path()).filePath("nowhere.txt");
    edit("validation", path.toUtf8().constData());
    ASSERT_TRUE(QTest::qWaitFor([&] { return row->problem().contains("nowhere.txt"); }, 5000));
    edit("layers", "5");
    EXPECT_TRUE(QTest::qWaitFor([&] { return row->problem().contains("nowhere.txt"); }, 5000)) << "after other edits too";
    press("Run");
    EXPECT_FALSE(place->runs().busy());
    EXPECT_TRUE(window().notice().sentence().contains("nowhere.txt"));
    QFile file(path);
    ASSERT_TRUE(file.open(QIODevice::WriteOnly));
    file.write("A text of its own.");
    file.close();
    edit("layers", "4");
    EXPECT_TRUE(QTest::qWaitFor([&] { return !window().experiment().hasProblem(); }, 5000)) << "it is there now";
    EXPECT_TRUE(row->problem().isEmpty());
    edit("validation", QDir(folder.path()).filePath("nor-here.txt").toUtf8().constData());
    ASSERT_TRUE(QTest::qWaitFor([&] { return row->problem().contains("nor-here.txt"); }, 5000));
    edit("validation", "split");
    EXPECT_TRUE(row->problem().isEmpty()) << "nothing has to be looked at";
    EXPECT_FALSE(window().experiment().hasProblem());
}

TEST_F(WindowEditsTest, ARefusalOfTheRunGoesWithTheNextEditThatMayMendIt) {
    open();
    Q_EMIT window().experiment().row("steps")->committed("steps", "100000");
    press("Run");
    ASSERT_TRUE(reaches(10));
    edit("amp", "fp16");
    ASSERT_TRUE(QTest::qWaitFor([&] { return window().experiment().row("amp")->problem().contains("no float16"); }, 5000));
    edit("zero-grad", "zero");
    EXPECT_TRUE(QTest::qWaitFor([&] { return window().experiment().row("amp")->problem().isEmpty(); }, 5000))
        << window().experiment().row("amp")->problem().toStdString();
}

TEST_F(WindowEditsTest, OfAShapeThatCannotBeAreToldAtOnce) {
    openWithForecast();
    edit("heads", "3");
    EXPECT_TRUE(window().experiment().problem().contains("heads")) << window().experiment().problem().toStdString();
    edit("heads", "4");
    EXPECT_FALSE(window().experiment().hasProblem());
}

}  // namespace
}  // namespace stepscope
