// A search for the fastest settings without torch for the window's tests: three candidates race, one wins, and an experiment of FakeWorkbench's says
// what it is worth.
#pragma once
#include "app/workbench/experiments/LiveStudy.h"
#include "app/workbench/experiments/StudyRequests.h"
#include "core/events/Study.h"

namespace stepscope {

class FakeTune final : public LiveStudy {
public:
    FakeTune(TuneRequest request, const Machine& machine, ExperimentStart start, EventSink& sink);
    ~FakeTune() override { end(); }

private:
    Outcome study() override;
    StudyBegan began() const override;
    TuneRequest m_request;
};

}  // namespace stepscope
