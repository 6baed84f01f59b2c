#include "sessions/findings/StoredRuns.h"

#include "core/events/Event.h"

namespace stepscope {
namespace {

constexpr std::int64_t kPage = 8192;  // events

}  // namespace

Result<StoredRun> readStoredRun(SessionReader& reader, std::int64_t session) {
    StoredRun run;
    for (std::int64_t from = 0;;) {
        const auto events = reader.events(session, from, kPage);
        if (!events) return events.error();
        if (events->empty()) break;
        for (const Event& event : *events) addEvent(run, event);
        from += static_cast<std::int64_t>(events->size());
    }
    run.session = session;
    return run;
}

}  // namespace stepscope
