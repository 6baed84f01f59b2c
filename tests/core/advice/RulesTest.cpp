// Each rule: facts that trigger it, and facts just below its threshold that do not. No advice without evidence, whatever is known or not known.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <functional>
#include <set>
#include <sstream>

#include "core/advice/Rules.h"
#include "core/base/CounterRandom.h"

namespace stepscope {
namespace {

// Of which no rule says anything.
AdviceFacts quiet() {
    AdviceFacts facts;
    facts.machine.cores = 4;
    facts.machine.instructions = {"avx512", "avx512_bf16"};
    facts.plan.config.layers = 4;
    facts.plan.config.lr = 3e-4;
    facts.plan.precision = Precision::Bf16;
    facts.plan.optimizer = OptimizerKind::Fused;
    facts.plan.hostMemory = HostMemory::Caching;
    facts.plan.batchSize = 8;
    facts.plan.maxNorm = 1;
    facts.parameters = 124'000'000;
    facts.vocabularyRows = 50304;
    facts.work = {.tokens = 1024, .products = 1e12, .head = 5e11};
    facts.peaks = {.float32 = 1e11, .bf16 = 4e11, .bytesPerSecond = 1e10, .secondsAPage = 1e-6};
    facts.stepMs = facts.medianMs = 100;
    facts.quartilesMs = 1;
    facts.phaseMs = {1, 1, 30, 60, 1, 2};
    facts.faultsPerStep = 10;
    facts.validationMs = 100;
    facts.plan.validation.everySteps = 100;
    facts.othersPct = facts.stealPct = 0;
    facts.smallLaunches = 50;
    facts.smallShare = 0.1;
    facts.twiceTheBatchGain = 1.0;
    facts.manualAttentionMs = facts.sdpaAttentionMs = 1;
    facts.memoryShare = 0.7;
    facts.freeDiskBytes = 1e12;
    facts.checkpointBytes = 1e9;
    facts.stepsMade = 1000;
    facts.clippedShare = 0.1;
    return facts;
}

std::set<std::string> spoken(const AdviceFacts& facts) {
    std::set<std::string> ids;
    for (const Finding& finding : findings(facts)) ids.insert(finding.rule);
    return ids;
}

using Change = std::function<void(AdviceFacts&)>;
struct Case {
    const char* rule;
    Change triggers, justBelow;
};

const std::vector<Case>& cases() {
    static const std::vector<Case> all{
        {"float32-products",
         [](auto& f) {
             f.plan.precision = Precision::Float32;
             f.peaks.bf16 = 1.3e11;
         },
         [](auto& f) {
             f.plan.precision = Precision::Float32;
             f.peaks.bf16 = 1.29e11;
         }},
        {"fp16-without-units", [](auto& f) { f.plan.precision = Precision::Fp16; },
         [](auto& f) {
             f.plan.precision = Precision::Fp16;
             f.machine.instructions.push_back("avx512_fp16");
         }},
        {"fp16-unclipped",
         [](auto& f) {
             f.plan.precision = Precision::Fp16;
             f.plan.maxNorm = 0;
         },
         [](auto& f) {
             f.plan.precision = Precision::Fp16;
             f.plan.maxNorm = 1e-9;
         }},
        {"slower-attention",
         [](auto& f) {
             f.sdpaAttentionMs = 1.11;
             f.stepMs = f.medianMs = 40;
         },
         [](auto& f) {
             f.sdpaAttentionMs = 1.09;
             f.stepMs = f.medianMs = 30;
         }},
        {"page-faults",
         [](auto& f) {
             f.plan.hostMemory = HostMemory::System;
             f.faultsPerStep = 2001;
         },
         [](auto& f) {
             f.plan.hostMemory = HostMemory::System;
             f.faultsPerStep = 1999;
         }},
        {"unpadded-vocabulary",
         [](auto& f) {
             f.vocabularyRows = 50257;
             f.work.head = 1.01e11;
         },
         [](auto& f) {
             f.vocabularyRows = 50257;
             f.work.head = 0.99e11;
         }},
        {"loader-wait", [](auto& f) { f.phaseMs[0] = 4.1; }, [](auto& f) { f.phaseMs[0] = 3.9; }},
        {"validation-share", [](auto& f) { f.validationMs = 1112; }, [](auto& f) { f.validationMs = 1110; }},
        {"unfused-optimizer",
         [](auto& f) {
             f.plan.optimizer = OptimizerKind::Loop;
             f.phaseMs[5] = 3.01;
         },
         [](auto& f) {
             f.plan.optimizer = OptimizerKind::Loop;
             f.phaseMs[5] = 2.99;
         }},
        {"small-operations",
         [](auto& f) {
             f.smallLaunches = 100;
             f.smallShare = 0.3;
         },
         [](auto& f) {
             f.smallLaunches = 99;
             f.smallShare = 0.9;
         }},
        {"tight-memory", [](auto& f) { f.memoryShare = 0.901; }, [](auto& f) { f.memoryShare = 0.899; }},
        {"recomputes-with-room",
         [](auto& f) {
             f.plan.recompute.everyKthBlock = 1;
             f.memoryShare = 0.49;
         },
         [](auto& f) {
             f.plan.recompute.everyKthBlock = 1;
             f.memoryShare = 0.5;
         }},
        {"idle-memory",
         [](auto& f) {
             f.twiceTheBatchGain = kUnknown;
             f.memoryShare = 0.49;
             f.work.products = 2.39e10;
             f.work.head = 0;
         },
         [](auto& f) {
             f.twiceTheBatchGain = kUnknown;
             f.memoryShare = 0.49;
             f.work.products = 2.41e10;
             f.work.head = 0;
         }},
        {"batch-below-knee", [](auto& f) { f.twiceTheBatchGain = 1.05; }, [](auto& f) { f.twiceTheBatchGain = 1.049; }},
        {"rate-too-high",
         [](auto& f) {
             f.rate = RateFinding{RateTrouble::TooHigh, 3e-2, "It went up and down."};
         },
         [](auto& f) { f.rate.reset(); }},
        {"rate-too-low",
         [](auto& f) {
             f.rate = RateFinding{RateTrouble::TooLow, 1e-6, "It hardly moved."};
         },
         [](auto& f) { f.rate.reset(); }},
        {"decays-late",
         [](auto& f) {
             f.rate = RateFinding{RateTrouble::DecaysLate, 1e-3, "It stood still."};
         },
         [](auto& f) { f.rate.reset(); }},
        {"loss-broke", [](auto& f) { f.brokeDown = true; }, [](auto& f) { f.brokeDown = false; }},
        {"rate-unusual", [](auto& f) { f.plan.config.lr = 1.81e-3; }, [](auto& f) { f.plan.config.lr = 1.79e-3; }},
        {"clips-always",
         [](auto& f) {
             f.clippedShare = 0.9;
             f.stepsMade = 50;
         },
         [](auto& f) {
             f.clippedShare = 1;
             f.stepsMade = 49;
         }},
        {"threads", [](auto& f) { f.plan.config.threads = 3; }, [](auto& f) { f.plan.config.threads = 4; }},
        {"noisy-machine", [](auto& f) { f.othersPct = 10; },
         [](auto& f) {
             f.othersPct = 9.9;
             f.stealPct = 4.9;
             f.quartilesMs = 9.9;
         }},
        {"checkpoint-room", [](auto& f) { f.checkpointBytes = 1.1e12; }, [](auto& f) { f.checkpointBytes = 1e12; }},
    };
    return all;
}

TEST(Rules, AreSilentWhereNothingIsWrong) {
    EXPECT_EQ(spoken(quiet()), std::set<std::string>{});
}

TEST(Rules, SpeakAtTheirThresholdAndNotJustBelowIt) {
    for (const Case& one : cases()) {
        AdviceFacts facts = quiet();
        one.triggers(facts);
        EXPECT_TRUE(spoken(facts).contains(one.rule)) << one.rule;
        facts = quiet();
        one.justBelow(facts);
        EXPECT_FALSE(spoken(facts).contains(one.rule)) << one.rule;
    }
}

TEST(Rules, OfClippingAndRatesSpeakOfWhatTheRunDid) {
    AdviceFacts facts = quiet();
    facts.clippedShare = 1;
    facts.stepsMade = 500;
    facts.clippedAt = facts.plan.maxNorm / 2;
    EXPECT_FALSE(spoken(facts).contains("clips-always")) << "what is set now bounds less than what the run had";
    facts.clippedAt = facts.plan.maxNorm * 2;
    for (const Finding& found : findings(facts)) {
        if (found.rule != "clips-always") continue;
        EXPECT_EQ(found.evidence.back().value, facts.clippedAt);
    }
    EXPECT_TRUE(spoken(facts).contains("clips-always"));
    facts = quiet();
    facts.plan.config.lr = 1;
    EXPECT_TRUE(spoken(facts).contains("rate-unusual"));
    facts.plan.config.schedule = "range-test";
    EXPECT_FALSE(spoken(facts).contains("rate-unusual")) << "its rate is too high on purpose";
    facts = quiet();
    facts.checkpointBytes = facts.leastCheckpointBytes = 2e12;
    EXPECT_FALSE(spoken(facts).contains("checkpoint-room")) << "keeping fewer than one helps nobody";
    facts.checkpointBytes = 1.8e12;
    facts.leastCheckpointBytes = 1.2e12;
    EXPECT_FALSE(spoken(facts).contains("checkpoint-room")) << "nor keeping one, while the next one is written beside it";
    facts.leastCheckpointBytes = 0.8e12;
    EXPECT_TRUE(spoken(facts).contains("checkpoint-room"));
}

TEST(Rules, HaveACaseEachAndAnIdOfTheirOwn) {
    std::set<std::string> ids, tried;
    for (const Rule& rule : rules()) EXPECT_TRUE(ids.insert(rule.id).second) << rule.id;
    for (const Case& one : cases()) tried.insert(one.rule);
    EXPECT_EQ(ids, tried);
    EXPECT_GE(ids.size(), 12u);
}

TEST(Rules, OfANoisyMachineNameEachThingThatIsTooMuch) {
    AdviceFacts facts = quiet();
    facts.stealPct = 5;
    ASSERT_EQ(findings(facts).size(), 1u);
    EXPECT_EQ(findings(facts)[0].evidence.size(), 1u);
    facts.quartilesMs = 10;
    EXPECT_EQ(findings(facts)[0].evidence.size(), 2u);
}

TEST(Rules, DoNotJudgeABatchByTimingsBesideOtherPrograms) {
    AdviceFacts facts = quiet();
    facts.twiceTheBatchGain = 2.04;
    EXPECT_TRUE(spoken(facts).contains("batch-below-knee"));
    facts.othersPct = 83;
    EXPECT_FALSE(spoken(facts).contains("batch-below-knee"));
    EXPECT_TRUE(spoken(facts).contains("noisy-machine"));
    facts.othersPct = quiet().othersPct;
    facts.stealPct = 4.9;
    EXPECT_TRUE(spoken(facts).contains("batch-below-knee"));
    facts.stealPct = 5;
    EXPECT_FALSE(spoken(facts).contains("batch-below-knee")) << "nor while the host takes time for others";
    EXPECT_TRUE(spoken(facts).contains("noisy-machine"));
}

TEST(Rules, SayNothingOfWhatNobodyMeasured) {
    AdviceFacts facts;
    facts.machine.cores = 4;
    facts.machine.instructions = {"avx512_bf16"};
    EXPECT_EQ(spoken(facts), std::set<std::string>{});
}

// Whatever the facts are, known or not, sensible or not.
TEST(Rules, NeverSpeakWithoutEvidenceASentenceAndSomethingToTry) {
    const auto changes = cases();
    std::size_t said = 0;
    for (std::uint64_t round = 0; round < 2000; ++round) {
        AdviceFacts facts = quiet();
        for (std::size_t i = 0; i < changes.size(); ++i)
            if (counterRandomBelow(7, round, 2 * i, 3) == 0) changes[i].triggers(facts);
        std::uint64_t draw = 1000;
        const auto disturb = [&](double& value) {
            const double odd[] = {value, kUnknown, 0, -1, INFINITY, 1e300};
            value = odd[counterRandomBelow(9, round, ++draw, 12) % 6];
        };
        for (double* value : {&facts.stepMs,        &facts.medianMs,          &facts.quartilesMs,        &facts.faultsPerStep,
                              &facts.validationMs,  &facts.othersPct,         &facts.stealPct,           &facts.smallLaunches,
                              &facts.smallShare,    &facts.twiceTheBatchGain, &facts.manualAttentionMs,  &facts.sdpaAttentionMs,
                              &facts.memoryShare,   &facts.freeDiskBytes,     &facts.checkpointBytes,    &facts.clippedShare,
                              &facts.peaks.float32, &facts.peaks.bf16,        &facts.peaks.secondsAPage, &facts.work.products,
                              &facts.work.head,     &facts.phaseMs[0],        &facts.phaseMs[5],         &facts.plan.config.lr})
            if (counterRandomBelow(11, round, ++draw, 4) == 0) disturb(*value);
        for (const Finding& finding : findings(facts)) {
            ++said;
            EXPECT_FALSE(finding.evidence.empty()) << finding.rule;
            EXPECT_FALSE(finding.sentence.empty()) << finding.rule;
            EXPECT_FALSE(finding.remedies.empty()) << finding.rule;
            for (const Evidence& one : finding.evidence)
                EXPECT_TRUE(std::isfinite(one.value) && !one.text.empty()) << finding.rule << " " << one.name;
        }
    }
    EXPECT_GT(said, 2000u);
}

TEST(Rules, StandInTheGuideWithTheirThreshold) {
    std::ifstream file(STEPSCOPE_SOURCE "/resources/guide/advice.md");
    std::stringstream text;
    text << file.rdbuf();
    for (const Rule& rule : rules())
        EXPECT_NE(text.str().find(std::string("| ") + rule.title + " (`" + rule.id + "`) | " + rule.threshold + " |"), std::string::npos) << rule.id;
}

}  // namespace
}  // namespace stepscope
