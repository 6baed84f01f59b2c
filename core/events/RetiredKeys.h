// Keys that older versions had and that stored sessions, checkpoints and YAML files still name. Each is read as what took its place.
#pragma once
#include <string>

#include "core/base/Result.h"
#include "core/events/RunConfig.h"

namespace stepscope {

// Whether `key` is of an older version.
bool isRetired(const std::string& key);

// Takes its value over into `config`, whose switches are those it was stored with. The error names key and value.
Status takeRetired(RunConfig& config, const std::string& key, const std::string& text);

// What to give instead, a sentence: for --set, where a person can still choose.
std::string insteadOfRetired(const RunConfig& config, const std::string& key, const std::string& text);

}  // namespace stepscope
