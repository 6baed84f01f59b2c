// The workers of one session: a sentence that names the slow one, a heat map of worker by step, and what each took for a step and its phases. It
// reads nothing itself. Beside the window, which goes on. GUI thread.
#pragma once
#include <QDialog>
#include <memory>

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
};

class WorkersDialog : public QDialog {
    Q_OBJECT
public:
    explicit WorkersDialog(QWidget* parent = nullptr);

    void ask(qint64 session, const QString& name);  // opens it; the view comes later
    void setView(const WorkersView& view);          // of another session: nothing
    QString sentence() const;
    WorkersMap& map() const { return *m_map; }
    QComboBox* phase() const { return m_phase; }
    QTableWidget* table() const { return m_table; }

private:
    void showGrid();
    void fillTable();

    qint64 m_session = 0;
    WorkersView m_view;
    ToneLabel *m_sentence, *m_legend;
    QComboBox* m_phase;
    WorkersMap* m_map;
    QScrollArea* m_scroll;
    QTableWidget* m_table;
};

}  // namespace stepscope
