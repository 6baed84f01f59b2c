#include "widgets/panels/FlowLayout.h"

#include <algorithm>

#include "widgets/style/Metrics.h"

namespace stepscope {

FlowLayout::FlowLayout(QWidget* parent) : QLayout(parent) {
    setContentsMargins(0, 0, 0, 0);
    setSpacing(space(2));
}

FlowLayout::~FlowLayout() = default;

void FlowLayout::addItem(QLayoutItem* item) {
    m_items.emplace_back(item);
}

QLayoutItem* FlowLayout::itemAt(int index) const {
    return index >= 0 && index < count() ? m_items[static_cast<std::size_t>(index)].get() : nullptr;
}

QLayoutItem* FlowLayout::takeAt(int index) {
    if (itemAt(index) == nullptr) return nullptr;
    QLayoutItem* taken = m_items[static_cast<std::size_t>(index)].release();
    m_items.erase(m_items.begin() + index);
    return taken;
}

int FlowLayout::heightForWidth(int width) const {
    return arrange({0, 0, width, 0}, false);
}

QSize FlowLayout::sizeHint() const {
    QSize all(0, 0);
    for (const auto& item : m_items) {
        if (item->isEmpty()) continue;
        const QSize each = item->sizeHint();
        all = {all.width() + (all.width() > 0 ? spacing() : 0) + each.width(), std::max(all.height(), each.height())};
    }
    return all;
}

QSize FlowLayout::minimumSize() const {
    QSize least(0, 0);
    for (const auto& item : m_items)
        if (!item->isEmpty()) least = least.expandedTo(item->minimumSize());
    return least;
}

void FlowLayout::setGeometry(const QRect& place) {
    QLayout::setGeometry(place);
    arrange(place, true);
}

int FlowLayout::arrange(const QRect& place, bool moves) const {
    int x = 0, y = 0, row = 0;
    for (const auto& item : m_items) {
        if (item->isEmpty()) continue;
        // What asks for more than a whole row has that, and draws an ellipsis or wraps.
        const QSize size = item->sizeHint().boundedTo(QSize(std::max(place.width(), item->minimumSize().width()), QLAYOUTSIZE_MAX));
        if (x > 0 && x + size.width() > place.width()) {
            x = 0;
            y += row + spacing();
            row = 0;
        }
        if (moves) item->setGeometry(QRect(place.topLeft() + QPoint(x, y), size));
        x += size.width() + spacing();
        row = std::max(row, size.height());
    }
    return y + row;
}

}  // namespace stepscope
