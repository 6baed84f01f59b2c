// Spacing and fonts, so that every panel sits on the same 4 px grid and figures stand under each other. GUI thread.
#pragma once
#include <QFont>

class QFontMetrics;

namespace stepscope {

constexpr int kGrid = 4;
constexpr int space(int units) {
    return units * kGrid;
}  // space(2) between neighbours, space(4) between groups

// `base` with digits of equal width: base itself where its digits already are, else the system's fixed font in its size.
QFont tabularFont(const QFont& base);
QFont smallFont(const QFont& base);  // axis labels, hints
QFont headFont(const QFont& base);   // titles of charts and panel sections

}  // namespace stepscope
