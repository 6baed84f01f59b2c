#include "widgets/style/Metrics.h"

#include <QFontDatabase>
#include <QFontMetricsF>
#include <algorithm>

namespace stepscope {

QFont tabularFont(const QFont& base) {
    const QFontMetricsF metrics(base);
    const double zero = metrics.horizontalAdvance('0');
    const QString digits = "123456789";
    const bool even = std::all_of(digits.begin(), digits.end(), [&](QChar d) { return std::abs(metrics.horizontalAdvance(d) - zero) < 0.01; });
    if (even) return base;
    QFont fixed = QFontDatabase::systemFont(QFontDatabase::FixedFont);
    fixed.setPointSizeF(base.pointSizeF());
    return fixed;
}

QFont smallFont(const QFont& base) {
    QFont font = base;
    font.setPointSizeF(std::max(7.0, base.pointSizeF() * 0.85));
    return font;
}

QFont headFont(const QFont& base) {
    QFont font = base;
    font.setWeight(QFont::DemiBold);
    return font;
}

}  // namespace stepscope
