#include "core/data/JsonLines.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace stepscope {

Result<std::string> textOfJsonLines(std::string_view lines, const std::string& name, const std::atomic<bool>& cancelled) {
    std::string text;
    text.reserve(lines.size());
    bool first = true;
    for (std::int64_t number = 1; !lines.empty(); ++number) {
        if (cancelled) return makeError(ErrorCode::Cancelled, fmt::format("Reading {} was cancelled.", name));
        const std::size_t end = std::min(lines.find('\n'), lines.size());
        const std::string_view line = lines.substr(0, end);
        lines.remove_prefix(std::min(end + 1, lines.size()));
        if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;

        const auto wrong = [&](const char* what, std::string cause = {}) {
            return makeError(ErrorCode::BadInput,
                             fmt::format("{} line {} {}; each line must be an object like {{\"text\": \"...\"}}.", name, number, what),
                             std::move(cause));
        };
        nlohmann::json parsed;
        try {
            parsed = nlohmann::json::parse(line);
        } catch (const nlohmann::json::exception& problem) {
            return wrong("is not JSON", problem.what());
        }
        if (!parsed.is_object()) return wrong("is not an object");
        const auto field = parsed.find("text");
        if (field == parsed.end()) return wrong("has no field \"text\"");
        if (!field->is_string()) return wrong("has a field \"text\" that is not a string");
        if (!first) text += "\n\n";
        first = false;
        text += field->get_ref<const std::string&>();
    }
    return text;
}

}  // namespace stepscope
