// What bench, diagnose, predict and find-batch have in common: the configuration they look at, numbers typed by a person, and how they tell on a
// terminal what they are at. Main thread.
#pragma once
#include <CLI/CLI.hpp>
#include <functional>
#include <string>

#include "app/cli/RunOptions.h"
#include "app/cli/output/Json.h"

namespace stepscope::cli {

void addConfiguration(RunOptions& options, CLI::App& command);

// A number option, kept as text so that the range check names it.
void addNumber(CLI::App& command, const char* name, const char* unit, std::string& text, const char* help);

// One line on stderr that is written over, where stderr is a terminal; gone when this goes.
class StatusLine {
public:
    StatusLine();
    ~StatusLine();
    StatusLine(const StatusLine&) = delete;
    StatusLine& operator=(const StatusLine&) = delete;
    void say(const std::string& what) const;  // any thread

private:
    const bool m_terminal;
};

// Words of a shell line: those that need it in quotes.
std::string shellWord(const std::string& word);

}  // namespace stepscope::cli
