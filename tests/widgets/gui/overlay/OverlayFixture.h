// The window over sessions that a test stores with as many steps as it wants, and the charts that lie over each other in it.
#pragma once
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <QComboBox>
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "core/analysis/overlay/RunsOverlay.h"
#include "core/events/Event.h"
#include "sessions/record/Recorder.h"
#include "tests/widgets/gui/WindowFixture.h"
#include "widgets/charts/LivePage.h"
#include "widgets/panels/overlay/OverlayPane.h"
#include "widgets/panels/overlay/RunsTable.h"
#include "widgets/panels/run/NoticeBar.h"
#include "widgets/panels/sessions/SessionsModel.h"
#include "widgets/panels/sessions/SessionsPage.h"
#include "widgets/panels/sessions/SessionsPanel.h"
#include "widgets/style/SeriesColours.h"
#include "widgets/style/Theme.h"

namespace stepscope {

class WindowOverlayTest : public WindowTest {
protected:
    std::int64_t store(std::int64_t steps, std::int64_t layers = 4, std::int64_t seed = 1, const std::string& name = "stored") {
        SessionInfo info;
        info.name = name;
        info.startedUnixMs = 1'700'000'000'000 + 1000 * seed;
        info.config = presetConfig("tiny-cpu").value();
        info.config->steps = steps;
        info.config->layers = layers;
        info.config->seed = seed;
        info.machine->cpu = "Test CPU";
        info.machine->cores = 2;
        Recorder::Options where;
        where.path = options.database.toStdString();
        auto recorder = Recorder::open(where, info);
        EXPECT_TRUE(recorder.ok());
        const auto number = static_cast<double>(layers);
        for (std::int64_t step = 1; step <= steps; ++step) {
            const auto at = static_cast<double>(step);
            StepDone done;
            done.step = step;
            done.at = TimeNs{step * 1'000'000 * layers};
            done.duration = TimeNs{static_cast<std::int64_t>(1e6 * number * (1 + 0.1 * std::sin(at * 1.7 + static_cast<double>(seed))))};
            done.loss = 1.2 + 0.1 * number + 4 * std::exp(-at / 120) + 0.08 * std::sin(at * 12.9 + 5 * static_cast<double>(seed));
            done.learningRate = 1e-3 * std::min(1.0, at / 50);
            done.gradientNorm = 0.6 + 3 * std::exp(-at / 60) + 0.1 * std::abs(std::sin(at * 7));
            done.tokens = 1536;
            done.residentBytes = 300'000'000 + 40'000'000 * layers;
            (*recorder)->publish(done);
            if (step == steps / 2 && layers == 6)
                (*recorder)->publish(SwitchApplied{step, done.at, "amp", std::string("off"), std::string("bf16"), ""});
            if (step % 20 == 0) {
                DeviceSample sample;
                sample.at = done.at;
                sample.cpuPct = 80 + number + std::sin(at);
                sample.othersPct = 1;
                (*recorder)->publish(sample);
            }
        }
        if (steps > 0) (*recorder)->publish(StateChanged{{(steps + 1) * 1'000'000 * layers}, steps, RunState::Finished, ""});
        EXPECT_TRUE((*recorder)->finish().ok());
        return (*recorder)->session();
    }
    void change(const char* sql) {
        sqlite3* database = nullptr;
        ASSERT_EQ(sqlite3_open(options.database.toUtf8().constData(), &database), SQLITE_OK);
        EXPECT_EQ(sqlite3_exec(database, sql, nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(database);
        sqlite3_close(database);
    }
    LivePage& page() { return window().livePage(); }
    RunsOverlay* overlay() { return page().overlay(); }
    RunsTable& table() { return page().overlayPane().table(); }
    void layOver(const std::vector<std::int64_t>& sessions) { Q_EMIT window().sessions().overlayRequested(sessions); }
    bool listed(int many) {
        return QTest::qWaitFor([&] { return window().sessions().model().rowCount() == many; }, 10'000);
    }
    bool allRead() {
        return QTest::qWaitFor([&] { return overlay() != nullptr && !place->overlay().reading(); }, 20'000) && drawn();
    }
    // As a person chooses it, and the charts show it.
    bool groupsBy(const char* key) {
        QComboBox& grouping = page().overlayPane().grouping();
        const int row = grouping.findData(key);
        if (row <= 0) return false;
        grouping.setCurrentIndex(row);
        Q_EMIT grouping.activated(row);
        return drawn();
    }
    bool drawn() {
        return QTest::qWaitFor(
            [&] {
                for (std::size_t i = 0; i < LivePage::kCharts; ++i)
                    if (!page().chart(i).visibleRegion().isEmpty() && (page().chart(i).stale() || !page().chart(i).isDrawnFor(page().range().view())))
                        return false;
                return true;
            },
            20'000);
    }
    QString notice() { return window().notice().sentence(); }
    // Of a thin line, some pixels have nearly its very colour.
    bool hasColour(std::size_t chart, std::size_t colour) {
        const QImage image = page().chart(chart).grab().toImage();
        const QRectF plot = page().chart(chart).plot();
        const QColor wanted = overlayColour(colour, isDark(page().palette()));
        const int tolerance = overlay()->lines().size() > 7 ? 130 : 40;  // many lines are one pixel wide
        for (int y = static_cast<int>(plot.top()); y < static_cast<int>(plot.bottom()); ++y)
            for (int x = static_cast<int>(plot.left()); x < static_cast<int>(plot.right()); ++x) {
                const QColor at = image.pixelColor(x, y);
                if (std::abs(at.red() - wanted.red()) + std::abs(at.green() - wanted.green()) + std::abs(at.blue() - wanted.blue()) < tolerance)
                    return true;
            }
        return false;
    }
};

}  // namespace stepscope
