// The window over the real engine, with a model that takes milliseconds a step: how a test opens it, presses its buttons and reads it.
#pragma once
#include <gtest/gtest.h>

#include <QListView>
#include <QMenu>
#include <QSettings>
#include <QTemporaryDir>
#include <QTest>
#include <QToolButton>
#include <filesystem>
#include <fstream>
#include <memory>
#include <vector>

#include "app/gui/Workplace.h"
#include "widgets/panels/LogModel.h"
#include "widgets/panels/run/NoticeBar.h"
#include "widgets/panels/run/RunBar.h"
#include "widgets/panels/sessions/SessionsModel.h"
#include "widgets/panels/sessions/SessionsPanel.h"

namespace stepscope {

class EngineFixture : public testing::Test {
protected:
    // Processes that this one started and that are still there.
    static std::vector<pid_t> children() {
        std::vector<pid_t> all;
        for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) {
            std::ifstream file(thread.path() / "children");
            for (pid_t child = 0; file >> child;) all.push_back(child);
        }
        return all;
    }
    // The notice over the page, when it comes.
    bool says(const QString& words) {
        return QTest::qWaitFor([&] { return place->window().notice().sentence().contains(words); }, 30'000);
    }
    // A model that takes milliseconds a step.
    void open(const QStringList& more) {
        QSettings().clear();
        options.database = folder.filePath("s.db");
        options.demo = true;
        options.settings = QStringList{"data=generated", "layers=1",           "heads=2",   "width=32", "batch-size=2",
                                       "context=32",     "validation-every=0", "threads=1", "warmup=5"} +
                           more;
        place = std::make_unique<Workplace>(options);
        place->open();
    }
    ~EngineFixture() override {
        if (place && place->runs().busy()) place->runs().stop();
    }
    const RunHistory& live() { return *place->stage().live().history(); }
    bool reaches(std::int64_t session, std::int64_t step) {
        return QTest::qWaitFor([&] { return live().session() == session && live().rows() > 0 && live().numbers(1).step >= step; }, 30'000);
    }
    // The run's last words are drained at a tick after its thread has ended: only then is its history whole.
    bool idle() {
        return QTest::qWaitFor([&] { return !place->runs().busy() && live().state() && ended(live().state()->state); }, 30'000);
    }
    QToolButton* button(const QString& name) {
        for (auto* button : place->window().runBar().findChildren<QToolButton*>())
            if (button->text() == name) return button;
        return nullptr;
    }
    void press(const QString& name) {
        ASSERT_NE(button(name), nullptr) << name.toStdString();
        QTest::mouseClick(button(name), Qt::LeftButton);
    }
    // The context menu of a session's row, as a right click opens it.
    void choose(std::int64_t session, const QString& entry) {
        SessionsPanel& panel = place->window().sessions();
        const auto row = [&]() -> QModelIndex {
            for (int i = 0; i < panel.view().model()->rowCount(); ++i) {
                const QModelIndex index = panel.view().model()->index(i, 0);
                if (index.data(SessionsModel::IdRole).toLongLong() == session) return index;
            }
            return {};
        };
        ASSERT_TRUE(QTest::qWaitFor([&] { return row().isValid() && ended(panel.model().find(session)->state); }, 10'000));
        Q_EMIT panel.view().customContextMenuRequested(panel.view().visualRect(row()).center());
        auto* menu = panel.findChild<QMenu*>();
        ASSERT_NE(menu, nullptr);
        for (QAction* action : menu->actions())
            if (action->text() == entry) {
                ASSERT_TRUE(action->isEnabled());
                action->trigger();
                menu->close();
                return;
            }
        FAIL() << "no entry " << entry.toStdString();
    }
    bool logged(const QString& words) {
        const auto& log = place->stage().live().log();
        for (int i = 0; i < log.rowCount(); ++i)
            if (log.index(i, 0).data(LogModel::SentenceRole).toString().contains(words)) return true;
        return false;
    }

    QTemporaryDir folder;
    Options options;
    std::unique_ptr<Workplace> place;
};

}  // namespace stepscope
