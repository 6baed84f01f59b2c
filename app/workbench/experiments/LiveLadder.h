// LiveLadder: a ladder that is measured rung by rung, stored as a session of its own kind. Carries out a LadderCourse; each leg is an experiment like
// any other.
#pragma once
#include "app/workbench/experiments/LiveStudy.h"
#include "app/workbench/experiments/StudyRequests.h"
#include "core/events/Study.h"
#include "core/experiment/LadderCourse.h"

namespace stepscope {

// What a ladder asks of the engine.
struct LadderEngine {
    // The complete configuration with these rungs on top of the request's; or why it cannot run here.
    std::function<Result<RunConfig>(const RungSet&)> config;
    LadderCourse::WhyNot whyNot;
    ExperimentStart start;
    Machine machine;
};

class LiveLadder final : public LiveStudy {
public:
    LiveLadder(LadderRequest request, LadderEngine engine, LadderCourse course, EventSink& sink);
    ~LiveLadder() override { end(); }

private:
    Outcome study() override;
    StudyBegan began() const override;
    void publishRows();

    LadderRequest m_request;
    LadderEngine m_engine;
    LadderCourse m_course;
};

// Keeps how long steps of a side took, for forecasts to come; nothing where these settings were timed before, or the database cannot be written.
void keepStepsOf(const ExperimentHistory& history, Arm arm, const RunConfig& config, const Machine& machine, const std::string& database);
// What it will take, from steps that were timed here before.
LadderForecast forecastOf(const LadderCourse& course, const LadderEngine& engine, const std::string& database);

LadderCourse courseOf(const LadderRequest& request, const LadderEngine& engine);

}  // namespace stepscope
