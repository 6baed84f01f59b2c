// The question of the page Compare in the window: what both sides begin with, and the same once more on another preset.
#include <QDir>
#include <QFile>
#include <QMenu>
#include <QPushButton>
#include <QTabWidget>

#include "WindowFixture.h"
#include "core/analysis/ExperimentHistory.h"
#include "core/events/Event.h"
#include "sessions/SessionStore.h"
#include "widgets/panels/compare/CompareForm.h"
#include "widgets/panels/compare/ComparePage.h"
#include "widgets/panels/compare/CompareResult.h"
#include "widgets/panels/experiment/ExperimentPanel.h"
#include "widgets/panels/experiment/ValueRow.h"

namespace stepscope {
namespace {

class WindowQuestionTest : public WindowTest {
protected:
    ~WindowQuestionTest() override {
        setFakeExperiment({});
        setFakeCheckpoints(false);
    }
    void openPage() {
        setFakeExperiment({});
        open();
        window().pages().setCurrentWidget(&page());
        window().resize(1280, 800);
    }
    ComparePage& page() { return window().comparePage(); }
    CompareForm& form() { return page().form(); }
    CompareResult& result() { return page().result(); }
    QPushButton* on(QWidget& where, const QString& text) {
        for (auto* found : where.findChildren<QPushButton*>())
            if (found->text() == text) return found;
        return nullptr;
    }
    bool askable() {
        return QTest::qWaitFor([&] { return form().canMeasure(); }, 5000);
    }
    void measure() {
        ASSERT_TRUE(askable());
        QTest::mouseClick(form().measureButton(), Qt::LeftButton);
        ASSERT_TRUE(QTest::qWaitFor([&] { return place->runs().measuring(); }, 5000));
    }
    bool says(const QString& verdict) {
        return QTest::qWaitFor([&] { return result().verdict().startsWith(verdict); }, 15'000);
    }
};

TEST_F(WindowQuestionTest, TheSameWithItsSidesSwappedIsAnEarlierAnswerTurnedRound) {
    openPage();
    measure();
    ASSERT_TRUE(says("amp=bf16 is faster than")) << result().verdict().toStdString();
    ASSERT_TRUE(QTest::qWaitFor([&] { return !place->runs().measuring(); }, 15'000));
    CompareQuestion swapped = form().question();
    for (Difference& one : swapped.differences) std::swap(one.a, one.b);
    form().setQuestion(swapped);
    const auto links = [](QWidget& where) {
        for (auto* link : where.findChildren<QAbstractButton*>())
            if (link->isVisibleTo(&where) && link->text().contains(": slower by 10.7 %") && link->text().endsWith("(asked the other way round)"))
                return true;
        return false;
    };
    EXPECT_TRUE(QTest::qWaitFor([&] { return links(form()); }, 8000));
    measure();
    EXPECT_TRUE(QTest::qWaitFor([&] { return links(result()); }, 8000)) << "beside the answer too";
}

TEST_F(WindowQuestionTest, BothSidesBeginWithTheCheckpointThatIsChosen) {
    setFakeCheckpoints(true);
    openPage();
    ASSERT_TRUE(askable());
    const QString checkpoint = folder.filePath("checkpoint-42");
    ASSERT_TRUE(QDir().mkpath(checkpoint));
    QFile state(checkpoint + "/state.json");
    ASSERT_TRUE(state.open(QIODevice::WriteOnly));
    CompareQuestion asked = form().question();
    asked.start = checkpoint.toStdString();
    form().setQuestion(asked);
    Q_EMIT window().experiment().row("layers")->committed("layers", "6");
    ASSERT_TRUE(QTest::qWaitFor([&] { return form().said().contains("is of a model with another layers"); }, 5000)) << form().said().toStdString();
    EXPECT_FALSE(form().canMeasure());
    Q_EMIT window().experiment().row("layers")->committed("layers", "4");
    measure();
    ASSERT_TRUE(says("amp=bf16 is faster than amp=off by"));
    ASSERT_TRUE(idle());
    auto reader = SessionReader::open(options.database.toStdString());
    ASSERT_TRUE(reader.ok());
    const auto events = (*reader)->measurements(1);
    ASSERT_TRUE(events.ok());
    const auto chosen = chosenExperiment(*events);
    ASSERT_TRUE(chosen.history.began().has_value());
    EXPECT_EQ(chosen.history.began()->from, checkpoint.toStdString());
    const auto config = configFromJson(chosen.history.began()->configA);
    ASSERT_TRUE(config.ok());
    EXPECT_GT(config->steps, 42 + 100'000) << "steps go on from there";
    EXPECT_TRUE(QTest::qWaitFor([&] { return form().question().start == checkpoint.toStdString(); }, 5000));
}

TEST_F(WindowQuestionTest, TheSameQuestionIsAskedOnAnotherPreset) {
    openPage();
    measure();
    ASSERT_TRUE(says("amp=bf16 is faster than amp=off by"));
    ASSERT_TRUE(idle());
    CompareQuestion another = form().question();
    another.differences = {{"host-memory", "caching", "system"}};
    form().setQuestion(another);
    const std::string data = window().experiment().config().data;
    QPushButton* button = on(result(), "On another preset");
    ASSERT_NE(button, nullptr);
    ASSERT_TRUE(button->isEnabled());
    QAction* other = nullptr;
    for (QAction* entry : button->menu()->actions()) {
        if (entry->data().toString() == "gpt2-small") other = entry;
        if (entry->data().toString() == "tiny-cpu") {
            EXPECT_FALSE(entry->isEnabled()) << "that is what was asked";
        }
    }
    ASSERT_NE(other, nullptr);
    other->trigger();
    EXPECT_TRUE(page().asking());
    EXPECT_EQ(window().experiment().config().layers, 12);
    EXPECT_EQ(window().experiment().config().data, data);
    const std::vector<Difference> asked{{"amp", "off", "bf16"}};
    EXPECT_TRUE(QTest::qWaitFor([&] { return form().question().differences == asked; }, 5000));
    QTest::qWait(300);
    EXPECT_FALSE(place->runs().measuring()) << "it is a person who measures";
}

}  // namespace
}  // namespace stepscope
