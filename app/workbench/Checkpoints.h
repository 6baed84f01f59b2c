// Checkpoints from outside a run: what is in one, and which of them a session has. Torch-free header,
// for the command line and the window. Each call opens what it needs and closes it again; any thread but the window's, which
// waits for nothing.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/Result.h"
#include "core/events/RunConfig.h"

namespace stepscope {

struct CheckpointInfo {
    std::string path;
    std::int64_t step = 0;  // updates made so far
    std::int64_t parameters = 0;
    std::string tokenizer;   // byte | char | gpt2; empty for ready tokens
    RunConfig config;        // complete
    double loss = 0;         // of the last step
    std::int64_t bytes = 0;  // on disk, all files together
};

// Reads the description, not the weights. Errors name the folder and what is missing or damaged in it.
Result<CheckpointInfo> inspectCheckpoint(const std::string& path);

// The configuration of a session with every switch checked as --set checks it. `place`: what the sentence calls the session.
Result<RunConfig> storedConfig(RunConfig config, const std::string& place);

// The configuration with the model that files hold weights of: layers, heads, width, vocabulary and the options that they tell, and a
// context that their positions reach; of a folder of Hugging Face's transformers and of llm.c's file also the tokenizer.
Result<RunConfig> withShapeOf(const std::string& weights, RunConfig config);
// Whether files are of those two kinds, so that the model needs not be set to begin from them.
bool tellsWholeModel(const std::string& weights);

// Paths of a session's checkpoints that are still there, oldest first. An unknown session is an error; none is an empty list.
Result<std::vector<std::string>> checkpointsOf(const std::string& database, std::int64_t session);
// The last of them; NotFound when there is none.
Result<std::string> newestCheckpoint(const std::string& database, std::int64_t session);

}  // namespace stepscope
