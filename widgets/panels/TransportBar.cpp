// See TransportBar.h.
#include "widgets/panels/TransportBar.h"

#include "core/base/Format.h"
#include "widgets/panels/LineIcon.h"
#include "widgets/panels/ScrubBar.h"
#include "widgets/style/Metrics.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QToolButton>

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
    m_title = new QLabel("replay");
    m_title->setFont(headFont(m_title->font()));
    auto* toStart = button("to-start", "To the start");
    m_play = button("run", "Play");
    auto* toEnd = button("to-end", "To the end");
    m_speed = new QComboBox;
    for (int factor : {1, 2, 5, 10, 30, 100, 300, 1000}) m_speed->addItem(QString("×%1").arg(factor), factor);
    m_speed->setCurrentIndex(3);
    m_speed->setToolTip("How many times faster than it happened");
    m_speed->setAccessibleName("Replay speed");
    m_scrub = new ScrubBar;
    m_where = new QLabel;
    m_where->setFont(tabularFont(m_where->font()));
    auto* back = new QToolButton;
    back->setText("Close replay");
    back->setToolTip("Back to the live view (Esc)");

    auto* layout = new QHBoxLayout(this);
    layout->setContentsMargins(space(2), 2, space(2), 2);
    layout->setSpacing(space(1));
    layout->addWidget(m_title);
    layout->addWidget(toStart);
    layout->addWidget(m_play);
    layout->addWidget(toEnd);
    layout->addWidget(m_speed);
    layout->addWidget(m_scrub, 1);
    layout->addWidget(m_where);
    layout->addWidget(back);

    connect(toStart, &QToolButton::clicked, this, [this] { Q_EMIT seekRequested(TimeNs{}); });
    connect(toEnd, &QToolButton::clicked, this, &TransportBar::endRequested);
    connect(m_play, &QToolButton::clicked, this, [this] { m_place.playing ? Q_EMIT pauseRequested() : Q_EMIT playRequested(); });
    connect(m_speed, &QComboBox::activated, this, [this] { Q_EMIT speedChanged(speed()); });
    connect(back, &QToolButton::clicked, this, &TransportBar::closeRequested);
    connect(m_scrub, &ScrubBar::released, this,
            [this](double fraction) { Q_EMIT seekRequested(TimeNs{static_cast<std::int64_t>(fraction * static_cast<double>(m_place.end.ns))}); });
}

void TransportBar::setName(const QString& name) {
    m_title->setText("replay  " + fontMetrics().elidedText(name, Qt::ElideRight, 180));
    m_title->setToolTip(name);
}

// The tint that says: this is not live.
void TransportBar::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    QColor wash = palette().color(QPalette::Highlight);
    wash.setAlphaF(0.16F);
    painter.fillRect(rect(), wash);
}

double TransportBar::speed() const { return m_speed->currentData().toDouble(); }

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
    m_where->setText(QString("step %1 / %2   %3 / %4")
                         .arg(text(format::count(place.step)), text(format::count(place.lastStep)), text(format::duration(place.at)),
                              text(format::duration(place.end))));
}

void TransportBar::setMarks(std::vector<ScrubMark> marks) { m_scrub->setMarks(std::move(marks)); }

}  // namespace stepscope
