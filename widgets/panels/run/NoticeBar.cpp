#include "widgets/panels/run/NoticeBar.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QPainter>
#include <QToolButton>
#include <algorithm>

#include "widgets/panels/LineIcon.h"
#include "widgets/panels/ToneLabel.h"
#include "widgets/style/Metrics.h"

namespace stepscope {

NoticeBar::NoticeBar(QWidget* area, Qt::Edge edge) : QWidget(area), m_edge(edge) {
    area->installEventFilter(this);
    m_icon = new QLabel;
    m_text = sentenceLabel(Tone::Normal);
    m_text->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_action = new QToolButton;
    auto* close = new QToolButton;
    close->setIcon(lineIcon("close"));
    close->setAutoRaise(true);
    close->setToolTip("Close this note");
    close->setAccessibleName("Close this note");
    auto* layout = new QHBoxLayout(this);
    layout->setContentsMargins(space(3), space(1), space(1), space(1));
    layout->setSpacing(space(2));
    layout->addWidget(m_icon);
    layout->addWidget(m_text, 1);
    layout->addWidget(m_action);
    layout->addWidget(close);
    connect(close, &QToolButton::clicked, this, &QWidget::hide);
    connect(m_action, &QToolButton::clicked, this, [this] {
        hide();
        Q_EMIT acted();
    });
    hide();
}

void NoticeBar::say(Kind kind, const QString& sentence, const QString& action) {
    m_kind = kind;
    ++m_said;
    m_text->setText(sentence);
    const Tone tone = kind == Kind::Error ? Tone::Error : kind == Kind::Warning ? Tone::Warning : Tone::Normal;
    m_icon->setPixmap(lineIcon(kind == Kind::Error ? "error" : "warning", toneColour(tone)).pixmap(18, 18));
    m_icon->setVisible(kind != Kind::Note);
    m_action->setText(action);
    m_action->setVisible(!action.isEmpty());
    setAccessibleName(sentence);
    place();
    show();
    raise();
    update();
}

void NoticeBar::place() {
    const QWidget* area = parentWidget();
    const int height = std::min(layout()->totalHeightForWidth(area->width()), area->height());
    setGeometry(0, m_edge == Qt::TopEdge ? 0 : area->height() - height, area->width(), height);
    if (!isHidden()) Q_EMIT coveredChanged(height);
}

void NoticeBar::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    if (!event->spontaneous()) Q_EMIT coveredChanged(height());
}

void NoticeBar::hideEvent(QHideEvent* event) {
    QWidget::hideEvent(event);
    if (isHidden()) Q_EMIT coveredChanged(0);
}

bool NoticeBar::eventFilter(QObject* watched, QEvent* event) {
    if (watched == parentWidget() && event->type() == QEvent::Resize) place();
    return QWidget::eventFilter(watched, event);
}

QString NoticeBar::sentence() const {
    return isHidden() ? QString() : m_text->text();
}

int NoticeBar::saying() const {
    return isHidden() ? 0 : m_said;
}

void NoticeBar::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    const Tone tone = m_kind == Kind::Error ? Tone::Error : m_kind == Kind::Warning ? Tone::Warning : Tone::Muted;
    painter.fillRect(rect(), palette().color(QPalette::Window));  // nothing shines through
    QColor wash = toneColour(tone);
    painter.fillRect(QRect(0, 0, 3, height()), wash);
    wash.setAlphaF(0.12F);
    painter.fillRect(rect(), wash);
    painter.setPen(palette().color(QPalette::Mid));
    const int line = m_edge == Qt::TopEdge ? height() - 1 : 0;
    painter.drawLine(0, line, width(), line);
}

}  // namespace stepscope
