#include "app/cli/CommandLine.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/cli/sessions/ProfileCommand.h"
#include "app/cli/sessions/QueryCommand.h"

namespace stepscope::cli {
namespace {

constexpr const char* kProgram = "stepscope-cli";

// Stray words are kept rather than refused by CLI11, so that chosen() can name the first one.
void acceptStrayWords(CLI::App& app) {
    app.allow_extras();
    app.require_subcommand(0, 1);
    for (CLI::App* child : app.get_subcommands({})) acceptStrayWords(*child);
}

const CLI::App& deepest(const CLI::App& app) {
    const CLI::App* at = &app;
    while (!at->get_subcommands().empty()) at = at->get_subcommands().front();
    return *at;
}

// "sessions list"; errors begin with the program's name already.
std::string path(const CLI::App& app) {
    if (app.get_parent() == nullptr) return kProgram;
    std::string whole = app.get_name();
    for (const CLI::App* at = app.get_parent(); at->get_parent() != nullptr; at = at->get_parent()) whole = at->get_name() + " " + whole;
    return whole;
}

std::vector<std::string> words(const CLI::App& app) {
    std::vector<std::string> names;
    for (const CLI::App* child : app.get_subcommands({})) names.push_back(child->get_name());
    return names;
}

}  // namespace

CommandLine::CommandLine() : m_app("Trains GPTs and keeps what was measured: the engine of Stepscope without its window.", kProgram) {
    m_app.set_version_flag("--version", std::string(kProgram) + " " STEPSCOPE_VERSION);
    m_app.footer(exitCodeTable());
    addTrain(m_app, m_actions);
    addAb(m_app, m_actions);
    addLadder(m_app, m_actions);
    addTune(m_app, m_actions);
    addReport(m_app, m_actions);
    addCompare(m_app, m_actions);
    addProfile(m_app, m_actions);
    addQuery(m_app, m_actions);
    addImport(m_app, m_actions);
    addSessions(m_app, m_actions);
    addCheckpoint(m_app, m_actions);
    addGenerate(m_app, m_actions);
    addBench(m_app, m_actions);
    addDiagnose(m_app, m_actions);
    addPredict(m_app, m_actions);
    addFindBatch(m_app, m_actions);
    addEval(m_app, m_actions);
    addInference(m_app, m_actions);
    addPrune(m_app, m_actions);
    addSwitches(m_app, m_actions);
    addConfig(m_app, m_actions);
    addWorkers(m_app, m_actions);
    addEngine(m_app, m_actions);
    addLrRange(m_app, m_actions);
    acceptStrayWords(m_app);
}

CommandLine::Parsed CommandLine::parse(int argc, const char* const* argv) {
    try {
        m_app.parse(argc, argv);
    } catch (const CLI::CallForVersion& version) {
        return Answer{std::string(version.what()) + "\n"};
    } catch (const CLI::Success&) {  // --help
        return Answer{m_app.help()};
    } catch (const CLI::ParseError& problem) {
        return misuse(problem);
    }
    return chosen();
}

CommandLine::Parsed CommandLine::chosen() {
    const CLI::App& leaf = deepest(m_app);
    const bool hasWords = !leaf.get_subcommands({}).empty();
    if (const auto stray = m_app.remaining(true); !stray.empty()) {
        const std::string& first = stray.front();
        if (hasWords) return Misuse{fmt::format("\"{}\" is nothing {} does; it takes {}.", first, path(leaf), fmt::join(words(leaf), ", "))};
        return Misuse{fmt::format("{} takes no {} \"{}\"; see --help.", path(leaf), first.starts_with('-') ? "option" : "word", first)};
    }
    if (hasWords) return Misuse{fmt::format("{} needs to know what to do: one of {}.", path(leaf), fmt::join(words(leaf), ", "))};
    return m_actions.at(&leaf);
}

CommandLine::Misuse CommandLine::misuse(const CLI::ParseError& problem) const {
    const CLI::App& leaf = deepest(m_app);
    std::string what = problem.what();
    what.resize(std::min(what.find('\n'), what.size()));
    // CLI11 begins with the option's name, then ':' or ' '.
    const std::string subject = what.substr(0, what.find_first_of(": "));
    // A sentence of ours, behind the option that it names anyway.
    if (dynamic_cast<const CLI::ValidationError*>(&problem) && what.ends_with('.') && what.starts_with(subject + ": " + subject))
        return {what.substr(subject.size() + 2)};
    if (dynamic_cast<const CLI::RequiredError*>(&problem)) return {fmt::format("{} needs {}; see --help.", path(leaf), subject)};
    if (dynamic_cast<const CLI::ArgumentMismatch*>(&problem) && subject.starts_with('-'))
        return {fmt::format("{} needs a value; see --help.", subject)};
    return {fmt::format("{}: {}; see --help.", path(leaf), what)};
}

}  // namespace stepscope::cli
