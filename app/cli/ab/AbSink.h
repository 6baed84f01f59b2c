// AbSink: an experiment as the command line listens to it: how it stands, and what the report needs.
#pragma once
#include "app/cli/output/MeasuringSink.h"
#include "core/analysis/ExperimentHistory.h"
#include "core/analysis/JudgedSentence.h"

namespace stepscope::cli {

class AbSink final : public MeasuringSink {
public:
    using MeasuringSink::MeasuringSink;
    const ExperimentHistory& history() const { return m_history; }  // when it is over
    void publishChunk(ChunkPtr chunk) override;

private:
    void take(const Event& event) override;
    std::string verdict(bool whole) const;  // once there is one; else without its interval, so that a line has room for what is done

    std::mutex m_mutex;  // events and chunks come from threads of their own
    ExperimentHistory m_history;
    ArmNames m_names;
};

}  // namespace stepscope::cli
