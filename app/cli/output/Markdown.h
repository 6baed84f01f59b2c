// What the generated chapters of the guide share: ranges in words, cells of Markdown tables. Called by `switches` and
// SettingsChapter.
#pragma once
#include <string>

#include "core/events/SwitchCatalogue.h"

namespace stepscope::cli {

std::string rangeWords(const ValueRange& range);                              // "off, bf16", "1 to 1000"; "any text" for free words
std::string markdownValues(const ValueRange& range, const Value& byDefault);  // the default in bold
std::string markdownCell(const std::string& text);

}  // namespace stepscope::cli
