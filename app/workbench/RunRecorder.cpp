#include "app/workbench/RunRecorder.h"

#include <fmt/format.h>

#include <chrono>

#include "core/events/Event.h"

namespace stepscope {
namespace {

constexpr const char* kMeasuringIsOver = "Measuring is over; waiting for room to store what it found. Stopping gives up what is not stored yet.";

std::string pathOf(const std::string& chosen) {
    return chosen.empty() ? defaultDatabasePath() : chosen;
}

}  // namespace

std::int64_t unixMillisecondsNow() {
    return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

Status finishMeasured(Recorder& recorder, const std::string& chosen, EventTee& tee, const SessionClock& clock, std::atomic<bool>& measured,
                      const std::atomic<bool>& cancelled) {
    measured = true;  // whoever is blocked from here on says so by itself
    if (recorder.blocked() && !cancelled)
        tee.tell(LogLine{clock.now(), 0, LogLevel::Warning, kMeasuringIsOver, ErrorCode::Io, {Subject::Kind::Database, pathOf(chosen)}});
    Status stored = recorder.finish();
    if (!stored) tee.tellUnstored(stored.error(), clock.now());
    return stored;
}

Result<std::shared_ptr<Recorder>> openRecorder(const std::string& chosen, const SessionInfo& info, EventTee& tee, const SessionClock& clock,
                                               const std::atomic<bool>& cancelled, std::optional<Recorder::GoneOn> goesOn,
                                               const std::atomic<bool>* measured) {
    const std::string database = pathOf(chosen);
    Recorder::Options options;
    options.path = database;
    options.goesOn = std::move(goesOn);
    // A run pauses at its next step. What is measured goes on: the times of its blocks hold, disk or no disk, and they are few.
    const char* const meanwhile = info.kind == SessionKind::Run
                                      ? " Until then the run waits; stopping it gives up what is not stored yet."
                                      : " Until then it measures on and keeps what it finds in memory; stopping it gives up what is not stored yet.";
    options.onBlocked = [&tee, &clock, meanwhile, database, measured](bool blocked, const std::string& why) {
        // By its subject whoever shows it knows which sentence is over then.
        const Subject about{Subject::Kind::Database, database};
        if (blocked)
            tee.tell(LogLine{clock.now(), 0, LogLevel::Error,
                             why + (measured != nullptr && *measured ? std::string(" ") + kMeasuringIsOver : meanwhile), ErrorCode::Io, about});
        else
            tee.tell(LogLine{clock.now(), 0, LogLevel::Info, "Storing works again.", {}, about});
    };
    options.onEnded = [&tee, &clock](const Error& error) { tee.tellUnstored(error, clock.now()); };
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
