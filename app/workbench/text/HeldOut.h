// The text that a stored model is asked about: the part of its own data that its run validated on, or other data, read by its tokenizer. Opened by
// evaluations on the thread that asks.
#pragma once
#include <atomic>
#include <string>

#include "app/workbench/StoredModel.h"
#include "core/data/Corpus.h"

namespace stepscope {

struct HeldOut {
    Corpus corpus;
    std::int64_t begin = 0, end = 0;  // of the tokens that are read, at least two
};

// data: as RunConfig::data; empty = its own. tokens: at most so many are predicted; 0 = all.
Result<HeldOut> openHeldOut(const StoredModel& model, const std::string& data, std::int64_t tokens, const std::atomic<bool>& cancelled);

}  // namespace stepscope
