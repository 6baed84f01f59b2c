#include "widgets/panels/ScrolledPage.h"

#include <QVBoxLayout>

#include "widgets/panels/TitleButton.h"
#include "widgets/style/Metrics.h"

namespace stepscope {

ScrolledPage::ScrolledPage(const QString& name, QWidget* parent) : QScrollArea(parent) {
    setAccessibleName(name);
    setFrameShape(QFrame::NoFrame);
    setWidgetResizable(true);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAsNeeded);  // its parts wrap; under a very large font one may need more all the same
    auto* inside = new QWidget;
    m_parts = new QVBoxLayout(inside);
    m_parts->setContentsMargins(space(3), space(3), space(3), space(3));
    m_parts->setSpacing(space(2));
    setWidget(inside);
}

void ScrolledPage::endParts() {
    auto* guide = new TitleButton("How to read this page");
    guide->setLink(true);
    guide->setFocusPolicy(Qt::TabFocus);
    m_parts->addWidget(guide, 0, Qt::AlignLeft);
    m_parts->addStretch(1);
    connect(guide, &TitleButton::clicked, this, &ScrolledPage::guideRequested);
}

}  // namespace stepscope
