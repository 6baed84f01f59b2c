#include "widgets/style/CsvText.h"

#include <cmath>

namespace stepscope {

QString csvCell(const QString& text) {
    if (!text.contains(',') && !text.contains('"') && !text.contains('\n') && !text.contains('\r')) return text;
    return '"' + QString(text).replace('"', "\"\"") + '"';
}

QString csvNumber(double value) {
    return std::isfinite(value) ? QString::number(value, 'g', 12) : QString();
}

QString csvMilliseconds(std::int64_t ns) {
    return csvNumber(static_cast<double>(ns) * 1e-6);
}

void CsvText::row(const QStringList& cells) {
    bool first = true;
    for (const QString& cell : cells) {
        if (!first) m_text += ',';
        m_text += csvCell(cell);
        first = false;
    }
    m_text += '\n';
}

}  // namespace stepscope
