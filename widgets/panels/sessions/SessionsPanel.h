// The right panel: every stored session, newest first. Filters as one types, double click replays, a context menu does the rest;
// deleting needs no question because it can be undone. Signals say what was asked; the window does it. GUI thread.
#pragma once
#include <QWidget>
#include <map>

#include "widgets/panels/sessions/ExportChoice.h"
#include "widgets/panels/sessions/SessionRow.h"

class QLineEdit;
class QListView;
class QPushButton;
class QStackedWidget;

namespace stepscope {

class NoticeBar;
class SessionDelegate;
class SessionEditor;
class SessionsFilter;
class SessionsModel;
class ToneLabel;

class SessionsPanel : public QWidget {
    Q_OBJECT
public:
    explicit SessionsPanel(QWidget* parent = nullptr);

    void setRows(std::vector<SessionRow> rows);
    void setUnavailable(const QString& why);  // the database cannot be read: the sentence instead of the list
    void setReplayed(std::int64_t session);   // 0 = none
    // Sessions that lie over each other in the charts, each with its place among them: their dots have the colours of their lines.
    void setOverlaid(std::map<std::int64_t, std::size_t> colours);
    void setDemoOffered(bool offered);  // where there is no session, two short ones can be asked for
    void offerUndo(std::int64_t session, const QString& name);
    void focusSearch();
    std::int64_t selected() const;  // the current one; 0 = none
    std::vector<std::int64_t> allSelected() const;
    bool exportSelected();  // as CSV; false = none is chosen
    void setExports(std::vector<ExportChoice> choices) { m_exports = std::move(choices); }

    SessionsModel& model() { return *m_model; }
    SessionsFilter& filter() { return *m_filter; }
    QListView& view() { return *m_view; }

Q_SIGNALS:
    void replayRequested(qint64 session);
    void renameRequested(qint64 session, const QString& name);
    void annotateRequested(qint64 session, const QString& notes, const QStringList& tags);
    void runAgainRequested(qint64 session);
    void loadRequested(qint64 session);                                // its settings, without a run
    void compareRequested(const std::vector<std::int64_t>& sessions);  // details of one, differences of several
    void overlayRequested(const std::vector<std::int64_t>& sessions);  // laid over each other in the charts; however many are chosen
    void sideBySideRequested(qint64 a, qint64 b);                      // what was captured in each, as timelines locked together
    void resumeRequested(qint64 session);
    void measurementsRequested(qint64 session);                      // what was measured within a run or a ladder, one by one
    void exportRequested(qint64 session, const QString& word);       // ExportChoice::word; where to is asked then
    void workersRequested(qint64 session, const QString& name);      // to see what each took
    void capturesRequested(qint64 session, const QString& name);     // to see and remove them
    void checkpointsRequested(qint64 session, const QString& name);  // the same, and what else can be done with them
    void deleteRequested(qint64 session, const QString& name);
    void restoreRequested(qint64 session);
    void demoRequested();

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void showMenu(const QPoint& at);
    void remove(const SessionRow& row);
    void removeAll(const std::vector<std::int64_t>& sessions);
    void showEmptiness();

    SessionsModel* m_model;
    SessionsFilter* m_filter;
    SessionDelegate* m_delegate;
    QLineEdit* m_search;
    QStackedWidget* m_stack;
    QListView* m_view;
    QWidget* m_nothing;  // in place of the list
    ToneLabel* m_empty;
    QPushButton* m_demo;
    SessionEditor* m_editor;
    NoticeBar* m_undo;
    std::vector<std::int64_t> m_deleted;  // since the offer to undo stands
    std::vector<ExportChoice> m_exports;
    QString m_unavailable;
    bool m_read = false;
    bool m_demoOffered = false;
};

}  // namespace stepscope
