// A document as one HTML file. Pure function.
#pragma once
#include <string>

#include "core/report/Document.h"

namespace stepscope::report {

// HTML5, UTF-8: no scripts, no links to elsewhere, colours by the reader's light or dark setting, and for paper.
std::string toHtml(const Document& document);

// For text between tags and in attributes.
std::string escaped(const std::string& text);

}  // namespace stepscope::report
