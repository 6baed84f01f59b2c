// LivePage: the page "Live": seven charts over one x axis and one cursor, and a thin bar to steer them. Shows a RunHistory,
// live or replayed, or before the first run the schedule that is planned. MainWindow places it; whoever appends to the history calls
// historyChanged(). Its own clock draws, at most one chart a tick, and rests when every chart is fresh. GUI thread.
#pragma once
#include <QByteArray>
#include <QTimer>
#include <QWidget>
#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "core/analysis/RunHistory.h"
#include "core/events/RunConfig.h"
#include "widgets/charts/ChartView.h"
#include "widgets/charts/RedrawBudget.h"
#include "widgets/charts/ViewRange.h"

class QButtonGroup;
class QComboBox;
class QGridLayout;
class QLabel;
class QMenu;
class QScrollArea;
class QSlider;
class QSplitter;
class QToolButton;

namespace stepscope {

class OverlayPane;
class OverlayTable;
class RunsOverlay;
class ValuesAtCursor;

class LivePage : public QWidget {
    Q_OBJECT
public:
    static constexpr std::size_t kCharts = 7;
    static constexpr std::size_t kMostFlips = 1000;  // rows of the list of flips: the newest

    explicit LivePage(QWidget* parent = nullptr);
    ~LivePage() override;

    // The history to show from now on (null = none). It is appended to by the caller, on this thread.
    void setHistory(std::shared_ptr<RunHistory> history);
    // New events were appended. Cheap: nothing is drawn before the next tick.
    void historyChanged();
    // The configuration that the next run would have: its schedule is drawn while there are no steps.
    void setPlannedConfig(const RunConfig& config);
    // Starts the clock where there is something to draw and somebody to see it: after the window was minimised.
    void wake();
    bool isAwake() const { return m_timer.isActive(); }
    // One turn of the clock: draws at most one chart, when the budget has room and the page can be seen.
    void tick();

    // Stored runs laid over each other, instead of the history, which goes on filling meanwhile. Null: back to it.
    void setOverlay(std::shared_ptr<RunsOverlay> overlay);
    RunsOverlay* overlay() const { return m_overlay.get(); }
    void overlayChanged();       // runs came or went, are hidden or grouped
    OverlayPane& overlayPane();  // made when it is first asked for

    // Puts the cursor on a step and brings it into view (the log's lines jump here).
    void showStep(std::int64_t step);
    void fit();                                      // the whole run, and the y axes that the data ask for
    void enlarge(std::optional<std::size_t> chart);  // this chart alone; none: all of them
    std::optional<std::size_t> enlarged() const { return m_enlarged; }
    // The rows [begin, end) and what their steps were like.
    void select(std::size_t begin, std::size_t end);
    void showFlips();
    bool stepBack();  // what Esc takes back first: a table, an enlarged chart, a selection; false: nothing of it is there

    // Axis, log and smoothing, for QSettings.
    QByteArray saveLayout() const;
    void restoreLayout(const QByteArray& layout);

    ViewRange& range() { return *m_range; }
    ChartView& chart(std::size_t index) { return *m_charts[index]; }
    OverlayTable& statistics() { return *m_statistics; }
    OverlayTable& flips() { return *m_flips; }
    const RedrawBudget& budget() const { return m_budget; }
    std::unique_ptr<QMenu> menuOf(ChartView& chart);

Q_SIGNALS:
    void overlayCloseWanted();
    void overlayHidingChanged();                       // a run, or a line of several, was hidden or is shown again
    void flipMeasureRequested(int flip);               // its place in RunHistory::flips()
    void cursorStepChanged(qint64 step);               // -1 = the mouse left
    void said(const QString& sentence, bool isError);  // what came of a copy or a file

protected:
    void keyPressEvent(QKeyEvent* event) override;
    void changeEvent(QEvent* event) override;
    void showEvent(QShowEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    struct Metric;
    static const std::vector<Metric>& metrics();

    void buildBar();
    void buildGrid();
    void buildTables();
    void styleBar();
    void arrange();
    void fitBar();
    void setSmoothing(int position);
    void updateExtent();
    void offerRates(bool rangeTest);
    void offerEnergy();
    void invalidate();
    void hurry();
    void drawNext(TimeNs now, bool sparing);
    bool hasToDraw() const;
    bool mayDrawWhileMeasuring(TimeNs now);
    void moveCursor(int rows);
    bool training() const;
    bool canTakeTurns() const;
    bool keyOnChart(QKeyEvent* event, ChartView& chart);
    ChartView* focusedChart() const;
    void markSelectionEdge(bool begin);
    void clearSelection();
    void measureNext();
    void fillFlips();
    void copyPicture(ChartView& chart);
    void saveAs(ChartView& chart, const QString& kind);
    void fitHeads();
    Extent overlayExtent() const;
    void connectOverlay(ChartView& chart);
    void pointAt(ChartView& chart, QPointF place);

    std::shared_ptr<RunHistory> m_history;
    std::shared_ptr<const SessionInfo> m_session;  // that the view was fitted to
    RunConfig m_planned;
    std::shared_ptr<RunsOverlay> m_overlay;
    OverlayPane* m_pane = nullptr;
    ValuesAtCursor* m_values = nullptr;
    ViewRange* m_range = nullptr;
    RedrawBudget m_budget;
    SessionClock m_clock;
    QTimer m_timer;
    TimeNs m_answerUntil;
    TimeNs m_secondBegan;                    // while values take turns: each chart is drawn at most once in a second,
    std::array<bool, kCharts> m_inSecond{};  //   and these of them were
    TimeNs m_ticked{-1'000'000'000};         // long ago
    std::array<ChartView*, kCharts> m_charts{};
    std::size_t m_next = 0;       // whose turn it is
    std::optional<View> m_round;  // drawn on every chart before any shows it: they never show different parts of the run
    std::optional<std::size_t> m_enlarged;
    bool m_twoColumns = true;

    struct Selected {
        std::size_t begin = 0, end = 0, measured = 0;  // rows; metrics measured so far
    };
    std::optional<Selected> m_selected;
    QTimer m_measuring;  // one metric a turn of the event loop
    OverlayTable* m_statistics = nullptr;
    OverlayTable* m_flips = nullptr;
    std::size_t m_marks = 0;  // of the history, when the flips were last counted
    TimeNs m_flipsFilled;
    struct FlipsSeen {  // of the history
        std::int64_t session = 0;
        std::size_t rows = 0, samples = 0;
        bool trains = false;
        bool operator==(const FlipsSeen& other) const = default;
    };
    FlipsSeen m_flipsSeen;  // when the list was filled
    struct ListedFlip {
        std::int64_t step = 0;  // the first with it
        std::size_t flip = 0;   // its place in RunHistory::flips()
    };
    std::vector<ListedFlip> m_listed;  // the rows of that list

    QWidget* m_bar = nullptr;
    QScrollArea* m_scroll = nullptr;
    QSplitter* m_split = nullptr;
    QGridLayout* m_grid = nullptr;
    QLabel *m_axisLabel = nullptr, *m_smoothingLabel = nullptr;
    QComboBox* m_axis = nullptr;
    QToolButton* m_logX = nullptr;
    QToolButton* m_logY = nullptr;
    QButtonGroup* m_tools = nullptr;
    QSlider* m_smoothing = nullptr;
    QToolButton* m_flipsButton = nullptr;
    QToolButton* m_fit = nullptr;
    QToolButton* m_follow = nullptr;
};

}  // namespace stepscope
