#include "widgets/panels/run/TransportBar.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QToolButton>
#include <algorithm>

#include "core/base/Format.h"
#include "widgets/panels/LineIcon.h"
#include "widgets/panels/run/ScrubBar.h"
#include "widgets/style/Metrics.h"
#include "widgets/style/Words.h"

namespace stepscope {
namespace {

QToolButton* button(const QString& icon, const QString& name) {
    auto* made = new QToolButton;
    made->setIcon(lineIcon(icon));
    made->setAutoRaise(true);
    made->setToolTip(name);
    made->setAccessibleName(name);
    return made;
}

}  // namespace

TransportBar::TransportBar(QWidget* parent) : QWidget(parent) {
    m_title = new QLabel(m_titleText);
    m_title->setFont(headFont(m_title->font()));
    m_title->setTextFormat(Qt::PlainText);
    m_toStart = button("to-start", "To the start");
    m_play = button("run", "Play");
    m_toEnd = button("to-end", "To the end");
    m_speed = new QComboBox;
    for (int factor : {1, 2, 5, 10, 30, 100, 300, 1000}) m_speed->addItem(QString("×%1").arg(factor), factor);
    m_speed->setCurrentIndex(3);
    m_speed->setToolTip("How many times faster than it happened");
    m_speed->setAccessibleName("Replay speed");
    m_speed->setMinimumWidth(m_speed->sizeHint().width());
    m_scrub = new ScrubBar;
    m_scrub->setMinimumWidth(0);  // fit() knows what else to take
    m_step = new QLabel;
    m_time = new QLabel;
    for (QLabel* label : {m_step, m_time}) {
        label->setFont(tabularFont(label->font()));
        label->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    }
    m_back = new QToolButton;
    m_back->setText("Close");
    m_back->setIcon(lineIcon("close"));
    m_back->setAccessibleName("Close replay");
    m_back->setToolTip("Close the replay: back to the live view (Esc)");

    auto* layout = new QHBoxLayout(this);
    layout->setContentsMargins(space(2), 2, space(1), 2);
    layout->setSpacing(space(1));
    layout->addWidget(m_title);
    layout->addWidget(m_toStart);
    layout->addWidget(m_play);
    layout->addWidget(m_toEnd);
    layout->addWidget(m_speed);
    layout->addWidget(m_scrub, 1);
    layout->addWidget(m_step);
    layout->addWidget(m_time);
    layout->addWidget(m_back);

    connect(m_toStart, &QToolButton::clicked, this, [this] { Q_EMIT seekRequested(TimeNs{}); });
    connect(m_toEnd, &QToolButton::clicked, this, &TransportBar::endRequested);
    connect(m_play, &QToolButton::clicked, this, [this] { m_place.playing ? Q_EMIT pauseRequested() : Q_EMIT playRequested(); });
    connect(m_speed, &QComboBox::activated, this, [this] { Q_EMIT speedChanged(speed()); });
    connect(m_back, &QToolButton::clicked, this, &TransportBar::closeRequested);
    connect(m_scrub, &ScrubBar::released, this,
            [this](double fraction) { Q_EMIT seekRequested(TimeNs{static_cast<std::int64_t>(fraction * static_cast<double>(m_place.end.ns))}); });
}

void TransportBar::setName(const QString& name) {
    m_titleText = name.isEmpty() ? QString("replay") : "replay " + name;
    m_title->setToolTip(plainTip(name));
    fit();
}

int TransportBar::timeWidth(Room room) const {
    const QString end = QString::fromStdString(format::duration(m_place.end));
    return m_time->fontMetrics().horizontalAdvance(room == Room::Tight ? end : end + " / " + end) + 4;
}

int TransportBar::widthBesideTitle(Room room) const {
    const QMargins margins = layout()->contentsMargins();
    int width = margins.left() + margins.right();
    for (int i = 0; i < layout()->count(); ++i) {
        const QWidget* part = layout()->itemAt(i)->widget();
        const bool isEnd = part == m_toStart || part == m_toEnd;
        if (part == m_title || (part == m_step && room != Room::Wide) || (isEnd && room == Room::Tight)) continue;
        const QSize wanted = part->sizeHint().boundedTo(part->maximumSize()).expandedTo(part->minimumSize());
        width += (part == m_scrub  ? (room == Room::Tight ? kTightSlider : kLeastSlider)
                  : part == m_time ? timeWidth(room)
                                   : wanted.width()) +
                 layout()->spacing();
    }
    return width;
}

void TransportBar::fit() {
    m_back->setToolButtonStyle(Qt::ToolButtonTextOnly);
    Room room = widthBesideTitle(Room::Wide) <= width() ? Room::Wide : Room::WithoutStep;
    if (room == Room::WithoutStep && widthBesideTitle(room) > width()) {
        m_back->setToolButtonStyle(Qt::ToolButtonIconOnly);
        if (widthBesideTitle(room) > width()) room = Room::Tight;
    }
    showTime(room);
    m_step->setVisible(room == Room::Wide);
    for (QToolButton* end : {m_toStart, m_toEnd}) end->setVisible(room != Room::Tight);
    const QFontMetrics metrics(m_title->font());
    const int left = std::min(metrics.horizontalAdvance(m_titleText) + 2, std::max(0, width() - widthBesideTitle(room)));
    m_title->setVisible(left >= metrics.horizontalAdvance("replay"));
    m_title->setFixedWidth(left);
    m_title->setText(metrics.elidedText(m_titleText, Qt::ElideRight, left));
}

// The tint that says: this is not live.
void TransportBar::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    QColor wash = palette().color(QPalette::Highlight);
    wash.setAlphaF(0.16F);
    painter.fillRect(rect(), wash);
}

double TransportBar::speed() const {
    return m_speed->currentData().toDouble();
}

void TransportBar::setPlace(const Place& place) {
    m_place = place;
    const QString action = place.playing ? "Pause" : "Play";
    if (m_play->accessibleName() != action) {
        m_play->setIcon(lineIcon(place.playing ? "pause" : "run"));
        m_play->setToolTip(action);
        m_play->setAccessibleName(action);
    }
    m_scrub->setPosition(place.end.ns > 0 ? static_cast<double>(place.at.ns) / static_cast<double>(place.end.ns) : 0);
    const auto text = [](const std::string& s) { return QString::fromStdString(s); };
    const QString last = text(format::count(place.lastStep));
    m_step->setText(QString("step %1 / %2").arg(text(format::count(place.step)), last));
    m_step->setFixedWidth(m_step->fontMetrics().horizontalAdvance(QString("step %1 / %1").arg(last)) + 4);  // so that the slider stands still
    fit();
}

void TransportBar::showTime(Room room) {
    const QString at = QString::fromStdString(format::duration(m_place.at)), end = QString::fromStdString(format::duration(m_place.end));
    m_time->setText(room == Room::Tight ? at : at + " / " + end);
    m_time->setToolTip(at + " of " + end);
    m_time->setFixedWidth(timeWidth(room));  // so that the slider stands still
}

void TransportBar::setMarks(std::vector<ScrubMark> marks) {
    m_scrub->setMarks(std::move(marks));
}

}  // namespace stepscope
