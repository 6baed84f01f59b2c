// The page Inference alone: rows that are there before anything is known and do not move when they fill, what it asks, what it refuses.
#include <gtest/gtest.h>

#include <QCheckBox>
#include <QComboBox>
#include <QLineEdit>
#include <QPushButton>
#include <QSettings>
#include <QTest>
#include <cmath>
#include <optional>

#include "widgets/panels/experiment/NumberEdit.h"
#include "widgets/panels/inference/FormsTables.h"
#include "widgets/panels/inference/InferencePage.h"
#include "widgets/panels/inference/PruningCurve.h"

namespace stepscope {
namespace {

InferenceView inferenceView(bool known) {
    InferenceView view;
    for (const char* form : {"f32", "int8"}) {
        InferenceRow row;
        row.form = form;
        if (known) {
            row.weights = "498 MB";
            row.perplexity = "29.410";
            row.prompt = row.text = "61.2 tok/s ±1.5 %";
            row.bandwidth = "71 %";
            if (row.form == "int8") row.textVerdict = "2.56 times as fast [2.51, 2.61]";
            if (row.form == "int8") row.quality = "+0.04 % [+0.01 %, +0.07 %]";
            if (row.form == "int8") row.qualityVerdict = "no difference of more than 1 %";
        }
        view.rows.push_back(row);
    }
    for (const double zeros : {0.3, 0.5, 0.9}) {
        PrunedPoint point;
        point.name = QString("%1 %").arg(100 * zeros);
        if (known) {
            point.zeros = zeros;
            point.change = 0.1 * zeros * zeros;
            point.low = 0.9 * point.change;
            point.high = 1.1 * point.change;
        }
        view.pruned.push_back(point);
    }
    view.pruning = "No kernel here leaves zeros out.";
    return view;
}

class InferencePageTest : public testing::Test {
protected:
    InferencePageTest() {
        page.resize(700, 640);
        page.show();
        page.setView(inferenceView(false));
        QObject::connect(&page, &InferencePage::measureRequested, &page, [this](const InferenceQuestion& question) { asked = question; });
    }
    void set(const QString& name, const QString& text) {
        for (auto* edit : page.findChildren<NumberEdit*>()) {
            if (edit->accessibleName() != name) continue;
            edit->findChild<QLineEdit*>()->setText(text);
            QTest::keyClick(edit, Qt::Key_Return);
        }
    }
    InferencePage page;
    std::optional<InferenceQuestion> asked;
};

TEST_F(InferencePageTest, SaysWhyNothingCanBeMeasured) {
    page.setSource(false, "Nothing to measure yet: press Run.", false);
    EXPECT_EQ(page.source(), "Nothing to measure yet: press Run.");
    EXPECT_FALSE(page.measureButton()->isEnabled());
    EXPECT_FALSE(page.stopButton()->isEnabled());
    EXPECT_EQ(page.cell("int8", "text"), "not measured\n") << "never a number that nobody measured";
}

TEST_F(InferencePageTest, AsksWithWhatIsSet) {
    page.setSource(true, "The checkpoint of step 42.", false);
    set("Prompt", "100");
    set("Text", "20");
    set("At a time", "8");
    set("Held out", "2048");
    set("Seconds", "12.5");
    set("Fine-tune", "30");
    page.findChild<QCheckBox*>()->setChecked(false);
    QTest::mouseClick(page.measureButton(), Qt::LeftButton);
    ASSERT_TRUE(asked.has_value());
    EXPECT_EQ(asked->prompt, 100);
    EXPECT_EQ(asked->text, 20);
    EXPECT_EQ(asked->sequences, 8);
    EXPECT_EQ(asked->tokens, 2048);
    EXPECT_DOUBLE_EQ(asked->seconds, 12.5);
    EXPECT_EQ(asked->fineTune, 30);
    EXPECT_FALSE(asked->pruning);
    EXPECT_EQ(asked->data, "");
}

TEST_F(InferencePageTest, RefusesAWrongNumberInOneSentence) {
    page.setSource(true, "The checkpoint of step 42.", false);
    set("At a time", "65");
    EXPECT_TRUE(page.state().contains("65")) << page.state().toStdString();
    EXPECT_FALSE(page.measureButton()->isEnabled());
    EXPECT_FALSE(page.question().has_value());
    set("At a time", "64");
    EXPECT_TRUE(page.measureButton()->isEnabled());
}

TEST_F(InferencePageTest, NothingMovesWhenTheRowsFill) {
    page.setSource(true, "The checkpoint of step 42.", false);
    const auto places = [this] {
        QList<QRect> all;
        for (const auto* part : page.widget()->findChildren<QWidget*>())
            if (part->isVisible() && !part->objectName().startsWith("qt_")) all.push_back(QRect(part->mapTo(page.widget(), QPoint()), part->size()));
        return all;
    };
    QTest::qWait(20);
    const auto before = places();
    InferenceView view = inferenceView(false);
    view.stage = InferenceView::Stage::Measuring;
    view.doing = "round 3";
    view.whose = "The checkpoint of step 42 of session 1";
    view.share = 0.5;
    page.setView(view);
    EXPECT_TRUE(page.stopButton()->isEnabled());
    EXPECT_FALSE(page.measureButton()->isEnabled());
    QTest::qWait(20);
    EXPECT_EQ(places(), before);
    EXPECT_EQ(page.whose(), view.whose);
    view = inferenceView(true);
    view.stage = InferenceView::Stage::Found;
    page.setView(view);
    QTest::qWait(20);
    EXPECT_EQ(places(), before);
    EXPECT_EQ(page.cell("int8", "text"), "61.2 tok/s ±1.5 %\n2.56 times as fast [2.51, 2.61]");
    EXPECT_EQ(page.cell("f32", "perplexity"), "29.410\n");
    EXPECT_EQ(page.cell("int8", "perplexity"), "29.410, +0.04 % [+0.01 %, +0.07 %]\nno difference of more than 1 %");
}

TEST_F(InferencePageTest, TheCurveRisesWithTheZeros) {
    InferenceView view = inferenceView(true);
    page.setView(view);
    QPointF former;
    for (std::size_t i = 0; i < view.pruned.size(); ++i) {
        const QPointF at = page.curve().place(view.pruned[i]);
        EXPECT_TRUE(QRectF(page.curve().rect()).contains(at));
        if (i > 0) {
            EXPECT_GT(at.x(), former.x());
            EXPECT_LT(at.y(), former.y());
        }
        former = at;
    }
    EXPECT_TRUE(page.curve().accessibleDescription().contains("90 %"));
}

TEST_F(InferencePageTest, ShowsTheCurveThatIsChosenAndThePatternBesideEach) {
    InferenceView view;
    for (const char* scope : {"global", "heads", ""})
        for (const double zeros : {0.3, 0.5}) {
            PrunedPoint point;
            point.name = QString("%1 %2").arg(100 * zeros).arg(scope);
            point.scope = scope;
            point.tuned = point.scope == "heads" ? "30.100, +0.90 %" : "";
            view.pruned.push_back(point);
        }
    page.setView(view);
    auto* scope = page.findChild<QComboBox*>();
    ASSERT_EQ(page.pruned().rowCount(), 4);
    EXPECT_EQ(page.pruned().cell(0, "pruned"), "30 global");
    EXPECT_EQ(page.pruned().cell(0, "after fine-tuning"), "not measured");
    scope->setCurrentIndex(scope->findData("heads"));
    ASSERT_EQ(page.pruned().rowCount(), 4);
    EXPECT_EQ(page.pruned().cell(0, "pruned"), "30 heads");
    EXPECT_EQ(page.pruned().cell(0, "after fine-tuning"), "30.100, +0.90 %");
    EXPECT_EQ(page.pruned().cell(2, "pruned"), "30 ");
}

TEST_F(InferencePageTest, WritesNoCheckpointBeforeARowIsChosen) {
    page.setSource(true, "The checkpoint of step 42.", false);
    EXPECT_FALSE(page.pruneButton()->isEnabled());
    page.pruned().selectRow(1);
    EXPECT_TRUE(page.pruneButton()->isEnabled());
    page.setSource(false, "Nothing to measure yet.", false);
    EXPECT_FALSE(page.pruneButton()->isEnabled());
}

TEST_F(InferencePageTest, RemembersWhatWasAsked) {
    set("Prompt", "77");
    QSettings settings;
    page.save(settings);
    InferencePage other;
    other.restore(settings);
    EXPECT_EQ(other.question()->prompt, 77);
    settings.clear();
}

TEST_F(InferencePageTest, EscLeavesAField) {
    page.activateWindow();
    auto* field = page.findChild<NumberEdit*>();
    field->setFocus();
    QTest::keyClick(field, Qt::Key_Escape);
    EXPECT_FALSE(field->hasFocus());
}

}  // namespace
}  // namespace stepscope
