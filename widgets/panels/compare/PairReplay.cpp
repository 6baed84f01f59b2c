#include "widgets/panels/compare/PairReplay.h"

#include <QHBoxLayout>
#include <algorithm>
#include <cmath>

#include "core/base/Format.h"
#include "widgets/panels/ElidedLabel.h"
#include "widgets/panels/run/ScrubBar.h"
#include "widgets/style/Metrics.h"

namespace stepscope {
namespace {

constexpr std::size_t kFewest = 2;  // pairs; of one there is nothing to go through

std::vector<ScrubMark> marksOf(const std::vector<ExperimentJudged>& pairs) {
    std::vector<ScrubMark> marks;
    const auto placeBehind = [&](std::size_t count) { return static_cast<double>(count) / static_cast<double>(pairs.size()); };
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        if (i > 0 && pairs[i].rebuild != pairs[i - 1].rebuild)
            marks.push_back({placeBehind(i), ScrubMark::Shape::Square, QString("before pair %1 both sides were made anew").arg(i + 1)});
        if (pairs[i].discarded) marks.push_back({placeBehind(i + 1), ScrubMark::Shape::Tick, QString("pair %1: left out").arg(i + 1)});
    }
    return marks;
}

}  // namespace

PairReplay::PairReplay(QWidget* parent) : QWidget(parent) {
    m_bar = new ScrubBar;
    m_bar->setAccessibleName("Place in the experiment");
    m_bar->setToolTip("Shows what was known after each pair; the arrow keys go from pair to pair");
    m_place = new ElidedLabel(Tone::Muted);
    m_place->setFont(tabularFont(font()));
    m_place->setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
    m_place->setAccessibleName("Which pair is shown");
    auto* layout = new QHBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(space(2));
    layout->addWidget(m_bar, 1);
    layout->addWidget(m_place);
    QSizePolicy keeps(QSizePolicy::Preferred, QSizePolicy::Fixed);
    keeps.setRetainSizeWhenHidden(true);
    setSizePolicy(keeps);
    connect(m_bar, &ScrubBar::moved, this, &PairReplay::go);
    connect(m_bar, &ScrubBar::released, this, &PairReplay::go);
    hide();
}

void PairReplay::setExperiment(const std::shared_ptr<const ExperimentHistory>& history, bool offered) {
    const std::vector<ExperimentJudged>& all = history->pairs();
    const bool shown = offered && all.size() >= kFewest;
    if (history != m_history || shown != m_offered || all.size() != m_count) {
        m_pairs = m_count = all.size();
        m_bar->setStops(static_cast<int>(all.size()));
        m_bar->setMarks(marksOf(all));
        m_bar->setPosition(1);
    }
    m_history = history;
    m_offered = shown;
    setVisible(shown);
    showPlace();
}

bool PairReplay::atEnd() const {
    return !m_offered || m_pairs >= m_history->pairs().size();
}

QString PairReplay::place() const {
    return m_place->text();
}

void PairReplay::go(double fraction) {
    if (!m_offered) return;
    const auto all = static_cast<double>(m_history->pairs().size());
    const auto pairs = static_cast<std::size_t>(std::lround(std::clamp(fraction, 0.0, 1.0) * all));
    if (pairs == m_pairs) return;
    m_pairs = pairs;
    showPlace();
    Q_EMIT moved();
}

// As wide as the longest that it may come to say, so that the bar keeps its length under the mouse.
void PairReplay::showPlace() {
    const std::vector<ExperimentJudged>& all = m_history->pairs();
    const auto said = [&](std::size_t pairs) {
        const double seconds = pairs > 0 ? all[pairs - 1].seconds : 0;
        return QString("pair %1 of %2 · %3")
            .arg(pairs)
            .arg(all.size())
            .arg(QString::fromStdString(format::duration(TimeNs::fromSeconds(std::isfinite(seconds) ? std::clamp(seconds, 0.0, 1e9) : 0))));
    };
    m_place->setFixedWidth(m_place->fontMetrics().horizontalAdvance(said(all.size())) + space(1));
    m_place->setText(said(m_pairs));
}

}  // namespace stepscope
