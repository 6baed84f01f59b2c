// The page "Sessions": every stored session as a row of figures that sorts, and below it the settings of those that are chosen, side by side, all
// of them or only those that differ. Signals say what was asked; the window does it. GUI thread.
#pragma once
#include <QWidget>
#include <vector>

#include "widgets/panels/sessions/SessionRow.h"

class QCheckBox;
class QLabel;
class QLineEdit;
class QPushButton;
class QSettings;
class QTableView;
class QTableWidget;

namespace stepscope {

class SessionsModel;
class SessionsOrder;
class SessionsTable;

class SessionsPage : public QWidget {
    Q_OBJECT
public:
    explicit SessionsPage(SessionsModel& sessions, QWidget* parent = nullptr);

    void choose(const std::vector<std::int64_t>& sessions);  // and finds them
    std::vector<std::int64_t> chosen() const;
    QTableView& table() { return *m_view; }
    QTableWidget& settings() { return *m_settings; }
    SessionsOrder& order() { return *m_order; }
    void save(QSettings& settings) const;
    void restore(const QSettings& settings);

Q_SIGNALS:
    void replayRequested(qint64 session);
    void loadRequested(qint64 session);  // its settings into the experiment panel, without a run
    void runAgainRequested(qint64 session);
    void overlayRequested(const std::vector<std::int64_t>& sessions);  // laid over each other in the charts
    void deleteRequested(qint64 session, const QString& name);
    void exportRequested(const QString& path, const QString& text);

private:
    QWidget* buildControls();
    void select(const std::vector<std::int64_t>& sessions);
    void showSettings();
    void exportTable();
    std::vector<const SessionRow*> rows() const;  // that are chosen, from top to bottom

    SessionsTable* m_table;
    SessionsOrder* m_order;
    QTableView* m_view;
    QTableWidget* m_settings;
    QLineEdit* m_search = nullptr;
    QCheckBox* m_differing = nullptr;
    std::vector<std::int64_t> m_kept;  // what was chosen, while the list is read anew
    QLabel* m_heading;
    QPushButton *m_overlay = nullptr, *m_replay = nullptr, *m_load = nullptr, *m_again = nullptr, *m_remove = nullptr;
};

}  // namespace stepscope
