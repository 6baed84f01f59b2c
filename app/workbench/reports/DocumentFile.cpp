#include "app/workbench/reports/DocumentFile.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <ostream>

#include "core/report/Html.h"
#include "core/report/Markdown.h"
#include "sessions/exporters/ExportFile.h"

namespace stepscope {
namespace {

std::string lowerEnding(const std::string& path) {
    std::string ending = std::filesystem::path(path).extension().string();
    std::ranges::transform(ending, ending.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return ending;
}

}  // namespace

bool namesHtml(const std::string& path) {
    const std::string ending = lowerEnding(path);
    return ending == ".html" || ending == ".htm";
}

bool namesMarkdown(const std::string& path) {
    const std::string ending = lowerEnding(path);
    return ending == ".md" || ending == ".markdown";
}

Status exportDocument(const report::Document& document, const std::string& path) {
    const bool html = namesHtml(path);
    if (!html && !namesMarkdown(path))
        return makeError(ErrorCode::BadInput, fmt::format("A page is .html or .md; \"{}\" ends in neither. Name the file so.", path));
    return exportToFile(path, [&](std::ostream& out) -> Status {
        out << (html ? report::toHtml(document) : report::toMarkdown(document));
        return {};
    });
}

}  // namespace stepscope
