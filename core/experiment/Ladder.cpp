#include "core/experiment/Ladder.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "core/base/Utf8.h"
#include "core/events/ConfigKeys.h"
#include "core/experiment/BuiltInLadders.h"
#include "core/experiment/YamlDocuments.h"

namespace stepscope {
namespace {

constexpr std::size_t kLargest = 1 << 20;  // bytes; a ladder is a page of text
constexpr std::size_t kMostSettings = 20, kLongestWord = 200;
constexpr const char* kForm = "a rung is a line like \"- amp=bf16\", or a mapping with set, name and reported";

std::string placeOf(const std::string& place, int line) {
    return line > 0 ? fmt::format("{}, line {}", place, line) : place;
}

class Reader {
public:
    explicit Reader(std::string place) { m_ladder.place = std::move(place); }

    Result<Ladder> read(const YAML::Node& root) {
        if (root.IsNull() || (root.IsSequence() && root.size() == 0))
            return at(root, "the file has no rungs; give lines like \"- amp=bf16\", one a rung.");
        YAML::Node rungs = root;
        if (root.IsMap()) {
            if (auto good = header(root); !good) return good.error();
            const YAML::Node below = root["rungs"];
            if (!below.IsDefined() || below.IsNull() || (below.IsSequence() && below.size() == 0))
                return at(root, "there are no rungs; give \"rungs:\" and below it lines like \"- amp=bf16\".");
            rungs.reset(below);
        }
        if (!rungs.IsSequence()) return at(rungs, fmt::format("rungs are a list: {}.", kForm));
        if (rungs.size() > kMostRungs) return at(rungs, fmt::format("{} rungs are too many; a ladder has at most {}.", rungs.size(), kMostRungs));
        for (const YAML::Node& node : rungs) {
            auto one = rung(node, false);
            if (!one) return one.error();
            for (const LadderRung& before : m_ladder.rungs)
                if (before.settings == one->settings)
                    return at(node, fmt::format("{} is a rung already, at line {}; keep one.", settingsWords(*one), before.line));
            m_ladder.rungs.push_back(std::move(*one));
        }
        return std::move(m_ladder);
    }

private:
    Error at(const YAML::Node& node, const std::string& what) const { return at(node.Mark(), what); }
    Error at(const YAML::Mark& mark, const std::string& what) const {
        return makeError(ErrorCode::BadInput, fmt::format("{}: {}", placeOf(m_ladder.place, mark.is_null() ? 0 : mark.line + 1), what))
            .about(Subject::Kind::File, m_ladder.place);
    }

    Status header(const YAML::Node& root) {
        std::set<std::string> seen;
        for (const auto& entry : root) {
            if (!entry.first.IsScalar()) return at(entry.first, "a key must be one word.");
            const std::string& key = entry.first.Scalar();
            if (!seen.insert(key).second) return at(entry.first, fmt::format("{} is given twice; keep one.", printed(key)));
            if (key == "rungs") continue;
            if (key == "bottom") {
                auto bottom = rung(entry.second, true);
                if (!bottom) return bottom.error();
                m_ladder.bottom = std::move(*bottom);
                continue;
            }
            std::string* into = key == "title" ? &m_ladder.title : key == "unit" ? &m_ladder.unit : nullptr;
            if (into == nullptr)
                return at(entry.first, fmt::format("there is no key \"{}\" in a ladder; it has title, unit, bottom and rungs, and includes nothing.",
                                                   printed(key)));
            if (auto good = text(entry.second, key, *into); !good) return good;
        }
        return {};
    }

    Result<LadderRung> rung(const YAML::Node& node, bool bottom) {
        LadderRung rung;
        rung.line = node.Mark().is_null() ? 0 : node.Mark().line + 1;
        if (node.IsScalar()) {
            if (auto good = settings(node, rung); !good) return good.error();
        } else if (node.IsMap()) {
            std::set<std::string> seen;
            for (const auto& entry : node) {
                if (!entry.first.IsScalar()) return at(entry.first, "a key must be one word.");
                const std::string& key = entry.first.Scalar();
                if (!seen.insert(key).second) return at(entry.first, fmt::format("{} is given twice; keep one.", printed(key)));
                Status good;
                if (key == "set")
                    good = entry.second.IsScalar() ? settings(entry.second, rung)
                                                   : Status(at(entry.first, "set takes key=value, several with blanks between them."));
                else if (key == "name")
                    good = text(entry.second, key, rung.name);
                else if (key == "reported")
                    good = text(entry.second, key, rung.reported);
                else
                    good = at(entry.first, fmt::format("there is no key \"{}\" in a rung; {}.", printed(key), kForm));
                if (!good) return good.error();
            }
        } else {
            return at(node, fmt::format("this is no rung: {}.", kForm));
        }
        if (!bottom && rung.settings.empty()) return at(node, fmt::format("this rung sets nothing: {}.", kForm));
        if (rung.name.empty()) rung.name = bottom ? "bottom" : settingsWords(rung);
        return rung;
    }

    Status settings(const YAML::Node& node, LadderRung& into) {
        std::istringstream words(node.Scalar());
        std::string word;
        while (words >> word) {
            const auto equals = word.find('=');
            if (equals == std::string::npos || equals == 0) return at(node, fmt::format("a setting is key=value, not \"{}\".", printed(word)));
            if (word.size() > kLongestWord)
                return at(node,
                          fmt::format("the setting {} is longer than {} bytes; a shorter path, for example, does.", printed(word), kLongestWord));
            const std::string key = word.substr(0, equals);
            if (std::ranges::any_of(into.settings, [&](const auto& before) { return before.first == key; }))
                return at(node, fmt::format("{} is set twice in one rung; keep one.", printed(key)));
            if (into.settings.size() == kMostSettings) return at(node, fmt::format("one rung sets at most {} keys.", kMostSettings));
            into.settings.emplace_back(key, word.substr(equals + 1));
        }
        return {};
    }

    Status text(const YAML::Node& node, const std::string& key, std::string& into) {
        if (!node.IsScalar()) return at(node, fmt::format("{} takes one line of text.", key));
        into = node.Scalar();
        if (into.size() > kLongestWord || std::ranges::any_of(into, [](unsigned char c) { return c < ' ' || c == 0x7f; }))
            return at(node, fmt::format("{} takes one line of at most {} bytes.", key, kLongestWord));
        return {};
    }

    static std::string printed(const std::string& word) {
        constexpr std::size_t kMost = 40;
        return printable(firstBytes(word, kMost)) + (word.size() > kMost ? "..." : "");
    }

    Ladder m_ladder;
};

Result<std::string> readFile(const std::string& path) {
    std::error_code problem;
    const auto status = std::filesystem::status(path, problem);
    if (!std::filesystem::exists(status)) {
        std::string names;
        for (const auto& name : builtInLadders()) names += (names.empty() ? "" : ", ") + name;
        return makeError(ErrorCode::NotFound, fmt::format("There is neither a ladder nor a file \"{}\"; the ladders are {}.", path, names));
    }
    if (!std::filesystem::is_regular_file(status))
        return makeError(ErrorCode::BadInput, fmt::format("{} is not a file; give a YAML file of rungs.", path));
    if (std::filesystem::file_size(path, problem) > kLargest)
        return makeError(ErrorCode::BadInput,
                         fmt::format("{} is too large for a ladder; it is a page of text with at most {} rungs.", path, kMostRungs));
    std::ifstream file(path, std::ios::binary);
    std::string text;
    // In pieces: read() makes a state of what goes wrong, where an iterator over the bytes throws.
    std::array<char, 1 << 16> piece{};
    while (file.is_open() && (file.read(piece.data(), piece.size()), file.gcount() > 0) && text.size() <= kLargest)
        text.append(piece.data(), static_cast<std::size_t>(file.gcount()));
    if (!file.is_open() || file.bad()) return makeError(ErrorCode::Io, fmt::format("The file {} cannot be read: {}.", path, std::strerror(errno)));
    return text;
}

}  // namespace

Result<Ladder> parseLadder(const std::string& text, const std::string& place, const std::string& title) {
    const auto refused = [&](const std::string& what) {
        return makeError(ErrorCode::BadInput, fmt::format("{}: {}", place, what)).about(Subject::Kind::File, place);
    };
    if (text.size() > kLargest) return refused(fmt::format("this is too large for a ladder, which has at most {} rungs.", kMostRungs));
    if (!isUtf8(text) || text.find('\0') != std::string::npos) return refused("this is not UTF-8 text; give a YAML file of rungs.");
    // Each level costs the parser stack; a ladder has two.
    std::size_t open = 0;
    for (const char c : text) open += c == '[' || c == '{' ? 1 : 0;
    if (open > 4 * kMostRungs) return refused("this is no ladder: too many brackets.");
    try {
        if (!isOneYamlDocument(text))
            return refused("it holds more than one YAML document (\"---\"), or a bracket that nothing opened; give a file with one.");
        auto ladder = Reader(place).read(YAML::Load(text));
        // yaml-cpp closes a quote at the end of the text without a word, and what is refused then is a rung that swallowed those below it.
        if (!ladder) {
            Error refusal = ladder.error();
            if (std::ranges::count(text, '"') % 2 != 0) refusal.sentence += " A quote (\") that is not closed may be why.";
            return refusal;
        }
        ladder->source = text;
        if (ladder->title.empty()) ladder->title = title;
        if (ladder->bottom.name.empty()) ladder->bottom.name = "bottom";
        return ladder;
    } catch (const YAML::Exception& problem) {
        const int line = problem.mark.is_null() ? 0 : problem.mark.line + 1;
        return makeError(ErrorCode::BadInput, fmt::format("{}: {}.", placeOf(place, line), whyNoYaml(text, line)), problem.what())
            .about(Subject::Kind::File, place);
    }
}

const std::vector<std::string>& builtInLadders() {
    static const std::vector<std::string> names = [] {
        std::vector<std::string> all;
        for (const auto& [name, text] : builtInLadderTexts()) all.emplace_back(name);
        return all;
    }();
    return names;
}

Result<Ladder> loadLadder(const std::string& nameOrFile) {
    for (const auto& [name, text] : builtInLadderTexts())
        if (nameOrFile == name) return parseLadder(std::string(text), fmt::format("ladder {}", name), std::string(name));
    const auto text = readFile(nameOrFile);
    if (!text) return text.error();
    return parseLadder(*text, nameOrFile, std::filesystem::path(nameOrFile).stem().string());
}

std::string ladderWords(const Ladder& ladder) {
    std::string words = ladder.bottom.name;
    for (const LadderRung& rung : ladder.rungs) words += " → " + rung.name;
    return words;
}

std::string settingsWords(const LadderRung& rung) {
    std::string words;
    for (const auto& [key, value] : rung.settings) words += fmt::format("{}{}={}", words.empty() ? "" : " ", key, value);
    return words;
}

Status checkLadder(const Ladder& ladder, const RunConfig& config, const SwitchCatalogue& catalogue) {
    RunConfig tried = config;
    const auto check = [&](const LadderRung& rung) -> Status {
        for (const auto& [key, value] : rung.settings)
            if (auto done = setKey(tried, catalogue, key, value); !done)
                return makeError(done.error().code, fmt::format("{}: {}", placeOf(ladder.place, rung.line), done.error().sentence));
        return {};
    };
    if (auto good = check(ladder.bottom); !good) return good;
    for (const LadderRung& rung : ladder.rungs)
        if (auto good = check(rung); !good) return good;
    return {};
}

Result<RunConfig> onLadder(const Ladder& ladder, const std::vector<std::size_t>& rungs, const RunConfig& config, const SwitchCatalogue& catalogue) {
    RunConfig all = config;
    const auto apply = [&](const LadderRung& rung) -> Status {
        for (const auto& [key, value] : rung.settings)
            if (auto done = setKey(all, catalogue, key, value); !done) return done;
        return {};
    };
    if (auto good = apply(ladder.bottom); !good) return good.error();
    for (const std::size_t rung : rungs)
        if (auto good = apply(ladder.rungs[rung]); !good) return good.error();
    return all;
}

}  // namespace stepscope
