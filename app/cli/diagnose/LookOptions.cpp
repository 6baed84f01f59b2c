#include "app/cli/diagnose/LookOptions.h"

#include <fmt/format.h>

#include "app/cli/output/Output.h"
#include "core/events/ConfigKeys.h"

namespace stepscope::cli {

void addConfiguration(RunOptions& options, CLI::App& command) {
    options.add(command);
    options.addKey(command, "data",
                   "kjv, shakespeare, generated, random, or a path: text, folder, .jsonl (either packed as .zst too), .parquet, .bin");
    options.addKey(command, "threads", "CPU threads; 0 = every core");
}

void addNumber(CLI::App& command, const char* name, const char* unit, std::string& text, const char* help) {
    command.add_option(name, text, help)->type_name(unit)->capture_default_str()->take_last();
}

StatusLine::StatusLine() : m_terminal(stderrIsTerminal()) {}

StatusLine::~StatusLine() {
    say("");
}

void StatusLine::say(const std::string& what) const {
    if (!m_terminal) return;
    const std::size_t room = terminalColumns() > 1 ? terminalColumns() - 1 : 1;
    std::string shown = printable(what);
    while (displayWidth(shown) > room) shown.pop_back();
    printStatus(fmt::format("\r\x1b[K{}", shown));
}

std::string shellWord(const std::string& word) {
    const bool plain = word.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=./:,+") == std::string::npos;
    if (plain && !word.empty()) return word;
    std::string quoted = "'";
    for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return quoted + "'";
}

}  // namespace stepscope::cli
