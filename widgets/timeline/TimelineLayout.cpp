#include "widgets/timeline/TimelineLayout.h"

#include <algorithm>

namespace stepscope {

void TimelineLayout::set(const TimelineContent& content, const std::set<qint64>& folded) {
    m_content = &content;
    m_rows.clear();
    int y = 0;
    for (std::size_t i = 0; i < content.lanes.lanes.size(); ++i) {
        const TraceLane& lane = content.lanes.lanes[i];
        const int depths = folded.contains(lane.lane) ? 1 : std::max(1, lane.depths);
        const int end = y + depths * (kBar + kGap) - kGap;
        for (int depth = 0; depth < depths; ++depth) {
            m_rows.push_back({TimelineRow::Kind::Lane, static_cast<int>(i), depth, y, kBar, end});
            y += kBar + kGap;
        }
        y += kBetween;
    }
    for (std::size_t i = 0; i < content.counters.size(); ++i) {
        m_rows.push_back({TimelineRow::Kind::Counter, static_cast<int>(i), 0, y, kCounter, y + kCounter});
        y += kCounter + kBetween;
    }
    m_height = y;
}

const TimelineRow* TimelineLayout::rowAt(int y) const {
    for (const auto& row : m_rows)
        if (y >= row.y && y < row.y + row.height + kGap) return &row;
    return nullptr;
}

const TimelineRow* TimelineLayout::rowOf(qint64 lane, int depth) const {
    const TimelineRow* best = nullptr;
    for (const auto& row : m_rows)
        if (row.kind == TimelineRow::Kind::Lane && m_content->lanes.lanes[static_cast<std::size_t>(row.place)].lane == lane && row.depth <= depth)
            best = &row;
    return best;
}

QString laneTitle(const TraceLane& lane, bool severalRanks) {
    // What waits for all of a GPU has no stream, which CUPTI writes as the largest number of 32 bits.
    constexpr std::int64_t kNoStream = 0xffffffff;
    QString title = QString::fromStdString(lane.thread.name);
    if (lane.thread.device >= 0 && lane.thread.thread == kNoStream)
        title = QString("GPU %1 %2").arg(lane.thread.device).arg(title.endsWith("(sync)") ? "all streams (sync)" : "without a stream");
    else if (lane.thread.device >= 0)
        title = QString("GPU %1 %2").arg(lane.thread.device).arg(title.isEmpty() ? QString("stream %1").arg(lane.thread.thread) : title);
    else if (title.isEmpty())
        title = QString("thread %1").arg(lane.thread.thread);
    return severalRanks ? QString("rank %1 %2").arg(lane.thread.rank).arg(title) : title;
}

}  // namespace stepscope
