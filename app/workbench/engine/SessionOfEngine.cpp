#include "app/workbench/engine/SessionOfEngine.h"

#include <algorithm>
#include <utility>
#include <variant>
#include <vector>

#include "core/events/Event.h"
#include "sessions/SessionStore.h"

namespace stepscope {
namespace {

constexpr std::int64_t kFirstEvents = 500;     // by whom it is trained a session's log says when it begins
constexpr std::size_t kMostInterrupted = 100;  // newest first

bool says(const Event& event, const std::string& words) {
    const auto* line = std::get_if<LogLine>(&event);
    return line != nullptr && line->text.find(words) != std::string::npos;
}

}  // namespace

std::string byEngine(const std::string& engine) {
    return "by engine " + engine + ",";
}

std::optional<SessionOfEngine> sessionOfEngine(const std::string& database, const std::string& engine) {
    const auto reader = SessionReader::open(database.empty() ? defaultDatabasePath() : database);
    if (!reader) return std::nullopt;
    const auto all = (*reader)->list();
    if (!all) return std::nullopt;
    std::size_t looked = 0;
    for (const SessionSummary& one : *all) {
        if (one.kind != SessionKind::Run || one.state != RunState::Interrupted) continue;
        if (++looked > kMostInterrupted) return std::nullopt;
        const auto events = (*reader)->events(one.id, 0, kFirstEvents);
        const std::string words = byEngine(engine);
        if (!events || std::ranges::none_of(*events, [&words](const Event& event) { return says(event, words); })) continue;
        auto info = (*reader)->info(one.id);
        if (!info || !info->config) return std::nullopt;
        return SessionOfEngine{one.id, one.name, std::move(*info->config)};
    }
    return std::nullopt;
}

}  // namespace stepscope
