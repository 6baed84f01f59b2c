// A person whose database cannot be opened trains without recording: the real engine finds that out on the run's thread, not when it is asked to
// start.
#include <QFile>

#include "tests/widgets/engine/EngineFixture.h"
#include "widgets/panels/run/NoticeBar.h"

namespace stepscope {
namespace {

class UnrecordedTest : public EngineFixture {
protected:
    void spoilTheDatabase() {
        QFile file(folder.filePath("s.db"));
        ASSERT_TRUE(file.open(QIODevice::WriteOnly));
        file.write(QByteArray(5000, 'x'));
    }
    NoticeBar& notice() { return place->window().notice(); }
    QToolButton* offer() {
        for (auto* action : notice().findChildren<QToolButton*>())
            if (action->isVisible() && action->text() == "Run without recording") return action;
        return nullptr;
    }
};

TEST_F(UnrecordedTest, IsOfferedForADatabaseThatCannotBeOpenedAndLeavesOutTheCheckpointsWithOneSentence) {
    spoilTheDatabase();
    open({"steps=12", "checkpoint-every=5"});
    ASSERT_TRUE(idle());
    ASSERT_TRUE(QTest::qWaitFor([&] { return offer() != nullptr; }, 10'000)) << notice().sentence().toStdString();
    QTest::mouseClick(offer(), Qt::LeftButton);
    ASSERT_TRUE(reaches(0, 12));
    ASSERT_TRUE(idle());
    EXPECT_EQ(live().state()->state, RunState::Finished);
    EXPECT_TRUE(logged("no session to keep checkpoints in, so it saves none, although Checkpoint every is 5."));
    EXPECT_TRUE(logged("its weights are gone when it ends"));
    EXPECT_FALSE(logged("name a path for the checkpoint"));
    EXPECT_FALSE(logged("could not be written"));
}

TEST_F(UnrecordedTest, IsNotOfferedForARunThatFailsOfSomethingElse) {
    open({"steps=12", "data=" + folder.filePath("nowhere.txt")});
    ASSERT_TRUE(QTest::qWaitFor([&] { return notice().sentence().contains("nowhere.txt"); }, 10'000)) << notice().sentence().toStdString();
    EXPECT_EQ(offer(), nullptr);
}

}  // namespace
}  // namespace stepscope
