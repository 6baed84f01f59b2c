// Text from a checkpoint's weights, for the command line and the window: torch-free header. Each call opens what it needs and closes it again; any
// thread but the window's, which waits for nothing.
#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/base/Result.h"
#include "core/base/Units.h"
#include "core/events/Command.h"

namespace stepscope {

struct TextRequest {
    std::string from;                   // the folder of a checkpoint
    GenerateText how;                   // its prompt is not read
    std::vector<std::string> prompts;   // written behind beside each other
    std::vector<std::string> places{};  // where each of them is from, as a sentence begins; empty: from where everybody knows
    std::string dtype = "f32";          // of the weights: f32, bf16, int8, int4, int8-dynamic
    std::int64_t threads = 0;           // 0 = every core
    bool ignoreEnd = false;             // as many tokens as asked for, whatever the tokenizer's end of text says
};

struct TextSpeed {
    std::int64_t promptTokens = 0, textTokens = 0;                // of all texts together
    double promptPerSecond = kUnknown, textPerSecond = kUnknown;  // tokens
    Bytes weights, cache;                                         // memory of the copy of the weights, and of what is kept of each token
    int threads = 0;
    std::string recomputed;  // why the whole context was computed anew for each token, a clause; empty = each was computed once
};

struct TextAnswer {
    std::vector<std::string> texts;  // prompts left out
    TextSpeed speed;
    bool stopped = false;  // before every text was complete
};

// onText gets a whole text so far and which prompt it is behind. What there is of the texts when `cancelled`.
Result<TextAnswer> writeTexts(const TextRequest& request,
                              const std::function<void(std::size_t prompt, const std::string& soFar, const TextSpeed& speed)>& onText,
                              const std::atomic<bool>& cancelled = std::atomic<bool>(false));

}  // namespace stepscope
