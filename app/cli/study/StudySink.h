// StudySink: a ladder or a search as the command line listens to it: how it stands, and what the report needs.
#pragma once
#include "app/cli/output/MeasuringSink.h"
#include "core/analysis/StudyHistory.h"

namespace stepscope::cli {

class StudySink final : public MeasuringSink {
public:
    using MeasuringSink::MeasuringSink;
    const StudyHistory& history() const { return m_history; }

private:
    void take(const Event& event) override;
    void onRow(const StudyRow& row);

    StudyHistory m_history;
};

}  // namespace stepscope::cli
