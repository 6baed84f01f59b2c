// The page Timeline: the timeline with its search, legend and the pane of what is selected: facts and kin of a slice, or the sums of a range. Below
// it the panes that say what the range in sight comes to (panes/). It reads nothing itself: it is told what was found and says what a person wants to
// know. GUI thread.
#pragma once
#include <QWidget>

#include "widgets/timeline/TimelineView.h"

class QLineEdit;
class QPushButton;
class QSpinBox;
class QSplitter;
class QTextBrowser;
class QToolButton;

namespace stepscope {

class PaneStrip;
class ShortcutsOverlay;
class TimelineLegend;
class ToneLabel;

class TimelinePage : public QWidget {
    Q_OBJECT
public:
    explicit TimelinePage(QWidget* parent = nullptr);

    void setContent(TimelineContent content);
    void setNothing(qint64 session);           // that session has no capture; 0: none is shown
    void setProblem(const QString& sentence);  // nothing can be read
    void setUnread(const QString& sentence);   // a part cannot be: what is there stays
    void setLoading(const QString& sentence);  // something is being read
    void setReady(bool ready);                 // whether there is a run that can be asked
    void setWaiting(bool waiting);             // for the steps that were asked for
    void setSlice(const TraceSlice& slice, const KinAnswer& kin, const std::vector<TraceSlice>& flows);
    void setSums(qint64 from, qint64 to, const RangeSums& sums);
    void setLosses(std::vector<TraceLoss> losses);  // slices of the content that could not be kept, and where
    // Of the same content: lanes do not wait for them. missing: samples of them that could not be kept.
    void setCounters(std::vector<CounterSeries> counters, qint64 missing);
    void addTiles(const std::vector<LodTilePtr>& tiles);
    void setFound(const std::optional<TraceSlice>& slice, bool forwards);

    // A slice that a pane named is shown, and the panes stay with their range.
    void showFromPane(const TraceSlice& slice);
    void searchFromPane(const QString& name);

    TimelineView& view() { return *m_view; }
    PaneStrip& panes() { return *m_panes; }
    // Whether what is seen changes because of a pane, not of a person.
    bool isLed() const { return m_led; }
    QLineEdit* search() const { return m_search; }
    QPushButton* captureButton() const { return m_capture; }
    QString sentence() const;
    QString details() const;  // as text; empty where nothing is told
    void clearSelection();
    // Single keys that are the timeline's while it has the keyboard, and not the window's.
    bool takesKey(int key, const QString& text) const;
    void searchFor(const QString& words);  // the first of it from where the view begins

Q_SIGNALS:
    void captureRequested(int steps);
    void findWanted(const QString& words, const stepscope::TracePlace& from, bool forwards);
    void contentChanged();

protected:
    void resizeEvent(QResizeEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    void showState();
    void find(bool forwards);
    void follow(bool forwards);
    void copy();
    void tell(const QString& html);  // in the pane of what is selected
    void tellNothing();
    // TimelineArrange.cpp
    void buildPanes();
    void arrange();
    void placeDetails();
    void setSelection(const std::optional<TraceSlice>& slice);
    bool showsDetails() const;

    TimelineView* m_view;
    QPushButton* m_capture;
    QSpinBox* m_steps;
    QLineEdit* m_search;
    QToolButton *m_back, *m_next, *m_copy, *m_help, *m_fit;
    TimelineLegend* m_legend;
    ToneLabel* m_sentence;
    QTextBrowser* m_details;
    QSplitter *m_split, *m_outer;
    PaneStrip* m_panes;
    ShortcutsOverlay* m_keys;
    QString m_problem, m_loading, m_lost, m_lostSamples;
    qint64 m_session = 0;
    bool m_some = false, m_ready = false, m_waiting = false;
    bool m_tells = false, m_told = false;  // the pane has facts; it had some of this content, and keeps its place below the lanes from then on
    std::vector<TraceSlice> m_flows;
    TracePlace m_place;   // where a search goes on from
    QString m_lookedFor;  // the words of the one before
    bool m_led = false, m_ledNext = false, m_fromPane = false;
    bool m_arranging = false, m_chosen = false, m_guest = false;  // m_chosen: a person folded or unfolded the panes
    double m_share = 0;                                           // of the height that the panes have
    double m_detailsShare = 0;                                    // of the width that the details have beside the lanes
};

}  // namespace stepscope
