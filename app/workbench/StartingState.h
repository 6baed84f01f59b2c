// StartingState: the weights that a run begins with: new ones, those of a file (--init), or a checkpoint whose run goes on. What a checkpoint holds
// is compared with what was asked for and with the data: it is obeyed, or refused with a sentence, and what could not be told is said. Trainer
// thread.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "app/workbench/Workbench.h"
#include "core/data/Corpus.h"
#include "core/events/SessionInfo.h"
#include "core/state/TrainState.h"

namespace stepscope {

struct StartingState {
    TrainState state;
    std::vector<std::string> notes;  // sentences for the log, of what a person should know
};

// The tokenizer that the run's data are read by because its weights came with one: of a folder of Hugging Face's, or of a checkpoint that began
// there. null: the one that the configuration names.
Result<std::shared_ptr<const Tokenizer>> tokenizerOfStart(const RunRequest& request);

// shape: what the configuration asks for; threads: that the run's operations will have.
Result<StartingState> startingState(const RunRequest& request, const GptConfig& shape, const Corpus& corpus, std::int64_t threads);

// What a session says of the State that it begins with and of its text: sizes, tokens, the first step.
void describeStart(SessionInfo& info, const TrainState& start, const Corpus& corpus);

}  // namespace stepscope
