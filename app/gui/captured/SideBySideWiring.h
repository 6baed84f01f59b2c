// Two captures side by side: which ones is asked in the list of sessions or among the captures of one; opens both, finds their first steps, reads the
// tiles that either timeline lacks, and looks on the other side for what a person clicks on. GUI thread; everything is read on a thread of its own.
#pragma once
#include <QObject>
#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/gui/process/BackThread.h"
#include "core/trace/SamePlace.h"
#include "sessions/Captures.h"

class QWidget;

namespace stepscope {

class CapturesDialog;
class SessionsPanel;
class SideBySideDialog;
class TimelineView;
struct TilePlace;

class SideBySideWiring : public QObject {
    Q_OBJECT
public:
    struct Panels {  // that it speaks to
        QWidget& window;
        SessionsPanel& sessions;
        CapturesDialog& captures;
    };
    SideBySideWiring(const Panels& panels, std::string database, QObject* parent = nullptr);
    ~SideBySideWiring() override;

    struct Wanted {
        qint64 session = 0, capture = 0;  // 0: its newest that has slices
    };
    void ask(const Wanted& a, const Wanted& b);
    SideBySideDialog& dialog() { return *m_dialog; }

private:
    struct Opened;
    struct Shown {
        qint64 session = 0;
        std::vector<StoredCapture> captures;  // that have slices
        std::size_t capture = 0;              // which of them
        TraceLanes lanes;
        CapturedPart part;
    };
    static Result<Shown> open(Opened& opened, const std::string& database, const Wanted& wanted, const std::function<bool()>& goesOn);
    void want(int side, const std::vector<TilePlace>& places);
    void show();
    void showCapture(int side, int place);
    void find(int side, qint64 lane, int depth, qint64 time, qint64 near);
    void sum(int side, qint64 from, qint64 to);
    void tell(int side, const std::optional<TraceSlice>& slice, const SamePlace& there);
    TimelineView& view(int side);
    QString titleOf(qint64 session) const;
    QString lockedSentence() const;

    Panels m_panels;
    std::string m_database;
    SideBySideDialog* m_dialog;                       // the window's child
    std::array<std::shared_ptr<Opened>, 2> m_opened;  // touched on the reading thread; the pointers are this thread's
    std::array<Shown, 2> m_shown;
    std::atomic<std::uint64_t> m_reading = 0;  // the newest two that were opened; reading of older ones stops
    std::atomic<std::uint64_t> m_asked = 0;    // the newest question
    BackThread m_thread;                       // last: joined first
};

}  // namespace stepscope
