// One stored session as the panel lists it: plain words and numbers, made by app/gui from what the database holds.
#pragma once
#include <QString>
#include <QStringList>
#include <utility>
#include <vector>

#include "core/events/SessionInfo.h"

namespace stepscope {

struct SessionRow {
    std::int64_t id = 0;
    SessionKind kind = SessionKind::Run;
    QString name;
    QString notes;
    QStringList tags;
    RunState state = RunState::Running;
    QString why;
    std::int64_t startedUnixMs = 0;
    std::int64_t steps = 0;
    double msPerStep = kUnknown;        // median, first 3 steps left out
    double tokensPerSecond = kUnknown;  // at that median
    double loss = kUnknown;
    double validationLoss = kUnknown;
    std::vector<std::pair<QString, QString>> config;
    QString host;                 // of another machine that trained it
    bool severalWorkers = false;  // trained it, and what each took is stored
    bool isOfOneKind = true;      // one process made every step of it under the settings that it began with
    bool here = false;            // the live run of this window

    bool operator==(const SessionRow& other) const;
};

}  // namespace stepscope
