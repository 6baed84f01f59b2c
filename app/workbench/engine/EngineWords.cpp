#include "app/workbench/engine/EngineWords.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "core/base/Utf8.h"

namespace stepscope {
namespace {

constexpr std::string_view kOutlivesItsLine = "--detach";
constexpr std::size_t kLongestHost = 255, kLongestLine = 10'000;  // bytes

bool isBlank(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

Error notToBeParted(const std::string& line, const char* why) {
    return makeError(ErrorCode::BadInput, fmt::format("The command \"{}\" cannot be used: {}.", printable(firstBytes(line, 200)), why));
}

}  // namespace

Result<std::vector<std::string>> sshWords(const std::string& host) {
    const bool several = host.find_first_of(" \t\n\r\v\f") != std::string::npos || printable(host) != host;
    if (host.empty() || host.size() > kLongestHost || host.front() == '-' || several)
        return makeError(ErrorCode::BadInput, fmt::format("\"{}\" cannot be a machine's name for ssh; it takes HOST or USER@HOST.",
                                                          printable(firstBytes(host, kLongestHost))));
    return std::vector<std::string>{"ssh", "-T", "-o", "BatchMode=yes", "-o", "ServerAliveInterval=15", host, "stepscope-cli", "engine", "--detach"};
}

Result<std::vector<std::string>> wordsOf(const std::string& line) {
    if (line.size() > kLongestLine || line.find('\0') != std::string::npos) return notToBeParted(line, "it is longer than a command can be");
    std::vector<std::string> words;
    std::string word;
    bool within = false;  // a word, which may be an empty one in quotes
    for (std::size_t i = 0; i < line.size(); ++i) {
        const char c = line[i];
        if (isBlank(c)) {
            if (std::exchange(within, false)) words.push_back(std::exchange(word, {}));
            continue;
        }
        within = true;
        if (c == '\\') {
            if (++i == line.size()) return notToBeParted(line, "it ends with a backslash");
            word += line[i];
        } else if (c == '\'' || c == '"') {
            for (++i; i < line.size() && line[i] != c; ++i) {
                const bool escapes = c == '"' && line[i] == '\\' && i + 1 < line.size() && (line[i + 1] == '"' || line[i + 1] == '\\');
                if (escapes) ++i;
                word += line[i];
            }
            if (i >= line.size()) return notToBeParted(line, "a quotation in it has no end");
        } else {
            word += c;
        }
    }
    if (within) words.push_back(std::move(word));
    if (words.empty() || words.front().empty()) return notToBeParted(line, "it names no program");
    return words;
}

std::vector<std::string> questionWords(std::vector<std::string> words) {
    if (!words.empty() && words.back() == kOutlivesItsLine) words.pop_back();
    return words;
}

std::vector<std::string> attachWords(std::vector<std::string> words, const std::string& engine) {
    const auto holds = [](const std::string& word) { return word.find(kOutlivesItsLine) != std::string::npos; };
    const auto found = std::find_if(words.rbegin(), words.rend(), holds);
    if (found == words.rend()) return {};
    if (*found == kOutlivesItsLine) {
        *found = "--attach";
        words.insert(found.base(), engine);
    } else {  // words of a shell
        found->replace(found->rfind(kOutlivesItsLine), kOutlivesItsLine.size(), "--attach " + engine);
    }
    return words;
}

}  // namespace stepscope
