// The workers of one session: a sentence that names the slow one, a heat map of worker by step, and what each took for a step and its phases. It
// reads nothing itself. Beside the window, which goes on. GUI thread.
#pragma once
#include <memory>

#include "widgets/panels/sessions/SessionDialog.h"

class QComboBox;
class QScrollArea;
class QTableWidget;

namespace stepscope {

class ToneLabel;
class WorkerMap;
class WorkersMap;

struct WorkersView {
    qint64 session = 0;
    std::shared_ptr<const WorkerMap> map;  // null: it cannot be read
    QString problem;                       // and why
    QString forecast{};                    // of other numbers of workers, a sentence or two; empty: nothing is said of them
};

class WorkersDialog : public SessionDialog {
    Q_OBJECT
public:
    explicit WorkersDialog(QWidget* parent = nullptr);

    void setView(const WorkersView& view);  // of another session: nothing
    QString forecast() const;
    QString clocks() const;  // how well they are known; empty: nobody knows
    WorkersMap& map() const { return *m_map; }
    QComboBox* phase() const { return m_phase; }
    QTableWidget* table() const { return m_table; }

private:
    void begin() override;
    void showGrid();
    void fillTable();

    WorkersView m_view;
    ToneLabel *m_legend, *m_clocks, *m_forecast;
    QComboBox* m_phase;
    WorkersMap* m_map;
    QScrollArea* m_scroll;
    QTableWidget* m_table;
};

}  // namespace stepscope
