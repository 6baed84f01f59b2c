// The window over the real engine, with a model that takes milliseconds a step: how a test opens it, presses its buttons and reads it.
#pragma once
#include <gtest/gtest.h>

#include <QSettings>
#include <QTemporaryDir>
#include <QTest>
#include <QToolButton>
#include <memory>

#include "app/gui/Workplace.h"
#include "widgets/panels/LogModel.h"
#include "widgets/panels/RunBar.h"

namespace stepscope {

class EngineFixture : public testing::Test {
protected:
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
