// AbSink: an experiment as the command line listens to it: how it stands, and what the report needs.
#pragma once
#include "app/cli/output/MeasuringSink.h"
#include "core/analysis/ExperimentHistory.h"

namespace stepscope::cli {

class AbSink final : public MeasuringSink {
public:
    using MeasuringSink::MeasuringSink;
    const ExperimentHistory& history() const { return m_history; }  // when it is over
    void publishChunk(ChunkPtr chunk) override;

private:
    void take(const Event& event) override;
    std::string verdict() const;  // once there is one

    std::mutex m_mutex;  // events and chunks come from threads of their own
    ExperimentHistory m_history;
};

}  // namespace stepscope::cli
