// A person stops a run, right-clicks its session and resumes it from its last checkpoint: real training, real checkpoints, the real
// menu. main() is here, because the engine's first words come before anything else.
#include <map>

#include "app/gui/process/Application.h"
#include "tests/widgets/engine/EngineFixture.h"
#include "widgets/panels/run/NoticeBar.h"
#include "widgets/style/Theme.h"

namespace stepscope {
namespace {

class ResumeTest : public EngineFixture {
protected:
    std::map<std::int64_t, float> losses() {
        std::map<std::int64_t, float> all;
        for (std::size_t row = 0; row < live().rows(); ++row) all[live().steps().step[row]] = static_cast<float>(live().steps().loss[row]);
        return all;
    }

    const QString resume = "Resume from its last checkpoint";
};

TEST_F(ResumeTest, GoesOnFromTheLastCheckpointWithTheSameLosses) {
    open({"steps=100000", "checkpoint-every=10", "keep=50", "checkpoint-at-end=off"});  // all of them would need a large disk
    ASSERT_TRUE(reaches(1, 12));
    place->runs().send(Flip{"amp", std::string("bf16")});  // goes on in the resumed run
    ASSERT_TRUE(QTest::qWaitFor([&] { return live().config().word("amp") == "bf16"; }, 10'000));
    ASSERT_TRUE(reaches(1, live().numbers(1).step + 35));
    press("Stop");
    ASSERT_TRUE(idle());
    const auto first = losses();
    choose(1, resume);
    ASSERT_TRUE(reaches(2, first.rbegin()->first));
    press("Stop");
    ASSERT_TRUE(idle());

    const SessionInfo& info = *live().info();
    EXPECT_FALSE(info.resumedFrom.empty());
    EXPECT_EQ(info.firstStep % 10, 0);
    EXPECT_GE(info.firstStep, 30);
    EXPECT_EQ(info.config->layers, 1);
    EXPECT_EQ(info.config->word("amp"), "bf16");
    const auto second = losses();
    EXPECT_EQ(second.begin()->first, info.firstStep + 1);
    int compared = 0;
    for (const auto& [step, loss] : first)
        if (const auto again = second.find(step); again != second.end()) {
            EXPECT_EQ(loss, again->second) << "step " << step;
            ++compared;
        }
    EXPECT_EQ(compared, first.rbegin()->first - info.firstStep);
}

TEST_F(ResumeTest, GoesOnFromTheCheckpointThatWasChosenInTheList) {
    open({"steps=60", "checkpoint-every=20"});
    ASSERT_TRUE(reaches(1, 60));
    ASSERT_TRUE(idle());
    const auto first = losses();
    const auto listed = listCheckpoints(options.database.toStdString(), 1);
    ASSERT_TRUE(listed) << listed.error().sentence;
    ASSERT_EQ(listed->size(), 3u);
    EXPECT_EQ(listed->front().step, 20);
    Q_EMIT place->checkpoints().resumeRequested(1, QString::fromStdString(listed->front().path), 20);
    ASSERT_TRUE(reaches(2, 60));
    ASSERT_TRUE(idle());
    EXPECT_EQ(live().info()->firstStep, 20);
    EXPECT_EQ(live().config().steps, 60) << "those that it had left";
    for (const auto& [step, loss] : losses()) EXPECT_EQ(loss, first.at(step)) << "step " << step;
}

TEST_F(ResumeTest, ClosingTheWindowWhileItTrainsAsksNothingAndKeepsTheWeights) {
    open({"steps=100000"});
    ASSERT_TRUE(reaches(1, 5));
    place->window().close();
    ASSERT_TRUE(QTest::qWaitFor([&] { return !place->window().isVisible(); }, 30'000)) << place->window().notice().sentence().toStdString();
    EXPECT_EQ(QApplication::activeModalWidget(), nullptr);
    place.reset();
    const auto listed = listCheckpoints(options.database.toStdString(), 1);
    ASSERT_TRUE(listed) << listed.error().sentence;
    ASSERT_EQ(listed->size(), 1u);
    EXPECT_GE(listed->front().step, 5);
    const std::int64_t kept = listed->front().step;
    open({"steps=100000"});
    ASSERT_TRUE(reaches(2, 1));  // the fixture's windows train at once
    press("Stop");
    ASSERT_TRUE(idle());
    choose(1, resume);
    ASSERT_TRUE(reaches(3, kept + 1));
    EXPECT_EQ(live().info()->firstStep, kept);
    press("Stop");
    ASSERT_TRUE(idle());
}

TEST_F(ResumeTest, SaysWhatToDoWhenTheSessionHasNoCheckpoint) {
    open({"steps=100000", "checkpoint-at-end=off"});
    ASSERT_TRUE(reaches(1, 5));
    press("Stop");
    ASSERT_TRUE(idle());
    choose(1, resume);
    ASSERT_TRUE(QTest::qWaitFor([&] { return place->window().notice().sentence().contains("checkpoint-every"); }, 10'000))
        << place->window().notice().sentence().toStdString();
    EXPECT_FALSE(place->runs().busy());
}

TEST_F(ResumeTest, ARunThatMadeAllItsStepsGoesOnForAsManyAgain) {
    open({"steps=20", "checkpoint-every=10"});
    ASSERT_TRUE(reaches(1, 20));
    ASSERT_TRUE(idle());
    choose(1, resume);
    ASSERT_TRUE(reaches(2, 40));
    ASSERT_TRUE(idle());
    EXPECT_EQ(live().info()->firstStep, 20);
    EXPECT_EQ(live().config().steps, 40);
    EXPECT_EQ(live().state()->state, RunState::Finished);
    EXPECT_TRUE(logged("goes on to 40"));
}

}  // namespace
}  // namespace stepscope

int main(int argc, char** argv) {
    stepscope::initialiseEngine();
    if (!qEnvironmentVariableIsSet("QT_QPA_PLATFORM")) qputenv("QT_QPA_PLATFORM", "offscreen");
    testing::InitGoogleTest(&argc, argv);
    QCoreApplication::setOrganizationName("stepscope");
    QCoreApplication::setApplicationName("stepscope-tests");
    const QTemporaryDir own;
    qputenv("XDG_CACHE_HOME", own.path().toLocal8Bit());
    QSettings::setPath(QSettings::NativeFormat, QSettings::UserScope, own.path());
    stepscope::Application application(argc, argv);
    stepscope::applyStyle(application, stepscope::Theme::Light);
    return RUN_ALL_TESTS();
}
