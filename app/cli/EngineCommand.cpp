// `engine`: trains one run for the program that started it, which has its stdin and its stdout. Nothing for a person to type: `stepscope --engine`
// does.
#include <unistd.h>

#include <csignal>

#include "app/cli/Commands.h"
#include "app/workbench/engine/EngineServer.h"
#include "app/workbench/process/StandardOutput.h"

namespace stepscope::cli {
namespace {

Result<ExitCode> engine() {
    const int out = standard_output::descriptor();
    if (out < 0 || ::isatty(STDIN_FILENO) != 0 || ::isatty(out) != 0)
        return makeError(ErrorCode::BadInput, "engine speaks with the program that started it, not with a person; start stepscope --engine instead.");
    // What a terminal tells the window's processes is not meant for this one: it ends when nobody listens to it any more.
    (void)::setsid();  // refused to who leads a group already, and has a session of its own then
    std::signal(SIGHUP, SIG_IGN);
    std::signal(SIGPIPE, SIG_IGN);
    const auto workbench = Workbench::create();
    const Status served = serveEngine(*workbench, STDIN_FILENO, out);
    if (!served) return served.error();
    return ExitCode::Ok;
}

}  // namespace

void addEngine(CLI::App& parent, Actions& actions) {
    auto* command = parent.add_subcommand("engine", "Train a run for the window, as a process of its own (stepscope --engine starts it)");
    actions[command] = [] { return engine(); };
}

}  // namespace stepscope::cli
