// LockedTimelines: the captured steps of both sides of an experiment, or of any two captures, one timeline below the other, locked together:
// whichever is moved or zoomed takes the other with it, the same part of a step at the same place, and a range is of both. Reads nothing, like
// TimelineView. Used by the page Compare and by SideBySideDialog; GUI thread.
#pragma once
#include <QWidget>

#include "widgets/timeline/TimelineView.h"

namespace stepscope {

class TimelineLegend;
class ToneLabel;

class LockedTimelines : public QWidget {
    Q_OBJECT
public:
    explicit LockedTimelines(QWidget* parent = nullptr);

    // Lanes of rank 0 are A's, of rank 1 B's; others are in neither.
    void setContent(const TimelineContent& content);
    void setSentence(const QString& sentence);  // in place of what is shown: it is being read, or cannot be
    // Two captures, each with what it may show from the begin of its lanes to their end, equally long on both sides; they are locked where their
    // origins lie upon each other, and all of them is shown.
    void setSides(TimelineContent a, TimelineContent b, qint64 originA, qint64 originB);
    void say(const QString& sentence);  // beside what is shown
    // What was chosen on one side, and what stands there on the other, where anything does: both are locked at it, and the side that was not clicked
    // moves. None: nothing is chosen, and they are locked at their origins again.
    void choose(const std::optional<TraceSlice>& a, const std::optional<TraceSlice>& b, bool inA);
    // Both go to this place; an empty one (until <= from) leaves its side where the other takes it.
    void showPlace(const QString& name, qint64 fromA, qint64 untilA, qint64 fromB, qint64 untilB);

    TimelineView& a() { return *m_a; }
    TimelineView& b() { return *m_b; }
    QString sentence() const;
    const TimelineLegend& legend() const { return *m_legend; }
    double offset() const { return m_offset; }

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    void follow(TimelineView& moved, TimelineView& other, double offset);
    void mirrorRange(const TimelineView& from, TimelineView& to, double offset);
    void showSides(bool shown);
    void showLegend();
    void lockAt(qint64 a, qint64 b, bool followA);

    ToneLabel* m_sentence;
    TimelineLegend* m_legend;  // of the colours of both
    TimelineView *m_a, *m_b;
    TimelineView* m_led = nullptr;  // that the other one followed last; null: both still show all of it, each by itself
    double m_offset = 0;            // ns: of B's clock less A's, where both show the same
    qint64 m_originA = 0, m_originB = 0;
    bool m_following = false;
};

}  // namespace stepscope
