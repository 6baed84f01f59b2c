// Two short demo sessions: recorded only when a person asks, one after the other, and given up when a run starts.
#include <gtest/gtest.h>

#include <QPushButton>

#include "WindowFixture.h"
#include "widgets/panels/sessions/SessionsModel.h"
#include "widgets/panels/sessions/SessionsPanel.h"

namespace stepscope {
namespace {

class WindowDemoTest : public WindowTest {
protected:
    QPushButton* offered() {
        for (auto* button : window().sessions().findChildren<QPushButton*>())
            if (button->text() == "Record two demos") return button;
        return nullptr;
    }
    std::vector<std::string> names() {
        std::vector<std::string> all;
        for (const auto& session : stored()) all.push_back(session.name);
        return all;
    }
};

TEST_F(WindowDemoTest, AreRecordedOneAfterTheOtherWhereThereIsNoSessionAndAPersonAsks) {
    options.size = {1280, 800};
    open();
    ASSERT_NE(offered(), nullptr);
    ASSERT_TRUE(QTest::qWaitFor([&] { return offered()->isVisible(); }, 5000));
    picture(window(), "demo-offered");
    EXPECT_TRUE(names().empty()) << "nothing by itself";
    place->demo().setSecondsEach(0.15);
    QTest::mouseClick(offered(), Qt::LeftButton);
    EXPECT_TRUE(place->demo().recording());
    EXPECT_FALSE(offered()->isVisible());
    ASSERT_TRUE(QTest::qWaitFor([&] { return !place->demo().recording(); }, 10'000));
    ASSERT_EQ(names().size(), 2u);
    EXPECT_TRUE(names()[1].starts_with("demo: ") && names()[1].ends_with("=off")) << names()[1];
    EXPECT_TRUE(names()[0].starts_with("demo: ") && !names()[0].ends_with("=off")) << names()[0] << ", newest first";
    EXPECT_FALSE(place->runs().busy());
    ASSERT_TRUE(QTest::qWaitFor([&] { return window().sessions().model().rowCount() == 2; }, 5000));
    EXPECT_FALSE(offered()->isVisible());
    const auto info = SessionReader::open(options.database.toStdString()).value()->info(1);
    ASSERT_TRUE(info);
    EXPECT_TRUE(info->name.ends_with("=off")) << info->name;
    EXPECT_EQ(info->config->preset, "tiny-cpu");
    // Once more, from the menu.
    ASSERT_NE(entry("Record two short demo sessions"), nullptr);
    entry("Record two short demo sessions")->trigger();
    EXPECT_TRUE(place->demo().recording());
    ASSERT_TRUE(QTest::qWaitFor([&] { return !place->demo().recording(); }, 10'000));
    EXPECT_EQ(names().size(), 4u);
}

TEST_F(WindowDemoTest, AreGivenUpWhenARunStarts) {
    open();
    place->demo().setSecondsEach(60);
    entry("Record two short demo sessions")->trigger();
    ASSERT_TRUE(QTest::qWaitFor([&] { return names().size() == 1; }, 5000));
    press("Run");
    ASSERT_TRUE(reaches(5));
    EXPECT_FALSE(place->demo().recording());
    EXPECT_EQ(names().size(), 1u) << "what was cut short is not kept";
    EXPECT_FALSE(names().front().starts_with("demo: ")) << names().front();
    // Not beside a run.
    entry("Record two short demo sessions")->trigger();
    EXPECT_FALSE(place->demo().recording());
    press("Stop");
    ASSERT_TRUE(idle());
}

TEST_F(WindowDemoTest, AreGivenUpWhenTheWindowCloses) {
    open();
    place->demo().setSecondsEach(60);
    entry("Record two short demo sessions")->trigger();
    ASSERT_TRUE(QTest::qWaitFor([&] { return names().size() == 1; }, 5000));
    place = nullptr;
    EXPECT_TRUE(names().empty());
}

}  // namespace
}  // namespace stepscope
