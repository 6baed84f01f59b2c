#include "app/workbench/RunRecorder.h"

#include <fmt/format.h>

#include <chrono>

#include "core/events/Event.h"

namespace stepscope {

std::int64_t unixMillisecondsNow() {
    return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

Result<std::shared_ptr<Recorder>> openRecorder(const std::string& chosen, const SessionInfo& info, EventTee& tee, const SessionClock& clock,
                                               const std::atomic<bool>& cancelled, std::optional<Recorder::GoneOn> goesOn) {
    const std::string database = chosen.empty() ? defaultDatabasePath() : chosen;
    Recorder::Options options;
    options.path = database;
    options.goesOn = std::move(goesOn);
    options.onBlocked = [&tee, &clock](bool blocked, const std::string& why) {
        tee.tell(LogLine{clock.now(), 0, blocked ? LogLevel::Error : LogLevel::Info,
                         blocked ? why + " Until then the run waits; stopping it gives up what is not stored yet." : "Storing works again."});
    };
    options.onEnded = [&tee, &clock](const Error& error) {
        tee.tell(LogLine{clock.now(), 0, LogLevel::Error, error.sentence, error.code, error.subject});
    };
    options.onNotDurable = [&tee, &clock, database](const std::string& why) {
        tee.tell(LogLine{
            clock.now(),
            0,
            LogLevel::Warning,
            fmt::format("What is recorded is safe if this program ends, but not if the power goes: the disk of \"{}\" refuses ({}).", database, why),
            ErrorCode::Io,
            {Subject::Kind::Database, database}});
    };
    options.mayGiveUp = [&cancelled] { return cancelled.load(); };
    options.onWaited = [&tee](const RecorderWaited& waited) { tee.tell(waited); };
    auto recorder = Recorder::open(std::move(options), info);
    if (!recorder) return recorder.error();
    return std::shared_ptr<Recorder>(std::move(*recorder));
}

}  // namespace stepscope
