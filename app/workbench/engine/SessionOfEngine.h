// Which stored session an engine that outlives its line trains, where the window that asked for it was killed: its own log says by which engine it is
// trained. Opens what it needs and closes it again; any thread but the window's.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "core/events/RunConfig.h"

namespace stepscope {

// As the log of such a session says it: "by engine 0123456789abcdef,".
std::string byEngine(const std::string& engine);

struct SessionOfEngine {
    std::int64_t session = 0;
    std::string name;
    RunConfig config;  // as it began
};
// The newest session of a database that this engine trains, whose end is not stored and which no other program records now.
std::optional<SessionOfEngine> sessionOfEngine(const std::string& database, const std::string& engine);

}  // namespace stepscope
