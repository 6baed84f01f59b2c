// The line on which a ladder or a search that is over is gone through row by row as they became known: what stood in the table then. A square where a
// measurement was decided. Part of LadderPage; GUI thread.
#pragma once
#include <memory>
#include <vector>

#include "core/analysis/StudyHistory.h"
#include "widgets/panels/run/StopsReplay.h"

namespace stepscope {

class StudyReplay : public StopsReplay {
    Q_OBJECT
public:
    explicit StudyReplay(QWidget* parent = nullptr);

    // told: every state of every row, in the order of time; null where nobody kept it. The same one again keeps its place.
    void setStudy(const std::shared_ptr<const StudyHistory>& whole, const std::shared_ptr<const std::vector<StudyRow>>& told, bool offered);
    // What was known at the place at which it stands.
    const StudyHistory& history() const { return atEnd() ? *m_whole : m_then; }

private:
    void build();

    std::shared_ptr<const StudyHistory> m_whole = std::make_shared<StudyHistory>();
    std::shared_ptr<const std::vector<StudyRow>> m_told;
    StudyHistory m_then;
};

}  // namespace stepscope
