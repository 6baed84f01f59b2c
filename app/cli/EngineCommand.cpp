// `engine`: trains one run for the program that started it, which has its stdin and its stdout. Nothing for a person to type: `stepscope --engine`
// does. With --detach it goes on when that line breaks; what a person asks of such engines is --list, --stop and --forget.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>

#include "app/cli/Commands.h"
#include "app/cli/StopSignals.h"
#include "app/cli/output/Json.h"
#include "app/cli/output/Output.h"
#include "app/workbench/engine/EngineServer.h"
#include "app/workbench/engine/detached/DetachedLine.h"
#include "app/workbench/engine/detached/DetachedServer.h"
#include "app/workbench/process/StandardOutput.h"
#include "core/base/Format.h"

namespace stepscope::cli {
namespace {

constexpr const char* kOwn = "--own";

struct EngineOptions {
    std::string attach, stop, forget, own;
    bool detach = false, list = false, json = false;
};

// What a terminal or a line that breaks tells its processes is not meant for these.
void standAlone() {
    (void)::setsid();  // refused to who leads a group already, and has a session of its own then
    std::signal(SIGHUP, SIG_IGN);
    std::signal(SIGPIPE, SIG_IGN);
}

Result<ExitCode> codeOf(const Status& status) {
    if (!status) return status.error();
    return ExitCode::Ok;
}

Result<ExitCode> serveLine(const EngineOptions& options) {
    const int out = standard_output::descriptor();
    if (out < 0 || ::isatty(STDIN_FILENO) != 0 || ::isatty(out) != 0)
        return makeError(ErrorCode::BadInput, "engine speaks with the program that started it, not with a person; start stepscope --engine instead.");
    standAlone();
    if (options.detach) return codeOf(serveNewLine({"engine", kOwn}, STDIN_FILENO, out));
    if (!options.attach.empty()) return codeOf(serveOldLine(options.attach, STDIN_FILENO, out));
    const auto workbench = Workbench::create();
    return codeOf(serveEngine(*workbench, STDIN_FILENO, out));
}

// The engine itself, as --detach has started it.
Result<ExitCode> serveOwn(const std::string& id) {
    struct stat status {};
    if (::fstat(kEngineSocket, &status) != 0 || !S_ISSOCK(status.st_mode))
        return makeError(ErrorCode::BadInput, "engine --own is for engine --detach alone, which starts it.");
    Descriptor listening(kEngineSocket);
    ::fcntl(kEngineSocket, F_SETFD, FD_CLOEXEC);  // no other worker of its run keeps it
    standAlone();
    auto folder = EngineFolder::open(id);
    if (!folder) return folder.error();
    auto lock = folder->lock();
    if (!lock) return lock.error();
    const auto workbench = Workbench::create();
    const auto server = DetachedServer::make(*workbench, std::move(*folder), std::move(listening), std::move(*lock));
    if (!server) return server.error();
    const StopSignals signals([&] { (*server)->stop(); });
    (*server)->serve();
    return ExitCode::Ok;
}

Result<ExitCode> list(bool json) {
    const auto all = listEngines();
    if (json) {
        Json rows = Json::array();
        for (const ListedEngine& one : all)
            rows.push_back({{"id", one.id}, {"lives", one.lives}, {"run", one.description}, {"heard", one.heard}, {"bytes", one.bytes}});
        print(line(rows));
        return ExitCode::Ok;
    }
    if (all.empty()) print("No engine that was started with --detach is here.\n");
    for (const ListedEngine& one : all)
        print(fmt::format("{}  {}  {}{}\n", one.id, one.lives ? "lives" : "has gone", one.description.empty() ? "no run yet" : one.description,
                          one.heard ? std::string() : fmt::format(" · {} of what it said nobody has fetched yet", format::bytes(Bytes{one.bytes}))));
    return ExitCode::Ok;
}

Result<ExitCode> stop(const std::string& id) {
    const auto folder = EngineFolder::open(id);
    if (!folder) return folder.error();
    const auto process = folder->engine();
    if (process == 0)
        return makeError(ErrorCode::Unsupported, fmt::format("Engine {} is another machine's, which shares this folder; stop it there.", id));
    if (!process || *process <= 0 || ::kill(*process, SIGTERM) != 0)
        return makeError(ErrorCode::NotFound, fmt::format("Engine {} does not live any more.", id));
    print(fmt::format("Engine {} was told to stop its run.\n", id));
    return ExitCode::Ok;
}

Result<ExitCode> forget(const std::string& id) {
    const auto folder = EngineFolder::open(id);
    if (!folder) return folder.error();
    if (folder->engine())
        return makeError(ErrorCode::BadInput, fmt::format("Engine {} lives; stop it first (stepscope-cli engine --stop {}).", id, id));
    folder->remove();
    return ExitCode::Ok;
}

Result<ExitCode> engine(const EngineOptions& options) {
    const int asked = (options.detach ? 1 : 0) + (options.list ? 1 : 0) + (options.attach.empty() ? 0 : 1) + (options.stop.empty() ? 0 : 1) +
                      (options.forget.empty() ? 0 : 1) + (options.own.empty() ? 0 : 1);
    if (asked > 1) return makeError(ErrorCode::BadInput, "engine takes one of --detach, --attach, --list, --stop and --forget at a time.");
    if (options.list) return list(options.json);
    if (!options.stop.empty()) return stop(options.stop);
    if (!options.forget.empty()) return forget(options.forget);
    return options.own.empty() ? serveLine(options) : serveOwn(options.own);
}

}  // namespace

void addEngine(CLI::App& parent, Actions& actions) {
    auto options = std::make_shared<EngineOptions>();
    auto* command = parent.add_subcommand("engine", "Train a run for the window, as a process of its own (stepscope --engine starts it)");
    command->add_flag("--detach", options->detach, "The run goes on when the line to who asked for it breaks, and is recorded here, too");
    const auto add = [command](const char* name, std::string& text, const char* help) {
        command->add_option(name, text, help)->type_name("ID")->take_last()->check(notEmpty(name));
    };
    add("--attach", options->attach, "Take up the line to such an engine again, or read what it said if it has gone");
    command->add_flag("--list", options->list, "Tell which of them are on this machine");
    command->add_flag("--json", options->json, "The list as one line of JSON");
    add("--stop", options->stop, "Stop the run of such an engine; it is stored");
    add("--forget", options->forget, "Remove what such an engine that has gone said and nobody fetched; its session stays");
    add(kOwn, options->own, "");
    command->get_option(kOwn)->group("");
    actions[command] = [options] { return engine(*options); };
}

}  // namespace stepscope::cli
