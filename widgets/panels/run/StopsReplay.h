// The line on which something that is over is gone through from one stop to the next: the bar that replays of runs have, and where it stands. What
// was known then is shown by who owns it. GUI thread.
#pragma once
#include <QWidget>
#include <functional>
#include <vector>

#include "widgets/panels/run/ScrubBar.h"

namespace stepscope {

class ElidedLabel;

class StopsReplay : public QWidget {
    Q_OBJECT
public:
    // what: "experiment"; each: "pair": for the tooltip and for who hears the page.
    StopsReplay(const QString& what, const QString& each, QWidget* parent = nullptr);

    std::size_t stop() const { return m_stop; }  // that it stands behind
    bool atEnd() const { return !m_offered || m_stop >= m_count; }
    QString place() const;
    ScrubBar* bar() const { return m_bar; }

Q_SIGNALS:
    void moved();

protected:
    using Said = std::function<QString(std::size_t stop)>;
    // Stands at its end where it is another one or its stops have changed. Out of sight, but not out of its place, where it is not offered or where
    // there are fewer than two stops. said: of any of them, the widest of the last.
    void setStops(std::size_t count, bool another, bool offered, const std::function<std::vector<ScrubMark>()>& marks, Said said);

private:
    void go(double fraction);
    void showPlace();

    std::size_t m_stop = 0, m_count = 0;
    bool m_offered = false;
    Said m_said;
    ScrubBar* m_bar;
    ElidedLabel* m_place;
};

}  // namespace stepscope
