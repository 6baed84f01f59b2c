// Evaluates a checkpoint's weights on data of one's own, for the command line: torch-free header. Called on the main thread, which waits.
#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/base/Result.h"
#include "core/base/Units.h"

namespace stepscope {

struct EvaluateRequest {
    std::string checkpoint;    // its folder, or weights that another program wrote (StoredModel.h)
    std::string data;          // as RunConfig::data; empty = the part of its own data that its run validated on
    std::int64_t context = 0;  // tokens of a window; 0 = as many as the model has positions
    std::int64_t batch = 8;    // windows at a time
    std::int64_t tokens = 0;   // at most so many; 0 = all
    std::int64_t threads = 0;  // 0 = every core
    std::string dtype{};  // of the weights, a word of --dtype, by the Decoder that writes text, beside f32 by the same; empty = as training computes
};

// What the weights give in one type.
struct TypedAnswer {
    std::string dtype;
    double loss = 0, perplexity = 0;
    Bytes weights;                       // memory of the copy that is read
    double readPerSecond = kUnknown;     // tokens, of this evaluation
    double writtenPerSecond = kUnknown;  // tokens, of a short text: a look, not a measurement
};

struct EvaluateAnswer {
    double loss = 0;  // mean, nats
    double perplexity = 0;
    std::int64_t tokens = 0;
    double seconds = 0;  // of the evaluation alone, without reading and tokenising
    double tokensPerSecond = 0;
    std::string data;                // what it was evaluated on
    std::vector<TypedAnswer> types;  // f32 and the type that was asked for; the rest of the answer is of the last; empty where none was
};

// progress: a share of the tokens, now and then.
Result<EvaluateAnswer> evaluateCheckpoint(const EvaluateRequest& request, const std::function<void(double)>& progress,
                                          const std::atomic<bool>& cancelled);

}  // namespace stepscope
