// Weights to start from, chosen in the window: what was found is said when they are chosen, their shape is taken with a click, and a run of another
// model does not begin.
#include <gtest/gtest.h>

#include <QComboBox>

#include "WindowFixture.h"
#include "widgets/panels/TitleButton.h"
#include "widgets/panels/experiment/WeightsChooser.h"
#include "widgets/panels/run/NoticeBar.h"
#include "widgets/panels/sessions/SessionsPanel.h"
#include "widgets/style/Theme.h"

namespace stepscope {
namespace {

class WindowWeightsTest : public WindowTest {
protected:
    WeightsChooser& chooser() { return *window().experiment().weights(); }
    bool says(const QString& text) {
        return QTest::qWaitFor([&] { return chooser().note().contains(text); }, 8000);
    }
};

TEST_F(WindowWeightsTest, AreLookedAtWhenTheyAreChosenAndTheirShapeIsTakenWithAClick) {
    options.size = {1280, 800};
    open();
    Q_EMIT chooser().chosen("/models/gpt2");
    ASSERT_TRUE(says("They are of another model")) << chooser().note().toStdString();
    EXPECT_TRUE(window().experiment().hasProblem());
    picture(window(), "weights-another-model");
    press("Run");
    EXPECT_TRUE(window().notice().sentence().contains("another model")) << window().notice().sentence().toStdString();
    EXPECT_FALSE(place->runs().busy());
    QTest::mouseClick(chooser().shapeLink(), Qt::LeftButton);
    ASSERT_TRUE(says("124 M parameters")) << chooser().note().toStdString();
    EXPECT_EQ(window().experiment().config().layers, 12);
    EXPECT_FALSE(window().experiment().hasProblem()) << window().experiment().problem().toStdString();
    for (const QSize size : {QSize(1024, 640), QSize(1280, 800), QSize(1920, 1080)})
        for (const Theme theme : {Theme::Light, Theme::Dark}) {
            applyStyle(*qApp, theme);
            window().resize(size);
            QTest::qWait(qEnvironmentVariableIsSet("STEPSCOPE_PICTURES") ? 500 : 50);  // charts are drawn on threads
            picture(window(), QString("weights-%1%2").arg(size.width()).arg(theme == Theme::Dark ? "-dark" : ""));
        }
    applyStyle(*qApp, Theme::Light);
    press("Run");
    ASSERT_TRUE(reaches(3));
    EXPECT_EQ(live().config().init, "/models/gpt2") << "stored with the settings";
    press("Stop");
    ASSERT_TRUE(idle());
    Q_EMIT chooser().resetRequested();
    EXPECT_EQ(window().experiment().config().init, "random");
    Q_EMIT window().sessions().runAgainRequested(1);
    ASSERT_TRUE(QTest::qWaitFor([&] { return live().session() == 2; }, 8000));
    EXPECT_EQ(live().config().init, "/models/gpt2") << "run again repeats it";
    ASSERT_TRUE(QTest::qWaitFor([&] { return button("Stop")->isEnabled(); }, 8000));
    press("Stop");
    ASSERT_TRUE(idle());
}

TEST_F(WindowWeightsTest, WhatCannotBeReadIsSaidBesideTheChooserAndRandomWeightsAreTheWayBack) {
    open();
    Q_EMIT chooser().chosen("/models/pickle.pt");
    ASSERT_TRUE(says("is a pickle")) << chooser().note().toStdString();
    EXPECT_FALSE(chooser().shapeLink()->isVisibleTo(&window()));
    EXPECT_TRUE(window().experiment().hasProblem());
    const int random = chooser().list()->findData("random");
    chooser().list()->setCurrentIndex(random);
    Q_EMIT chooser().list()->activated(random);
    EXPECT_EQ(window().experiment().config().init, "random");
    EXPECT_TRUE(QTest::qWaitFor([&] { return !window().experiment().hasProblem(); }, 8000)) << window().experiment().problem().toStdString();
    EXPECT_EQ(chooser().note(), "");
}

}  // namespace
}  // namespace stepscope
