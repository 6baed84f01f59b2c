// A report as a file: one page of HTML, or Markdown. Any thread but the one that draws.
#pragma once
#include <string>

#include "core/base/Result.h"
#include "core/report/Document.h"

namespace stepscope {

// Whether the name ends as that of a page of HTML (.html, .htm) or of Markdown (.md, .markdown) does; capitals or not.
bool namesHtml(const std::string& path);
bool namesMarkdown(const std::string& path);

// In whole or not at all; a file that is there is replaced. BadInput: the name says neither format.
Status exportDocument(const report::Document& document, const std::string& path);

}  // namespace stepscope
