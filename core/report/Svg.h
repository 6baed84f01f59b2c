// The picture of an experiment's pairs as SVG inside a page: colours are the page's (classes, see Html.cpp). Pure function.
#pragma once
#include <string>

#include "core/report/Document.h"

namespace stepscope::report {

// Ratios on a logarithmic axis; pairs beyond it are drawn at its edge. Empty where there are no pairs.
std::string toSvg(const PairPicture& picture);

}  // namespace stepscope::report
