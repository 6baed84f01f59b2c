// TimelineLayout: which row of a timeline lies where, no QPainter in it: lanes with a row a depth, folded ones with one, counters below. Heights are
// in logical pixels, y from the top of all rows (not of what is scrolled to). A value type of the GUI thread.
#pragma once
#include <QString>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <set>
#include <utility>
#include <vector>

#include "core/trace/TraceIndex.h"

namespace stepscope {

struct CounterSeries {
    QString name, unit;
    std::vector<std::pair<qint64, double>> points;  // by ns; a value holds until the next
    bool cut = false;                               // there was more than is kept
    qint64 missing = 0;                             // samples that were lost or invalid, of this series or of others of its lane
    bool ofCaptures = false;                        // measured within captures alone: between them nobody knows it

    static constexpr std::size_t kMostPoints = 200'000;
    void add(qint64 ns, double value) {
        if (points.size() < kMostPoints)
            points.emplace_back(ns, value);
        else
            cut = true;
    }
    // What stands below its name: its highest value, where some are below 0 its lowest too, and whether something is missing.
    QString range() const {
        double least = 0, most = -std::numeric_limits<double>::infinity();
        for (const auto& point : points) {
            least = std::min(least, point.second);
            most = std::max(most, point.second);
        }
        QString to = QString("to %1 %2").arg(std::isfinite(most) ? most : 0.0, 0, 'g', 3).arg(unit);
        if (least < 0) to.prepend(QString("%1 ").arg(least, 0, 'g', 3));
        if (missing > 0) to += QString(", %1 missing").arg(missing);
        return cut ? QString("first %1 values only, %2").arg(kMostPoints).arg(to) : to;
    }
};

struct TimelineContent {
    qint64 session = 0;
    TraceLanes lanes;
    std::vector<CounterSeries> counters;
    std::vector<std::pair<qint64, qint64>> captures{};  // ns, half-open, by time: where something was recorded
};

struct TimelineRow {
    enum class Kind { Lane, Counter } kind = Kind::Lane;
    int place = 0;  // in the lanes or counters
    int depth = 0;
    int y = 0, height = 0;
    int end = 0;  // the y behind the last row of its lane: whoever paints has it without a walk over all rows
};

class TimelineLayout {
public:
    static constexpr int kBar = 18, kGap = 1, kBetween = 6, kCounter = 40;

    void set(const TimelineContent& content, const std::set<qint64>& folded);
    const std::vector<TimelineRow>& rows() const { return m_rows; }
    int height() const { return m_height; }
    const TimelineRow* rowAt(int y) const;
    const TimelineRow* rowOf(qint64 lane, int depth) const;  // of a folded lane its one row

private:
    const TimelineContent* m_content = nullptr;
    std::vector<TimelineRow> m_rows;
    int m_height = 0;
};

// "trainer", "stream 7 of GPU 0": what a lane is called.
QString laneTitle(const TraceLane& lane, bool severalRanks);

}  // namespace stepscope
