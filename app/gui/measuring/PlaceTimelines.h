// PlaceTimelines: what LockedTimelines shows of an experiment's captured steps: opens the session's trace when somebody wants to see a place, and
// reads the tiles that either timeline lacks. GUI thread; everything is read on a thread of its own.
#pragma once
#include <QObject>
#include <atomic>
#include <memory>
#include <string>

#include "app/gui/process/BackThread.h"
#include "core/analysis/why/Waterfall.h"
#include "core/trace/RowPicture.h"

namespace stepscope {

class LockedTimelines;
class TimelineView;

class PlaceTimelines : public QObject {
    Q_OBJECT
public:
    PlaceTimelines(LockedTimelines& shown, std::string database, QObject* parent = nullptr);
    ~PlaceTimelines() override;

    void show(std::int64_t session, const PlaceDifference& place);
    void hide();  // another experiment is looked at

private:
    struct Opened;
    void want(TimelineView& view, const std::vector<TilePlace>& places);
    void tell();

    LockedTimelines& m_shown;
    std::string m_database;
    std::shared_ptr<Opened> m_opened;  // touched on the reading thread; the pointer is this thread's
    std::int64_t m_session = 0;        // that is open, or being opened
    bool m_ready = false;              // it can be shown
    PlaceDifference m_place;
    std::atomic<std::uint64_t> m_reading = 0;  // the newest session that was opened; reading of older ones stops
    BackThread m_thread;                       // last: joined first
};

}  // namespace stepscope
