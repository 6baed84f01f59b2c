// The whole window over the fake engine and the real database, with what a test does to it: press, wait, look.
#pragma once
#include <gtest/gtest.h>

#include <QAction>
#include <QEvent>
#include <QSettings>
#include <QTemporaryDir>
#include <QTest>
#include <QToolButton>
#include <map>
#include <string>
#include <utility>

#include "app/gui/Workplace.h"
#include "fake/FakeWorkbench.h"
#include "widgets/panels/experiment/ExperimentPanel.h"
#include "widgets/panels/experiment/ValueRow.h"
#include "widgets/panels/run/RunBar.h"

namespace stepscope {

// How often each of the widgets that it looks at is drawn.
class PaintsOfEach : public QObject {
public:
    std::map<QObject*, int> painted;
    void lookAt(QWidget& widget) {
        widget.installEventFilter(this);
        painted[&widget] = 0;
    }
    bool eventFilter(QObject* of, QEvent* event) override {
        if (event->type() == QEvent::Paint) ++painted[of];
        return false;
    }
    int most() const { return busiest().second; }
    std::string who() const { return busiest().first; }  // is drawn most

private:
    std::pair<std::string, int> busiest() const {
        std::pair<std::string, int> found;
        for (const auto& [widget, count] : painted)
            if (count > found.second) {
                const QString name = static_cast<QWidget*>(widget)->accessibleName();
                found = {widget->metaObject()->className() + (" " + name).toStdString(), count};
            }
        return found;
    }
};

class WindowTest : public testing::Test {
public:
    // To be looked at: saved where STEPSCOPE_PICTURES names a folder.
    static void picture(QWidget& of, const QString& name) {
        const QString folder = qEnvironmentVariable("STEPSCOPE_PICTURES");
        if (folder.isEmpty()) return;
        EXPECT_TRUE(of.grab().save(folder + '/' + name + ".png"));
    }

protected:
    WindowTest() {
        QSettings().clear();
        setFakeStepMs(1);
        options.database = folder.filePath("s.db");
    }
    ~WindowTest() override {
        if (place && place->runs().busy()) place->runs().stop();
    }
    Workplace& open() {
        place = std::make_unique<Workplace>(options);
        place->open();
        EXPECT_TRUE(QTest::qWaitFor([&] { return place->runs().workbench() != nullptr; }));
        return *place;
    }
    MainWindow& window() { return place->window(); }
    const RunHistory& live() { return *place->stage().live().history(); }
    QToolButton* button(const QString& name) {
        for (auto* found : window().runBar().findChildren<QToolButton*>())
            if (found->text() == name) return found;
        return nullptr;
    }
    void press(const QString& name) {
        QToolButton* found = button(name);
        ASSERT_NE(found, nullptr) << name.toStdString();
        ASSERT_TRUE(QTest::qWaitFor([&] { return found->isEnabled(); }, 3000)) << name.toStdString();
        QTest::mouseClick(found, Qt::LeftButton);
    }
    QAction* entry(const QString& text) {  // of the menu
        for (auto* action : window().actions())
            if (QString(action->text()).remove('&') == text) return action;
        return nullptr;
    }
    // As the window system does it: to whatever has the focus.
    void key(Qt::Key which) {
        QWidget* focus = QApplication::focusWidget();
        QTest::keyClick(focus != nullptr ? focus : &window(), which);
    }
    bool reaches(std::int64_t step) {
        return QTest::qWaitFor([&] { return live().rows() > 0 && live().numbers(1).step >= step; }, 10'000);
    }
    bool becomes(RunState state) {
        return QTest::qWaitFor([&] { return live().state() && live().state()->state == state; }, 10'000);
    }
    bool idle() {
        return QTest::qWaitFor([&] { return !place->runs().busy(); }, 10'000);
    }
    std::vector<SessionSummary> stored() {
        auto reader = SessionReader::open(options.database.toStdString());
        return reader ? (*reader)->list().value() : std::vector<SessionSummary>{};
    }
    // So far that a flip's verdict follows it within 25 steps.
    void runPastShams() {
        Q_EMIT window().experiment().row("steps")->committed("steps", "100000");
        press("Run");
        ASSERT_TRUE(reaches(1'850));
    }
    void runAndStop(std::int64_t steps) {
        press("Run");
        ASSERT_TRUE(reaches(steps));
        press("Stop");
        ASSERT_TRUE(idle());
    }

    QTemporaryDir folder;
    Options options;
    std::unique_ptr<Workplace> place;
};

}  // namespace stepscope
