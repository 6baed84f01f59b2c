#include "widgets/panels/run/StopsReplay.h"

#include <QHBoxLayout>
#include <algorithm>
#include <cmath>

#include "widgets/panels/ElidedLabel.h"
#include "widgets/style/Metrics.h"

namespace stepscope {

constexpr std::size_t kFewest = 2;  // stops; of one there is nothing to go through

StopsReplay::StopsReplay(const QString& what, const QString& each, QWidget* parent) : QWidget(parent) {
    m_bar = new ScrubBar;
    m_bar->setAccessibleName("Place in the " + what);
    m_bar->setToolTip(QString("Shows what was known after each %1; the arrow keys go from %1 to %1").arg(each));
    m_place = new ElidedLabel(Tone::Muted);
    m_place->setFont(tabularFont(font()));
    m_place->setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
    m_place->setAccessibleName(QString("Which %1 is shown").arg(each));
    auto* layout = new QHBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(space(2));
    layout->addWidget(m_bar, 1);
    layout->addWidget(m_place);
    QSizePolicy keeps(QSizePolicy::Preferred, QSizePolicy::Fixed);
    keeps.setRetainSizeWhenHidden(true);
    setSizePolicy(keeps);
    connect(m_bar, &ScrubBar::moved, this, &StopsReplay::go);
    connect(m_bar, &ScrubBar::released, this, &StopsReplay::go);
    hide();
}

void StopsReplay::setStops(std::size_t count, bool another, bool offered, const std::function<std::vector<ScrubMark>()>& marks, Said said) {
    const bool shown = offered && count >= kFewest;
    m_said = std::move(said);
    if (another || shown != m_offered || count != m_count) {
        m_stop = m_count = count;
        m_bar->setStops(static_cast<int>(count));
        m_bar->setMarks(marks());
        m_bar->setPosition(1);
    }
    m_offered = shown;
    setVisible(shown);
    showPlace();
}

QString StopsReplay::place() const {
    return m_place->text();
}

void StopsReplay::go(double fraction) {
    if (!m_offered) return;
    const auto stop = static_cast<std::size_t>(std::lround(std::clamp(fraction, 0.0, 1.0) * static_cast<double>(m_count)));
    if (stop == m_stop) return;
    m_stop = stop;
    showPlace();
    Q_EMIT moved();
}

// As wide as the longest that it may come to say, so that the bar keeps its length under the mouse.
void StopsReplay::showPlace() {
    m_place->setFixedWidth(m_place->fontMetrics().horizontalAdvance(m_said(m_count)) + space(1));
    m_place->setText(m_said(m_stop));
}

}  // namespace stepscope
