// What a stored run says of its settings: how its loss moved with its learning rate, how often it clipped, how it ended. Any thread but the window's.
#pragma once
#include "core/advice/Facts.h"

namespace stepscope {

// Adds them to `facts`. Errors: those of reading the session; BadInput where it is no run.
Status addRunFacts(const std::string& database, std::int64_t session, AdviceFacts& facts);

}  // namespace stepscope
