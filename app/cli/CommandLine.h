// CommandLine: from argv to the action to run, or to one short line that names what is wrong with the words typed.
// CLI11 parses; its own messages are rephrased here and nowhere else. Used by main() only.
#pragma once
#include <string>
#include <variant>

#include "app/cli/Commands.h"

namespace stepscope::cli {

class CommandLine {
public:
    CommandLine();

    struct Answer {  // printed help or version: nothing to run
        std::string text;
    };
    struct Misuse {
        std::string sentence;
    };
    using Parsed = std::variant<Action, Answer, Misuse>;
    Parsed parse(int argc, const char* const* argv);

private:
    Parsed chosen();
    Misuse misuse(const CLI::ParseError& problem) const;

    CLI::App m_app;
    Actions m_actions;
};

}  // namespace stepscope::cli
