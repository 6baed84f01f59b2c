// The command line's JSON: keys in the order written, numbers that are not known as null, losses with nine digits
// (enough to tell any two float32 apart). Used by every --json and by the step log.
#pragma once
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "core/events/RunConfig.h"

namespace stepscope::cli {

using Json = nlohmann::ordered_json;

Json number(double value);                          // null when not finite
Json bound(double low, double high, double which);  // `which` of an interval's bounds; null where 0 or infinity bound nothing
Json nineDigits(double value);                      // rounded to nine significant digits, null when not finite
Json toJson(const Value& value);
Json toJson(const RunConfig& config);  // every key by its name, switches among them
Json isoTime(std::int64_t unixMs);     // "2025-11-12T14:02:11.250Z", null for 0
// On one line: broken UTF-8 is replaced; control characters and those that turn the direction of writing are escaped, for it may go to a terminal.
std::string jsonText(const Json& json);
std::string line(const Json& json);  // the same, ending in a newline

}  // namespace stepscope::cli
