// stepscope-cli: the same engine as the window, without one. The main thread parses, runs one subcommand and waits for it.
// Whatever goes wrong ends here as one sentence on stderr and an exit code of ExitCode.h; with --json as an object on the last line of stdout, too,
// unless the command's own answer is there.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <new>
#include <optional>
#include <string_view>

#include "app/cli/CommandLine.h"
#include "app/cli/output/Json.h"
#include "app/cli/output/Output.h"
#include "app/workbench/Workbench.h"
#include "app/workbench/process/EarlyEnd.h"
#include "app/workbench/process/LibraryLines.h"
#include "app/workbench/process/LibraryWarnings.h"
#include "app/workbench/workers/LocalWorkers.h"
#include "core/base/Check.h"

namespace stepscope::cli {
namespace {

// How it ended. No error: nothing was wrong, or the command has told it and its exit code alone is left.
struct Ending {
    ExitCode code = ExitCode::Ok;
    std::optional<Error> error;
};

Ending failedWith(ExitCode code, Error error) {
    printError(error.sentence);
    return {code, std::move(error)};
}

Ending failedWith(Error error) {
    const ExitCode code = exitCode(error.code);
    return failedWith(code, std::move(error));
}

Ending run(int argc, char** argv) {
    CommandLine commandLine;
    const auto parsed = commandLine.parse(argc, argv);
    if (const auto* misuse = std::get_if<CommandLine::Misuse>(&parsed))
        return failedWith(ExitCode::Usage, makeError(ErrorCode::BadInput, misuse->sentence));
    if (const auto* answer = std::get_if<CommandLine::Answer>(&parsed)) {
        print(answer->text);
        return {};
    }
    if (const auto usable = checkEnvironment(); !usable) return failedWith(usable.error());
    const auto outcome = std::get<Action>(parsed)();
    if (!outcome) return failedWith(outcome.error());
    return {*outcome, {}};
}

// The words typed, not what they were parsed to: of words that cannot be parsed a script learns it as well.
bool asksForJson(int argc, char** argv) {
    return std::any_of(argv + std::min(argc, 1), argv + argc, [](const char* word) { return std::string_view(word) == "--json"; });
}

void printErrorLine(const Ending& ending) {
    Error error = ending.error.value_or(Error{});
    // It told what was wrong while it went on, or nothing was wrong and somebody ended it.
    if (!ending.error) error.sentence = ending.code == ExitCode::Stopped ? "It was stopped before there was an answer." : lastError();
    Json all = toJson(error);
    all["code"] = wordOf(ending.code);
    print(line({{"error", all}}));
}

Ending guarded(int argc, char** argv) {
    try {
        return run(argc, argv);
    } catch (const std::bad_alloc&) {
        return failedWith(makeError(ErrorCode::OutOfMemory, "There is not enough memory for this."));
    } catch (const LogicError& mistake) {
        return failedWith(makeError(ErrorCode::Internal, mistake.what()));
    } catch (const std::exception& unexpected) {
        return failedWith(makeError(ErrorCode::Internal, "Something unexpected went wrong: " + firstLine(unexpected.what())));
    }
}

ExitCode runAndTell(int argc, char** argv) {
    // What libraries warn of while no run is there to have it in its log.
    const LibraryWarningListener warnings(printError);
    const LibraryLines lines;
    const Ending ending = guarded(argc, argv);
    if (ending.code != ExitCode::Ok && asksForJson(argc, argv) && !endsWithJson()) printErrorLine(ending);
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return ending.code;
    if (ending.code == ExitCode::Io) return ending.code;  // who wrote it has said so
    printError("The output could not be written; is its disk full?");
    return ending.code == ExitCode::Ok ? ExitCode::Io : ending.code;
}

}  // namespace
}  // namespace stepscope::cli

int main(int argc, char** argv) {
    stepscope::early_end::begun();
    stepscope::endWithFirstWorker();
    stepscope::initialiseEngine();
    return static_cast<int>(stepscope::cli::runAndTell(argc, argv));
}
