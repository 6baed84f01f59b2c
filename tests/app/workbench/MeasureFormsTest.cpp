// The forms of a checkpoint's weights: what is told of each, how it is stopped, and how it gives way to a run.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <set>

#include "TinyTraining.h"
#include "app/workbench/diagnose/MachineTurn.h"
#include "app/workbench/inference/FormTurns.h"
#include "app/workbench/inference/MeasureForms.h"
#include "core/state/Checkpoint.h"

namespace stepscope {
namespace {

class MeasureFormsTest : public ::testing::Test {
protected:
    MeasureFormsTest() : m_folder(std::filesystem::temp_directory_path() / fmt::format("stepscope-forms-{}", ::getpid())) {
        std::filesystem::create_directories(m_folder);
        const Registry registry(testing::plainCpu());
        RunConfig config = testing::tinyConfig(registry);
        config.data = "generated";
        config.tokenizer = "byte";
        const TrainState state = TrainState::initialise(registry.modelShape(config, 256), 3);
        EXPECT_TRUE(saveCheckpoint(path(), state, config, "", 1.5).ok());
    }
    ~MeasureFormsTest() override { std::filesystem::remove_all(m_folder); }
    std::string path() const { return (m_folder / "checkpoint").string(); }
    FormsRequest request() const {
        FormsRequest wanted;
        wanted.from = path();
        wanted.tokens = 61;
        wanted.budgetSeconds = 0;
        wanted.threads = 1;
        wanted.pruning = false;
        return wanted;
    }
    Result<FormsAnswer> measure(const FormsRequest& wanted) {
        return measureForms(
            wanted,
            [this](const FormsProgress& now, const FormsAnswer& soFar) {
                m_shares.push_back(now.share);
                if (m_afterEach) m_afterEach(now, soFar);
            },
            m_cancelled);
    }

    std::filesystem::path m_folder;
    std::vector<double> m_shares;
    std::function<void(const FormsProgress&, const FormsAnswer&)> m_afterEach;
    std::atomic<bool> m_cancelled{false};
};

TEST_F(MeasureFormsTest, ReadsTheHeldOutTextInEveryFormAndSaysWhatEachCosts) {
    FormsRequest wanted = request();
    wanted.pruning = true;
    const auto answer = measure(wanted);
    ASSERT_TRUE(answer) << answer.error().sentence;
    EXPECT_EQ(answer->tokens, 61);
    EXPECT_EQ(answer->windows, 6) << "five of twelve tokens and one that is left";
    ASSERT_EQ(answer->forms.size(), allForms().size());
    for (std::size_t i = 0; i < answer->forms.size(); ++i) {
        const FormRow& row = answer->forms[i];
        EXPECT_EQ(row.form, allForms()[i]);
        EXPECT_EQ(row.form, toString(kAllWeightTypes[i]));
        EXPECT_NEAR(row.perplexity, std::exp(row.loss), 1e-9);
        EXPECT_EQ(std::isfinite(row.quality.change), i > 0);
        if (i == 0) continue;
        EXPECT_NEAR(1 + row.quality.change, row.perplexity / answer->forms[0].perplexity, 1e-9);
        EXPECT_LE(row.quality.low, row.quality.change);
        EXPECT_GE(row.quality.high, row.quality.change);
        EXPECT_TRUE(row.text.judged.outcome.empty()) << "no time was taken";
        EXPECT_TRUE(std::isnan(row.text.perSecond));
        EXPECT_EQ(speedWords(row.text, answer->delta), "not measured");
    }
    const auto points = prunedPoints();
    ASSERT_EQ(points.size(), 13u) << "four shares of three kinds, and a pattern";
    ASSERT_EQ(answer->pruned.size(), points.size());
    std::set<double> perplexities;
    for (std::size_t i = 0; i < points.size(); ++i) {
        EXPECT_EQ(answer->pruned[i].name, points[i].name);
        EXPECT_EQ(answer->pruned[i].scope, points[i].scope);
        EXPECT_TRUE(std::isnan(answer->pruned[i].tunedPerplexity)) << "nothing was fine-tuned";
        if (points[i].scope == "global" || points[i].scope == "layer") {
            EXPECT_NEAR(answer->pruned[i].zeros, points[i].share, 1e-3) << points[i].name;
        }
        perplexities.insert(answer->pruned[i].perplexity);
    }
    EXPECT_GT(perplexities.size(), 10u) << "each is another model";
    EXPECT_NEAR(answer->pruned.back().zeros, 0.5, 1e-9);
    EXPECT_FALSE(answer->stopped);
    EXPECT_TRUE(std::ranges::is_sorted(m_shares)) << "it only grows";
}

TEST_F(MeasureFormsTest, FineTunesBehindEachPruningAndLeavesTheCheckpoint) {
    FormsRequest wanted = request();
    wanted.pruning = true;
    wanted.forms = {"int8"};
    const auto plain = measure(wanted);
    wanted.fineTune = 30;
    const auto tuned = measure(wanted);
    ASSERT_TRUE(plain && tuned) << tuned.error().sentence;
    EXPECT_EQ(tuned->fineTune, 30);
    ASSERT_EQ(tuned->pruned.size(), prunedPoints().size());
    for (std::size_t i = 0; i < tuned->pruned.size(); ++i) {
        const PrunedRow& row = tuned->pruned[i];
        EXPECT_EQ(row.perplexity, plain->pruned[i].perplexity) << row.name << ": without it as before";
        EXPECT_LT(row.tunedPerplexity, row.perplexity) << row.name << ": thirty steps of a model that has learnt nothing yet";
        EXPECT_NEAR(1 + row.tuned.change, row.tunedPerplexity / tuned->forms[0].perplexity, 1e-9);
    }
    EXPECT_EQ(measure(wanted)->forms[0].loss, plain->forms[0].loss) << "the checkpoint is as it was";
    wanted.fineTune = -1;
    EXPECT_FALSE(measure(wanted));
}

TEST_F(MeasureFormsTest, TellsWhatIsKnownWhenItIsStopped) {
    m_afterEach = [this](const FormsProgress&, const FormsAnswer& soFar) {
        if (soFar.forms.size() > 1 && std::isfinite(soFar.forms[1].loss)) m_cancelled = true;
    };
    const auto answer = measure(request());
    ASSERT_TRUE(answer) << answer.error().sentence;
    EXPECT_TRUE(answer->stopped);
    EXPECT_TRUE(std::isfinite(answer->forms[1].loss));
    EXPECT_TRUE(std::isnan(answer->forms.back().loss)) << "it was not read";
    m_afterEach = {};
    const auto nothing = measure(request());
    ASSERT_FALSE(nothing);
    EXPECT_EQ(nothing.error().code, ErrorCode::Cancelled);
}

TEST_F(MeasureFormsTest, WaitsForNoRunAndGivesWayToOne) {
    {
        const RunTurn run;
        const auto refused = measure(request());
        ASSERT_FALSE(refused);
        EXPECT_EQ(refused.error().code, ErrorCode::Unsupported);
        FormsRequest beside = request();
        beside.besideAPausedRun = true;
        EXPECT_TRUE(measure(beside));
    }
    EXPECT_TRUE(measure(request()));
}

TEST_F(MeasureFormsTest, RefusesWhatTheModelHasNoRoomFor) {
    FormsRequest wanted = request();
    wanted.prompt = 10;
    wanted.text = 3;
    const auto refused = measure(wanted);
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().sentence, ::testing::HasSubstr("12 positions"));
    wanted.text = 2;
    EXPECT_TRUE(measure(wanted));
}

TEST_F(MeasureFormsTest, SaysAChangeOfPerplexityWithItsInterval) {
    EXPECT_EQ(qualityWords({}, 0.01), "not measured");
    EXPECT_EQ(qualityWords({0.0123, kUnknown, kUnknown}, 0.01), "+1.23 %: inconclusive") << "one window tells nothing of how they scatter";
    EXPECT_EQ(qualityWords({0.0123, -0.001, 0.02}, 0.01), "+1.23 % [-0.10 %, +2.00 %]: inconclusive");
    EXPECT_EQ(qualityWords({0.0123, 0.005, 0.02}, 0.01), "+1.23 % [+0.50 %, +2.00 %]: worse");
    EXPECT_EQ(qualityWords({0.02, 0.00003, 0.04}, 0.01), "+2.000 % [+0.003 %, +4.000 %]: worse");
    EXPECT_EQ(qualityWords({-0.0123, -0.02, -0.005}, 0.01), "-1.23 % [-2.00 %, -0.50 %]: better");
    EXPECT_EQ(qualityWords({0.0001, -0.0001, 0.0002}, 0.01), "+0.01 % [-0.01 %, +0.02 %]: no difference of more than 1 %");
    EXPECT_EQ(qualityWords({0.0123, 0.005, 0.02}, 0.025), "+1.23 % [+0.50 %, +2.00 %]: no difference of more than 2.5 %");
}

TEST_F(MeasureFormsTest, HasFigureAndVerdictOfPerplexityApartForTheWindow) {
    EXPECT_EQ(qualityParts({0.0123, 0.005, 0.02}, 0.01).figure, "+1.23 % [+0.50 %, +2.00 %]");
    EXPECT_EQ(qualityParts({0.0123, 0.005, 0.02}, 0.01).verdict, "worse");
    EXPECT_EQ(qualityParts({}, 0.01).figure + qualityParts({}, 0.01).verdict, "");
}

TEST_F(MeasureFormsTest, JudgesAChangeOfPerplexityByItsIntervalAndDelta) {
    EXPECT_EQ(qualityOutcome({}, 0.01), "");
    EXPECT_EQ(qualityOutcome({0.0073, 0.0058, 0.0089}, 0.01), "equivalent") << "it is there, and too small to matter";
    EXPECT_EQ(qualityOutcome({0.0073, 0.0058, 0.0089}, 0.005), "worse");
    EXPECT_EQ(qualityOutcome({0.0073, 0.0058, 0.0101}, 0.01), "worse") << "it may be more than delta, and is surely more than none";
    EXPECT_EQ(qualityOutcome({0.5, 0, 1}, 0.01), "inconclusive");
    EXPECT_EQ(qualityOutcome({0, -0.00999, 0.0099}, 0.01), "inconclusive") << "as a ratio its lower end is further from one";
    EXPECT_EQ(qualityOutcome({-0.5, -0.6, -0.4}, 0.01), "better");
    EXPECT_EQ(qualityOutcome({kUnknown, 0.1, 0.2}, 0.01), "");
}

// The turns themselves, over a real model: every form has both speeds, and they end.
TEST_F(MeasureFormsTest, TakesTurnsUntilTheBudgetIsSpent) {
    FormsRequest wanted = request();
    wanted.budgetSeconds = 1;
    wanted.sequences = 2;
    wanted.forms = {"int8"};
    const auto answer = measure(wanted);
    ASSERT_TRUE(answer) << answer.error().sentence;
    ASSERT_EQ(answer->forms.size(), 2u);
    EXPECT_TRUE(answer->timed);
    for (const FormRow& row : answer->forms) {
        EXPECT_GT(row.prompt.perSecond, 0);
        EXPECT_GT(row.text.perSecond, 0);
        EXPECT_GT(row.cache.count, 0);
    }
    EXPECT_FALSE(answer->forms[1].text.judged.outcome.empty());
    EXPECT_TRUE(answer->forms[0].text.judged.outcome.empty()) << "float32 beside itself is asked by nobody";
}

}  // namespace
}  // namespace stepscope
