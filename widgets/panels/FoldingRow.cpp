#include "widgets/panels/FoldingRow.h"

#include <QBoxLayout>
#include <algorithm>

#include "widgets/style/Metrics.h"

namespace stepscope {

FoldingRow::FoldingRow(QLayout* first, QLayout* second, int stretchFirst, int stretchSecond, QWidget* parent)
    : QWidget(parent), m_first(first), m_second(second), m_all(new QBoxLayout(QBoxLayout::LeftToRight, this)) {
    m_all->setContentsMargins(0, 0, 0, 0);
    m_all->setSpacing(space(2));
    m_all->setSizeConstraint(QLayout::SetNoConstraint);  // else the layout's own least width would keep it from folding
    m_all->addLayout(first, stretchFirst);
    m_all->addLayout(second, stretchSecond);
    setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
}

bool FoldingRow::folded() const {
    return m_all->direction() == QBoxLayout::TopToBottom;
}

QSize FoldingRow::minimumSizeHint() const {
    return {std::max(m_first->minimumSize().width(), m_second->minimumSize().width()), m_all->minimumSize().height()};
}

void FoldingRow::resizeEvent(QResizeEvent*) {
    const bool folds = m_first->sizeHint().width() + m_all->spacing() + m_second->sizeHint().width() > width();
    if (folds == folded()) return;
    m_all->setDirection(folds ? QBoxLayout::TopToBottom : QBoxLayout::LeftToRight);
    updateGeometry();
}

}  // namespace stepscope
