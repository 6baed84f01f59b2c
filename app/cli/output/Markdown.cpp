#include "app/cli/output/Markdown.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

namespace stepscope::cli {

std::string rangeWords(const ValueRange& range) {
    if (const auto* choices = std::get_if<Choices>(&range))
        return choices->words.empty() ? "any text" : fmt::format("{}", fmt::join(choices->words, ", "));
    if (const auto* whole = std::get_if<IntegerRange>(&range))
        return fmt::format("{} to {}{}", whole->least, whole->most, whole->word.empty() ? "" : ", or " + whole->word);
    const auto& real = std::get<RealRange>(range);
    return fmt::format("{} to {}", real.least, real.most);
}

std::string markdownValues(const ValueRange& range, const Value& byDefault) {
    const std::string usual = toString(byDefault);
    const auto* choices = std::get_if<Choices>(&range);
    if (choices == nullptr || choices->words.empty()) return fmt::format("{}; **{}**", rangeWords(range), usual);
    std::vector<std::string> all;
    for (const auto& word : choices->words) all.push_back(word == usual ? "**" + word + "**" : word);
    return fmt::format("{}", fmt::join(all, ", "));
}

std::string markdownCell(const std::string& text) {
    std::string escaped;
    for (const char c : text) {
        if (c == '|') escaped += '\\';
        escaped += c;
    }
    return escaped;
}

}  // namespace stepscope::cli
