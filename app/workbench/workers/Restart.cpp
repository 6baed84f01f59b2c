#include "app/workbench/workers/Restart.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>
#include <ranges>

#include "app/workbench/Checkpoints.h"
#include "app/workbench/workers/SameRun.h"
#include "core/base/Utf8.h"
#include "core/data/Hash128.h"
#include "sessions/SessionStore.h"

namespace stepscope {
namespace {

std::string databaseOf(const RunRequest& request) {
    return request.database.empty() ? defaultDatabasePath() : request.database;
}

// A script may train several times, one after the other, under one agent: each finds its own again. A program that was built anew meanwhile does,
// too.
std::string nameOf(const RunRequest& request) {
    RunFacts facts = settingsOf(request);
    for (const auto& [name, value] : RunFacts{{"version", STEPSCOPE_VERSION},
                                              {"database", databaseOf(request)},
                                              {"resume", request.resume},
                                              {"init", request.init},
                                              {"name", request.name}})
        facts.emplace_back(name, value);
    return hashOf(sayFacts(facts)).hex();
}

// The folder is of this database alone: a session of the same number in another one has another.
std::string wordsFor(std::int64_t session, const std::string& folder) {
    return fmt::format("{} {}", session, folder);
}

std::int64_t sessionIn(const std::string& words) {
    std::int64_t session = 0;
    const auto [stop, problem] = std::from_chars(words.data(), words.data() + words.size(), session);
    return problem == std::errc{} && session > 0 && stop != words.data() + words.size() && *stop == ' ' ? session : 0;
}

Restart withNothing(Restart restart, std::string why) {
    restart.why = std::move(why);
    return restart;
}

// What the first worker finds.
Restart lookForSession(const WorkerGroup& group, const RunRequest& request) {
    Restart found{.times = request.workers.restart};
    if (!request.record) return withNothing(found, "it records no session to go on with");
    const auto left = group.left(nameOf(request));
    const std::int64_t session = left ? sessionIn(*left) : 0;
    if (session == 0) return withNothing(found, "no session had begun that is known where workers meet");
    const std::string database = databaseOf(request);
    const auto cannot = [&](const Error& why) { return withNothing(found, fmt::format("session {} cannot go on ({})", session, why.sentence)); };
    const auto folder = checkpointFolder(database, session);
    if (!folder) return cannot(folder.error());
    if (wordsFor(session, *folder) != *left) return withNothing(found, fmt::format("session {} was begun in another database", session));
    const auto reader = SessionReader::open(database);
    if (!reader) return cannot(reader.error());
    const auto summary = (*reader)->summary(session);
    if (!summary) return cannot(summary.error());
    const auto checkpoints = checkpointsOf(database, session);
    if (!checkpoints) return cannot(checkpoints.error());
    found.session = session;
    found.reached = summary->steps;
    for (const std::string& path : std::views::reverse(*checkpoints)) {
        const auto info = inspectCheckpoint(path);
        if (!info) continue;
        found.checkpoint = path;
        found.step = info->step;
        break;
    }
    return found;
}

// "1st", "2nd", "3rd", "4th", "11th".
std::string ordinal(int number) {
    const int tens = number % 100, ones = number % 10;
    const char* ending = tens >= 11 && tens <= 13 ? "th" : ones == 1 ? "st" : ones == 2 ? "nd" : ones == 3 ? "rd" : "th";
    return fmt::format("{}{}", number, ending);
}

}  // namespace

Result<Restart> findRestart(WorkerGroup& group, const RunRequest& request) {
    const bool first = group.place().rank == 0;
    const auto said = group.texts(first ? sayRestart(lookForSession(group, request)) : std::string());
    if (!said) return said.error();
    return restartFrom(said->front());
}

void leaveSession(WorkerGroup& group, const RunRequest& request, std::int64_t session) {
    if (const auto folder = checkpointFolder(databaseOf(request), session)) group.leave(nameOf(request), wordsFor(session, *folder));
}

std::string sentenceOf(const Restart& restart) {
    const std::string begin = fmt::format("Restarted for the {} time; ", ordinal(restart.times));
    if (restart.session == 0) return fmt::format("{}{}, so the run begins anew.", begin, restart.why);
    if (restart.checkpoint.empty())
        return fmt::format("{}session {} has no checkpoint to go on from, so it begins anew (checkpoint-every keeps some).", begin, restart.session);
    std::string again;
    if (restart.reached == restart.step + 1) again = fmt::format("; step {} is made again", restart.reached);
    if (restart.reached > restart.step + 1) again = fmt::format("; steps {} to {} are made again", restart.step + 1, restart.reached);
    return fmt::format("{}going on from step {}, {}{}.", begin, restart.step, restart.checkpoint, again);
}

std::string sayRestart(const Restart& restart) {
    const nlohmann::json all{{"times", restart.times}, {"session", restart.session}, {"checkpoint", restart.checkpoint},
                             {"step", restart.step},   {"reached", restart.reached}, {"why", restart.why}};
    return all.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Result<Restart> restartFrom(const std::string& said) {
    const auto json = nlohmann::json::parse(said, nullptr, false);
    const auto number = [&](const char* key) -> std::optional<std::int64_t> {
        if (!json.is_object() || !json.contains(key) || !json[key].is_number_unsigned()) return std::nullopt;
        return json[key].get<std::int64_t>();
    };
    const auto text = [&](const char* key) -> std::optional<std::string> {
        if (!json.is_object() || !json.contains(key) || !json[key].is_string()) return std::nullopt;
        return json[key].get<std::string>();
    };
    const auto times = number("times"), session = number("session"), step = number("step"), reached = number("reached");
    const auto checkpoint = text("checkpoint"), why = text("why");
    if (!times || *times < 0 || *times > 1'000'000 || !session || !step || !reached || !checkpoint || !why || *session < 0 || *step < 0 ||
        *reached < 0)
        return makeError(ErrorCode::BadInput, "What came from worker 0 is nothing that Stepscope says; start all workers with the same program.");
    return Restart{.times = static_cast<int>(*times),
                   .session = *session,
                   .checkpoint = *checkpoint,
                   .step = *step,
                   .reached = *reached,
                   .why = printable(firstBytes(*why, 2000))};
}

}  // namespace stepscope
