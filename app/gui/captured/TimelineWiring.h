// The page Timeline and what is stored: opens the session that is shown whenever somebody looks at the page, reads the tiles that the view lacks, and
// answers what a person asks of slices. GUI thread; everything is read on a thread of its own, counters on another.
#pragma once
#include <QObject>
#include <atomic>
#include <memory>
#include <optional>
#include <utility>

#include "app/gui/process/BackThread.h"
#include "core/trace/RowPicture.h"
#include "core/trace/TraceIndex.h"

class QTabWidget;

namespace stepscope {

class LiveFeed;
class OperationsPage;
class RunController;
class RunWiring;
class Stage;
class TimelinePage;

class TimelineWiring : public QObject {
    Q_OBJECT
public:
    struct Panels {  // that it speaks to
        QTabWidget& pages;
        TimelinePage& page;
        OperationsPage& operations;
    };
    TimelineWiring(const Panels& panels, RunController& runs, RunWiring& running, LiveFeed& live, Stage& stage, std::string database,
                   QObject* parent = nullptr);
    ~TimelineWiring() override;

    void shownChanged();                                                         // to be read anew, as soon as somebody looks
    void showSpan(std::int64_t session, std::int64_t from, std::int64_t until);  // ns; as soon as that session is the one that is seen

private:
    struct Opened;
    void openIfSeen();
    void open();
    void want(const std::vector<TilePlace>& places);
    void readTiles();
    void readCounters(std::int64_t session, const TraceLanes& lanes);
    void readCaptures(std::int64_t session);
    void readLosses();
    void showWantedSpan();
    // `ask` on the reading thread with the opened session, `tell` on this one unless something else is shown by then.
    template <class Ask, class Tell>
    void ask(Ask ask, Tell tell);

    Panels m_panels;
    Stage& m_stage;
    std::string m_database;
    std::shared_ptr<Opened> m_opened;                               // touched on the reading thread; the pointer is this thread's
    std::int64_t m_awaitedSlices = 0;                               // of the live run, before its newest capture
    int m_looks = 0;                                                // left, for a capture to be stored
    bool m_awaitsOne = false;                                       // somebody asked for a capture on this page
    std::optional<std::pair<std::int64_t, std::int64_t>> m_newest;  // ns; what it captured, until it is shown
    struct Span {
        std::int64_t session = 0, from = 0, until = 0;
    };
    std::optional<Span> m_span;  // that somebody wants to see, until it is shown
    bool m_stale = true;
    std::vector<TilePlace> m_wanted;
    bool m_readingTiles = false;
    QString m_searched;                        // once the session is there
    std::atomic<std::uint64_t> m_reading = 0;  // the newest session that was opened; reading of older ones stops
    std::atomic<std::uint64_t> m_asked = 0;    // the newest question
    BackThread m_counting;                     // reads counters
    BackThread m_thread;                       // last: joined first
};

}  // namespace stepscope
