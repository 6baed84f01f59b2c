// stepscope-cli: the same engine as the window, without one. The main thread parses, runs one subcommand and waits for it.
// Whatever goes wrong ends here as one sentence on stderr and an exit code of ExitCode.h.
#include <cstdio>
#include <exception>
#include <new>

#include "app/cli/CommandLine.h"
#include "app/cli/output/Output.h"
#include "app/workbench/Workbench.h"
#include "app/workbench/process/EarlyEnd.h"
#include "app/workbench/process/LibraryLines.h"
#include "app/workbench/process/LibraryWarnings.h"
#include "app/workbench/workers/LocalWorkers.h"
#include "core/base/Check.h"

namespace stepscope::cli {
namespace {

ExitCode run(int argc, char** argv) {
    CommandLine commandLine;
    const auto parsed = commandLine.parse(argc, argv);
    if (const auto* misuse = std::get_if<CommandLine::Misuse>(&parsed)) {
        printError(misuse->sentence);
        return ExitCode::Usage;
    }
    if (const auto* answer = std::get_if<CommandLine::Answer>(&parsed)) {
        print(answer->text);
        return ExitCode::Ok;
    }
    if (const auto usable = checkEnvironment(); !usable) {
        printError(usable.error().sentence);
        return exitCode(usable.error().code);
    }
    const auto outcome = std::get<Action>(parsed)();
    if (!outcome) {
        printError(outcome.error().sentence);
        return exitCode(outcome.error().code);
    }
    return *outcome;
}

ExitCode guarded(int argc, char** argv) {
    // What libraries warn of while no run is there to have it in its log.
    const LibraryWarningListener warnings(printError);
    const LibraryLines lines;
    try {
        const ExitCode code = run(argc, argv);
        if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
        if (code == ExitCode::Io) return code;  // who wrote it has said so
        printError("The output could not be written; is its disk full?");
        return code == ExitCode::Ok ? ExitCode::Io : code;
    } catch (const std::bad_alloc&) {
        printError("There is not enough memory for this.");
        return ExitCode::OutOfMemory;
    } catch (const LogicError& mistake) {
        printError(mistake.what());
    } catch (const std::exception& unexpected) {
        printError("Something unexpected went wrong: " + firstLine(unexpected.what()));
    }
    return ExitCode::Internal;
}

}  // namespace
}  // namespace stepscope::cli

int main(int argc, char** argv) {
    stepscope::early_end::begun();
    stepscope::endWithFirstWorker();
    stepscope::initialiseEngine();
    return static_cast<int>(stepscope::cli::guarded(argc, argv));
}
