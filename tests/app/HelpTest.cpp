// What --help lists of every command, beside the guide: each option is explained, and told in the guide or the README; each command line that these
// have is one that the program takes.
#include <gmock/gmock.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <string_view>

#include "tests/app/CliFixture.h"

namespace stepscope::test {
namespace {

struct ListedByHelp {
    std::set<std::string> options;  // "--json"
    Words commands;                 // those below it
    Words unexplained;              // lines that name something and say nothing of it
};

Words wordsIn(const std::string& text) {
    std::istringstream in(text);
    return {std::istream_iterator<std::string>(in), {}};
}

// The long options that a text names.
std::set<std::string> longOptionsIn(const std::string& text) {
    std::set<std::string> found;
    const auto isPart = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_'; };
    for (std::size_t at = text.find("--"); at != std::string::npos;) {
        std::size_t end = at;
        while (end < text.size() && isPart(text[end])) ++end;
        const bool begins = at == 0 || !isPart(text[at - 1]);
        if (begins && end > at + 2 && std::isalpha(static_cast<unsigned char>(text[at + 2])) != 0) found.insert(text.substr(at, end - at));
        at = text.find("--", std::max(end, at + 2));
    }
    return found;
}

ListedByHelp listedIn(const std::string& help) {
    constexpr std::size_t kColumn = 30;  // where what is said of a name begins, beside it or on the line below
    const std::set<std::string> sections{"Positionals:", "Options:", "Subcommands:"};
    Words lines;
    std::istringstream in(help);
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    ListedByHelp all;
    std::string section;
    for (std::size_t i = 0; i < lines.size(); ++i) {
        const std::string& line = lines[i];
        if (line.empty() || line[0] != ' ') section = line;
        if (!sections.contains(section) || line.find_first_not_of(' ') != 2) continue;
        const bool beside = line.size() > kColumn && line[kColumn - 1] == ' ' && line[kColumn] != ' ';
        const bool below = i + 1 < lines.size() && lines[i + 1].find_first_not_of(' ') == kColumn;
        if (!beside && !below) all.unexplained.push_back(line);
        const std::string name = wordsIn(line).front();
        if (section == "Subcommands:")
            all.commands.push_back(name);
        else
            all.options.merge(longOptionsIn(name));
    }
    return all;
}

// The command lines of a text: behind the program's name, and what stands between two grave accents and begins with a command's name.
Words commandLinesIn(const std::string& text, const std::map<std::string, ListedByHelp>& commands) {
    Words found;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) {
        for (const std::string_view program : {std::string_view("--cli "), std::string_view("stepscope-cli ")})
            for (std::size_t at = line.find(program); at != std::string::npos; at = line.find(program, at + 1)) {
                const std::size_t from = at + program.size();
                found.push_back(line.substr(from, line.find_first_of("`\"#", from) - from));
            }
        for (std::size_t from = line.find('`'); from != std::string::npos;) {
            const std::size_t to = line.find('`', from + 1);
            if (to == std::string::npos) break;
            const std::string inside = line.substr(from + 1, to - from - 1);
            if (const Words words = wordsIn(inside); !words.empty() && commands.contains(words[0])) found.push_back(inside);
            from = line.find('`', to + 1);
        }
    }
    return found;
}

class Help : public CliFixture {
protected:
    // By its words: "sessions show"; "" is the program itself. Asked for once.
    const std::map<std::string, ListedByHelp>& commands() const {
        static const std::map<std::string, ListedByHelp> all = [this] {
            std::map<std::string, ListedByHelp> found;
            gather("", found);
            return found;
        }();
        return all;
    }
    static std::map<std::string, std::string> guideAndReadme() {
        std::map<std::string, std::string> all{{"README.md", read(std::string(STEPSCOPE_SOURCE) + "/README.md")}};
        for (const auto& file : std::filesystem::directory_iterator(std::string(STEPSCOPE_SOURCE) + "/resources/guide"))
            all["resources/guide/" + file.path().filename().string()] = read(file.path().string());
        return all;
    }

private:
    void gather(const std::string& command, std::map<std::string, ListedByHelp>& found) const {
        Words asked = wordsIn(command);
        asked.emplace_back("--help");
        const auto finished = cli(asked);
        EXPECT_EQ(finished.exitCode, 0) << command << ": " << finished.err;
        const ListedByHelp listed = listedIn(finished.out);
        found[command] = listed;
        for (const std::string& below : listed.commands) gather(command.empty() ? below : command + ' ' + below, found);
    }
};

TEST_F(Help, ExplainsEveryOptionAndArgumentOfEveryCommand) {
    EXPECT_GT(commands().size(), 30u);
    for (const auto& [command, listed] : commands()) {
        EXPECT_TRUE(listed.options.contains("--help")) << command;
        EXPECT_THAT(listed.unexplained, testing::IsEmpty()) << command;
    }
}

TEST_F(Help, HasNoOptionThatTheGuideDoesNotTell) {
    std::set<std::string> told{"--help", "--version"};
    for (const auto& [name, text] : guideAndReadme()) told.merge(longOptionsIn(text));
    for (const auto& [command, listed] : commands())
        for (const std::string& option : listed.options) EXPECT_TRUE(told.contains(option)) << command << ' ' << option;
}

TEST_F(Help, HasEveryCommandAndOptionThatTheGuideTells) {
    std::size_t seen = 0;
    for (const auto& [name, text] : guideAndReadme())
        for (const std::string& line : commandLinesIn(text, commands())) {
            const Words words = wordsIn(line);
            if (words.empty() || std::islower(static_cast<unsigned char>(words[0][0])) == 0) continue;
            const std::string two = words.size() > 1 ? words[0] + ' ' + words[1] : words[0];
            const std::string command = commands().contains(two) ? two : words[0];
            const auto found = commands().find(command);
            if (found == commands().end()) {
                ADD_FAILURE() << name << " tells of a command that is none: " << line;
                continue;
            }
            ++seen;
            for (const std::string& option : longOptionsIn(line))
                EXPECT_TRUE(found->second.options.contains(option)) << name << ": " << command << " has no " << option << ", in: " << line;
        }
    EXPECT_GT(seen, 100u);
}

// The tests above would hold of nothing, were the help or the guide read wrongly.
TEST_F(Help, IsReadAsItIsPrinted) {
    const ListedByHelp listed = listedIn(
        "Does it\nUsage: x [OPTIONS] FILE\n\nPositionals:\n  FILE TEXT REQUIRED          \n\nOptions:\n  -h,--help                   Print this\n"
        "  --a-name-that-is-long VALUE Excludes: --other\n                              Below it\n  --mute                      \n\nSubcommands:\n"
        "  show                        All of it\n\nExit codes:\n   0  done\n");
    EXPECT_EQ(listed.options, (std::set<std::string>{"--help", "--a-name-that-is-long", "--mute"}));
    EXPECT_EQ(listed.commands, Words{"show"});
    EXPECT_EQ(listed.unexplained, (Words{"  FILE TEXT REQUIRED          ", "  --mute                      "}));
    EXPECT_THAT(commandLinesIn("`show 7 --mute` and `hide --it`\npackaging/run --cli show 8 # --not\n", {{"show", {}}}),
                testing::ElementsAre("show 7 --mute", "show 8 "));
    EXPECT_EQ(longOptionsIn("a --b-c=d, x--y `--e`; -- f"), (std::set<std::string>{"--b-c", "--e"}));
}

}  // namespace
}  // namespace stepscope::test
