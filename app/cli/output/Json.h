// The command line's JSON: keys in the order written, numbers that are not known as null, losses with nine digits
// (enough to tell any two float32 apart). Used by every --json and by the step log.
#pragma once
#include <cstdint>
#include <string>

#include "app/workbench/reports/ReportJson.h"
#include "core/base/Result.h"
#include "core/events/RunConfig.h"

namespace stepscope::cli {

using json::Json, json::number, json::bound, json::line;

Json nineDigits(double value);  // rounded to nine significant digits, null when not finite
Json toJson(const Value& value);
Json toJson(const RunConfig& config);  // every key by its name, switches among them
Json isoTime(std::int64_t unixMs);     // "2025-11-12T14:02:11.250Z", null for 0
// What went wrong, the same in every --json: {"code","subject","sentence"}; the subject, {"kind","name"}, is null where none is known.
Json toJson(const Error& error);
inline std::string jsonText(const Json& json) {
    return json::text(json);
}

}  // namespace stepscope::cli
