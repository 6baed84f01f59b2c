// The result of a comparison over a history that a test writes pair by pair.
#pragma once
#include <gtest/gtest.h>

#include <QLabel>
#include <QPushButton>
#include <cmath>
#include <limits>
#include <memory>

#include "core/events/Event.h"
#include "widgets/panels/compare/CompareResult.h"

namespace stepscope {

class CompareResultTest : public testing::Test {
protected:
    CompareResultTest() {
        result.resize(660, 560);
        result.show();
    }
    void begin(double delta = 0.01) { history->add(ExperimentBegan{.seed = 3, .budgetSeconds = 60, .delta = delta, .comparison = ""}); }
    void pair(int number, double ratio, bool left = false, double low = 0, double high = std::numeric_limits<double>::infinity()) {
        for (const Arm arm : {Arm::A, Arm::B}) {
            BlockDone block{.step = number, .pair = number, .arm = arm};
            block.steps = 10;
            block.tokens = 1000;
            block.duration = TimeNs::fromSeconds(arm == Arm::A ? 0.5 * ratio : 0.5);
            block.median = TimeNs::fromSeconds(0.05);
            block.slowest = TimeNs::fromSeconds(0.07);
            block.pageFaults = 20;
            block.peakBytes = 5e7;
            block.operations = 253;
            history->add(block);
        }
        ExperimentJudged judged{
            .pair = number, .difference = std::log(ratio), .discarded = left, .ratio = ratio, .low = low, .high = high, .pairs = number + 1};
        judged.rebuild = number / 3;
        history->add(judged);
    }
    void show(CompareView::Stage stage, bool live = false) {
        CompareView view;
        view.stage = stage;
        view.live = live;
        view.title = "amp=off beside amp=bf16";
        view.settingsA = "amp=off";
        view.settingsB = "amp=bf16";
        view.history = history;
        view.elapsed = 12;
        view.canUse = true;
        result.setView(view);
    }
    QPushButton* button(const QString& text) const {
        for (auto* found : result.findChildren<QPushButton*>())
            if (found->text() == text) return found;
        return nullptr;
    }
    QString method() const {
        for (const auto* label : result.findChildren<QLabel*>())
            if (label->accessibleName() == "Method") return label->text();
        return "there is none";
    }
    std::shared_ptr<ExperimentHistory> history = std::make_shared<ExperimentHistory>();
    CompareResult result;
};

}  // namespace stepscope
