// LivePage: the page "Live": seven charts over one x axis and one cursor, and a thin bar to steer them. Shows a RunHistory,
// live or replayed, or before the first run the schedule that is planned. MainWindow places it; LiveFeed calls
// historyChanged() and tick(). GUI thread.
#pragma once
#include <QByteArray>
#include <QTimer>
#include <QWidget>
#include <array>
#include <memory>

#include "core/analysis/RunHistory.h"
#include "core/events/RunConfig.h"
#include "widgets/charts/RedrawBudget.h"

class QComboBox;
class QToolButton;

namespace stepscope {

class ChartView;
class ViewRange;

class LivePage : public QWidget {
    Q_OBJECT
public:
    static constexpr std::size_t kCharts = 7;

    explicit LivePage(QWidget* parent = nullptr);
    ~LivePage() override;

    // The history to show from now on (null = none). It is appended to by the caller, on this thread.
    void setHistory(std::shared_ptr<RunHistory> history);
    // New events were appended. Cheap: nothing is drawn before tick().
    void historyChanged();
    // The configuration that the next run would have: its schedule is drawn while there are no steps.
    void setPlannedConfig(const RunConfig& config);
    // Every 33 ms: draws at most one chart, when the budget has room and the page can be seen.
    void tick();

    // Puts the cursor on a step and brings it into view (the log's lines jump here).
    void showStep(std::int64_t step);

    // Axis and log choices, for QSettings.
    QByteArray saveLayout() const;
    void restoreLayout(const QByteArray& layout);

    ViewRange& range() { return *m_range; }
    ChartView& chart(std::size_t index) { return *m_charts[index]; }
    const RedrawBudget& budget() const { return m_budget; }

Q_SIGNALS:
    void cursorStepChanged(qint64 step);  // -1 = the mouse left

protected:
    void keyPressEvent(QKeyEvent* event) override;
    void changeEvent(QEvent* event) override;
    void showEvent(QShowEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    void buildBar();
    void buildGrid();
    void styleBar();
    void updateExtent();
    void offerRates(bool rangeTest);
    void invalidate();
    void hurry();
    void answer();
    void moveCursor(int rows);
    bool training() const;

    std::shared_ptr<RunHistory> m_history;
    std::shared_ptr<const SessionInfo> m_session;  // that the view was fitted to
    RunConfig m_planned;
    ViewRange* m_range = nullptr;
    RedrawBudget m_budget;
    SessionClock m_clock;
    QTimer m_answering;  // runs only while the page answers a person: LiveFeed may rest then
    TimeNs m_answerUntil;
    std::array<ChartView*, kCharts> m_charts{};
    std::size_t m_next = 0;  // whose turn it is
    QWidget* m_bar = nullptr;
    QComboBox* m_axis = nullptr;
    QToolButton* m_logX = nullptr;
    QToolButton* m_logY = nullptr;
    QToolButton* m_fit = nullptr;
    QToolButton* m_follow = nullptr;
};

}  // namespace stepscope
