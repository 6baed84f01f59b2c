// Pictures as SVG inside a page: colours are the page's (classes that Html.cpp gives their values). Pure function.
#pragma once
#include <string>

#include "core/report/Document.h"

namespace stepscope::report {

// Ratios on a logarithmic axis; pairs beyond it are drawn at its edge. Empty where there are no pairs.
std::string toSvg(const PairPicture& picture);

// A bar a row from 1 to its ratio on a logarithmic axis, with its interval; rows that were not measured say why. Empty where there are no rows.
std::string toSvg(const BarPicture& picture);

// A bar a row, as long as its share. Empty where no row has one.
std::string toSvg(const SharePicture& picture);

}  // namespace stepscope::report
