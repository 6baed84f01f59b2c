// A document as GitHub-flavoured Markdown. Pure function.
#pragma once
#include <string>

#include "core/report/Document.h"

namespace stepscope::report {

// Pictures become the numbers that they show.
std::string toMarkdown(const Document& document);

}  // namespace stepscope::report
