// The checkpoints of one session: of which step each is, how good it was, how much room it takes, and what can be done with one: go on from it, write
// text with it, its weights for other programs, remove it. It reads and does nothing itself: it is told and asks. Beside the window. GUI thread.
#pragma once
#include <limits>
#include <vector>

#include "widgets/panels/sessions/SessionDialog.h"

class QPushButton;
class QTableWidget;

namespace stepscope {

struct CheckpointRow {
    QString path;  // its folder
    qint64 step = 0, bytes = 0;
    double validationLoss = std::numeric_limits<double>::quiet_NaN();  // unknown where that step was not validated
};
struct CheckpointsView {
    qint64 session = 0;
    std::vector<CheckpointRow> checkpoints;  // oldest first
    QString problem;                         // why they cannot be read
    QString newest;                          // where none is here: its folder, where the session stored one all the same,
    QString host;                            //   and the machine that has it; empty: this one had it
};

class CheckpointsDialog : public SessionDialog {
    Q_OBJECT
public:
    explicit CheckpointsDialog(QWidget* parent = nullptr);

    void setView(const CheckpointsView& view);  // of another session: nothing
    void setBusy(const QString& sentence);      // something is done with one, and nothing else can be
    void setDone(const QString& sentence);      // it is done
    void setProblem(const QString& sentence);   // or could not be
    QTableWidget* table() const { return m_table; }
    QPushButton* resumeButton() const { return m_resume; }
    QPushButton* textButton() const { return m_text; }
    QPushButton* exportButton() const { return m_export; }
    QPushButton* removeButton() const { return m_remove; }

Q_SIGNALS:
    void resumeRequested(qint64 session, const QString& path, qint64 step);
    void textRequested(qint64 session, const QString& path, qint64 step);
    void exportRequested(qint64 session, const QString& path, qint64 step, const QString& folder);
    void removeRequested(qint64 session, const QString& path);

private:
    void begin() override;
    QWidget* firstFocus() const override;
    const CheckpointRow* chosen() const;
    const CheckpointRow* best() const;  // null: none was validated
    void confirm();
    void chooseFolder();
    void showState();
    QString summary() const;

    CheckpointsView m_view;
    QString m_problem, m_done, m_busy;
    bool m_waiting = false;  // they are read
    QTableWidget* m_table;
    QPushButton *m_resume, *m_text, *m_export, *m_remove;
};

}  // namespace stepscope
