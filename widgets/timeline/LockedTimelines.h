// LockedTimelines: the captured steps of both sides of an experiment, one timeline below the other, locked together: whichever is moved or zoomed
// takes the other with it, the same part of a step at the same place. Reads nothing, like TimelineView. Used by the page Compare; GUI thread.
#pragma once
#include <QWidget>

#include "widgets/timeline/TimelineView.h"

namespace stepscope {

class ToneLabel;

class LockedTimelines : public QWidget {
    Q_OBJECT
public:
    explicit LockedTimelines(QWidget* parent = nullptr);

    // Lanes of rank 0 are A's, of rank 1 B's; others are in neither.
    void setContent(const TimelineContent& content);
    void setSentence(const QString& sentence);  // in place of what is shown: it is being read, or cannot be
    // Both go to this place; an empty one (until <= from) leaves its side where the other takes it.
    void showPlace(const QString& name, qint64 fromA, qint64 untilA, qint64 fromB, qint64 untilB);

    TimelineView& a() { return *m_a; }
    TimelineView& b() { return *m_b; }
    QString sentence() const;

private:
    void follow(TimelineView& moved, TimelineView& other, double offset);

    ToneLabel* m_sentence;
    TimelineView *m_a, *m_b;
    double m_offset = 0;  // ns: of B's clock less A's, where both show the same
    bool m_following = false;
};

}  // namespace stepscope
