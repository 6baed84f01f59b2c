#include "widgets/charts/overlay/ValuesAtCursor.h"

#include <QPainter>
#include <algorithm>
#include <cmath>

#include "widgets/style/Metrics.h"
#include "widgets/style/Theme.h"

namespace stepscope {
namespace {
constexpr int kPad = 6, kSwatchWidth = 18, kGap = 10, kFromMouse = 16, kWidestName = 220;
}

ValuesAtCursor::ValuesAtCursor(QWidget* page) : QWidget(page) {
    setAttribute(Qt::WA_TransparentForMouseEvents);
    setAccessibleName(tr("Values under the cursor"));
    hide();
}

void ValuesAtCursor::show(const QString& place, std::vector<LineValue> values, Quantity quantity, const QString& emphasised, QPoint at) {
    std::erase_if(values, [](const LineValue& value) { return !std::isfinite(value.value); });
    if (values.empty()) return hide();
    std::ranges::stable_sort(values, std::greater<>(), &LineValue::value);
    setFont(smallFont(tabularFont(parentWidget()->font())));
    const QFontMetrics metrics = fontMetrics();
    m_place = place;
    m_rows.clear();
    m_names = m_values = 0;
    for (const LineValue& value : values) {
        m_rows.push_back({metrics.elidedText(value.name, Qt::ElideRight, kWidestName), readOut(value.value, quantity), value.colour, value.mark,
                          value.series == emphasised});
        QFont bold = font();
        bold.setBold(m_rows.back().bold);
        m_names = std::max(m_names, QFontMetrics(bold).horizontalAdvance(m_rows.back().name));
        m_values = std::max(m_values, QFontMetrics(bold).horizontalAdvance(m_rows.back().value));
    }
    const int width = std::max(kPad * 2 + kSwatchWidth + m_names + kGap + m_values, kPad * 2 + metrics.horizontalAdvance(place));
    const int height = kPad * 2 + metrics.height() * static_cast<int>(m_rows.size() + 1);
    resize(QSize(width, height).boundedTo(parentWidget()->size()));
    const QRect page = parentWidget()->rect();
    int left = at.x() + kFromMouse;
    if (left + this->width() > page.right()) left = at.x() - kFromMouse - this->width();
    move(std::clamp(left, 0, std::max(0, page.width() - this->width())),
         std::clamp(at.y() - this->height() / 2, 0, std::max(0, page.height() - this->height())));
    QWidget::show();
    raise();
    update();
}

QString ValuesAtCursor::text() const {
    QStringList lines{m_place};
    for (const Row& row : m_rows) lines += row.name + ' ' + row.value;
    return lines.join('\n');
}

void ValuesAtCursor::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.setPen(gridColour(palette()));
    painter.setBrush(palette().color(QPalette::Base));
    painter.drawRect(rect().adjusted(0, 0, -1, -1));
    const QFontMetrics metrics = fontMetrics();
    int baseline = kPad + metrics.ascent();
    painter.setPen(mutedText(palette()));
    painter.drawText(kPad, baseline, m_place);
    for (const Row& row : m_rows) {
        baseline += metrics.height();
        const Qt::PenStyle dash = row.mark == LegendItem::Mark::Dashed   ? Qt::DashLine
                                  : row.mark == LegendItem::Mark::Dotted ? Qt::DotLine
                                                                         : Qt::SolidLine;
        painter.setPen(QPen(row.colour, row.bold ? 3 : 2, dash, Qt::FlatCap));
        const int middle = baseline - metrics.capHeight() / 2;
        painter.drawLine(kPad, middle, kPad + kSwatchWidth - 5, middle);
        QFont font = this->font();
        font.setBold(row.bold);
        painter.setFont(font);
        painter.setPen(palette().color(QPalette::Text));
        painter.drawText(kPad + kSwatchWidth, baseline, row.name);
        painter.drawText(width() - kPad - QFontMetrics(font).horizontalAdvance(row.value), baseline, row.value);
    }
}

}  // namespace stepscope
