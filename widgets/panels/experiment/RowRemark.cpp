#include "widgets/panels/experiment/RowRemark.h"

#include <QFrame>
#include <QHBoxLayout>
#include <QPainter>
#include <QScreen>
#include <QStyle>
#include <QStyleOptionFocusRect>
#include <QVBoxLayout>

#include "widgets/panels/TitleButton.h"
#include "widgets/style/Metrics.h"

namespace stepscope {
namespace {
constexpr int kCardWidth = 320;
}

RowRemark::RowRemark(const QString& title, QWidget* parent) : QAbstractButton(parent), m_title(title) {
    setFocusPolicy(Qt::TabFocus);
    setCursor(Qt::PointingHandCursor);
    setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
    m_card = new QFrame(this, Qt::Popup);
    m_card->setFrameShape(QFrame::StyledPanel);
    m_sentence = sentenceLabel(Tone::Normal);
    m_sentence->setFixedWidth(kCardWidth);
    m_links = new QWidget;
    m_linkLine = new QHBoxLayout(m_links);
    m_linkLine->setContentsMargins(0, 0, 0, 0);
    m_linkLine->setSpacing(space(3));
    m_linkLine->addStretch();
    auto* layout = new QVBoxLayout(m_card);
    layout->setContentsMargins(space(3), space(2), space(3), space(2));
    layout->addWidget(m_sentence);
    layout->addWidget(m_links);
    layout->setSizeConstraint(QLayout::SetFixedSize);
    m_links->hide();
    m_sentence->hide();
    connect(this, &QAbstractButton::clicked, this, &RowRemark::openCard);
    hide();
}

void RowRemark::say(Tone tone, const QString& brief, const QString& sentence) {
    m_tone = tone;
    setText(brief.simplified());
    m_sentence->setText(sentence);
    m_sentence->setVisible(!sentence.isEmpty());
    setToolTip(sentence.isEmpty() ? QString() : "<p>" + sentence.toHtmlEscaped().replace('\n', "<br>") + "</p>");
    setAccessibleName(m_title + ": " + sentence);
    if (sentence.isEmpty()) m_card->hide();
    setVisible(!sentence.isEmpty());
    update();
}

QString RowRemark::sentence() const {
    return m_sentence->text();
}

TitleButton* RowRemark::addLink(const QString& text) {
    auto* link = new TitleButton(text);
    link->setLink(true);
    m_linkLine->insertWidget(m_linkLine->count() - 1, link);
    connect(link, &QAbstractButton::clicked, m_card, &QWidget::hide);
    return link;
}

void RowRemark::setLinksShown(bool shown) {
    m_links->setVisible(shown);
}

// Below the row where there is room on the screen, else above.
void RowRemark::openCard() {
    if (isHidden()) return;
    m_card->adjustSize();
    QPoint at = mapToGlobal(QPoint(0, height() + 2));
    const QRect screen = this->screen()->availableGeometry();
    if (at.y() + m_card->height() > screen.bottom()) at.setY(mapToGlobal(QPoint(0, 0)).y() - m_card->height() - 2);
    at.setX(std::clamp(at.x(), screen.left(), std::max(screen.left(), screen.right() - m_card->width())));
    m_card->move(at);
    m_card->show();
}

QSize RowRemark::sizeHint() const {
    return {fontMetrics().horizontalAdvance(text()) + 4, fontMetrics().height() + 6};
}

QSize RowRemark::minimumSizeHint() const {
    return {20, sizeHint().height()};
}

void RowRemark::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    QFont drawn = smallFont(font());
    drawn.setUnderline(underMouse());
    painter.setFont(drawn);
    painter.setPen(toneColour(m_tone));
    const QRect area = rect().adjusted(2, 0, -2, 0);
    painter.drawText(area, Qt::AlignLeft | Qt::AlignVCenter, QFontMetrics(drawn).elidedText(text(), Qt::ElideRight, area.width()));
    if (!hasFocus()) return;
    QStyleOptionFocusRect option;
    option.initFrom(this);
    option.rect = rect().adjusted(0, 1, 0, -1);
    style()->drawPrimitive(QStyle::PE_FrameFocusRect, &option, &painter, this);
}

}  // namespace stepscope
