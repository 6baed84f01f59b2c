// The data of a configuration, opened as a run opens them, for looks at it. Any thread.
#pragma once
#include <atomic>
#include <memory>

#include "app/workbench/diagnose/TimedSteps.h"
#include "core/data/BatchSource.h"

namespace stepscope {

// Errors: those of openCorpus and of BatchSource::accepts, about the data.
Result<std::shared_ptr<BatchSource>> openBatches(const RunPlan& plan, const LookProgress& progress, const std::atomic<bool>& cancelled);

}  // namespace stepscope
