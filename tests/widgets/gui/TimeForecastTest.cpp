// How long a run would take, told from the runs in the list: only from one of which a step takes as long.
#include <gtest/gtest.h>

#include "app/gui/wiring/TimeForecast.h"
#include "core/events/ConfigKeys.h"

namespace stepscope {
namespace {

SessionRow rowWith(const RunConfig& config) {
    SessionRow row;
    row.id = 7;
    row.steps = 100;
    row.msPerStep = 67.1;
    for (const auto& [key, value] : listConfig(config)) row.config.emplace_back(QString::fromStdString(key), QString::fromStdString(value));
    return row;
}

bool isKnown(const RunConfig& asked, const RunConfig& stored) {
    SessionsModel sessions;
    sessions.setRows({rowWith(stored)});
    return forecastTime(asked, sessions).known;
}

TEST(TimeForecast, OfDataThatBringTheirOwnIdsAStepIsKnownFromTheSameDataAlone) {
    RunConfig text;
    text.data = "kjv";
    RunConfig other = text, ready = text, folder = text;
    other.data = "/home/me/other.txt";
    ready.data = "/home/me/gpt2.bin";
    folder.data = "/home/me/shards";
    EXPECT_TRUE(isKnown(text, text));
    EXPECT_TRUE(isKnown(other, text)) << "the tokenizer says how many ids there are";
    EXPECT_FALSE(isKnown(ready, text));
    EXPECT_FALSE(isKnown(text, ready));
    EXPECT_FALSE(isKnown(folder, text));
    EXPECT_TRUE(isKnown(ready, ready));
    EXPECT_TRUE(isKnown(folder, folder));
    text.tokenizer = other.tokenizer = "char";
    EXPECT_TRUE(isKnown(text, text));
    EXPECT_FALSE(isKnown(other, text));
}

TEST(TimeForecast, AStepOfAnotherMachineOfSeveralWorkersOrOfFlippedSwitchesIsNotOneOfThisRun) {
    RunConfig asked;
    asked.data = "kjv";
    SessionRow elsewhere = rowWith(asked), mixed = rowWith(asked), own = rowWith(asked);
    elsewhere.host = "gpu-rack";
    elsewhere.startedUnixMs = 3'000;
    mixed.isOfOneKind = false;
    mixed.id = 8;
    mixed.startedUnixMs = 2'000;
    own.id = 9;
    own.startedUnixMs = 1'000;
    SessionsModel sessions;
    sessions.setRows({elsewhere, mixed});
    EXPECT_FALSE(forecastTime(asked, sessions).known);
    sessions.setRows({elsewhere, mixed, own});
    const TimeForecast forecast = forecastTime(asked, sessions);
    EXPECT_TRUE(forecast.known);
    EXPECT_TRUE(forecast.source.contains("session 9")) << forecast.source.toStdString() << ": an older one of its own";
}

}  // namespace
}  // namespace stepscope
