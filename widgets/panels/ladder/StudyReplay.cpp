#include "widgets/panels/ladder/StudyReplay.h"

#include <algorithm>
#include <map>
#include <utility>

#include "core/base/Format.h"
#include "core/events/Event.h"
#include "core/events/Study.h"

namespace stepscope {
namespace {

std::vector<ScrubMark> marksOf(const std::vector<StudyRow>& told) {
    std::vector<ScrubMark> marks;
    std::map<std::int64_t, std::string> states;  // of each row so far
    for (std::size_t i = 0; i < told.size(); ++i) {
        const bool decided = told[i].state == study::kMeasured || (told[i].role == study::kFinal && told[i].state != study::kRunning);
        if (std::exchange(states[told[i].row], told[i].state) != told[i].state && decided)
            marks.push_back({static_cast<double>(i + 1) / static_cast<double>(told.size()), ScrubMark::Shape::Square,
                             // a stranger's file may name a row in HTML
                             "<p>" + QString::fromStdString(told[i].name + ": " + told[i].state).toHtmlEscaped() + "</p>"});
    }
    return marks;
}

}  // namespace

StudyReplay::StudyReplay(QWidget* parent) : StopsReplay("measurement", "change of the table", parent) {
    // It comes with a page that is another one anyway.
    QSizePolicy folds = sizePolicy();
    folds.setRetainSizeWhenHidden(false);
    setSizePolicy(folds);
    connect(this, &StopsReplay::moved, this, &StudyReplay::build);
}

void StudyReplay::setStudy(const std::shared_ptr<const StudyHistory>& whole, const std::shared_ptr<const std::vector<StudyRow>>& told, bool offered) {
    const bool another = told != m_told;
    m_whole = whole;
    m_told = told;
    const std::size_t count = told && whole->began() ? told->size() : 0;
    setStops(
        count, another, offered, [&] { return count > 0 ? marksOf(*told) : std::vector<ScrubMark>(); },
        [told, count, from = whole->began() ? whole->began()->at : TimeNs{}](std::size_t stop) {
            const auto at = [&](std::size_t of) {
                const double seconds = of > 0 && of <= count ? (*told)[of - 1].at.seconds() - from.seconds() : 0;  // of any two numbers
                return QString::fromStdString(format::duration(TimeNs::fromSeconds(std::clamp(seconds, 0.0, 1e9))));
            };
            return QString("%1 of %2").arg(at(stop), at(count));
        });
    build();
}

void StudyReplay::build() {
    if (atEnd()) return;
    StudyHistory then;
    then.add(*m_whole->began());
    for (std::size_t i = 0; i < stop(); ++i) then.add((*m_told)[i]);
    m_then = std::move(then);
}

}  // namespace stepscope
