// The captures of one session: which steps each is of, what was kept, how much room it takes, and a button that removes one for good. It reads and
// removes nothing itself: it is told and asks. Beside the window, which goes on. GUI thread.
#pragma once
#include <limits>
#include <vector>

#include "widgets/panels/sessions/SessionDialog.h"

class QLabel;
class QPushButton;
class QTableWidget;

namespace stepscope {

struct CaptureRow {
    qint64 number = 0;
    qint64 firstStep = 0, steps = 0;  // 0 steps: not told
    qint64 records = 0, slices = 0, bytes = 0;
    double cost = std::numeric_limits<double>::quiet_NaN();  // share that its steps took longer than those around; unknown where that is not known
    qint64 from = 0, until = 0;                              // ns of the session; where its slices lie
};
struct CapturesView {
    qint64 session = 0;
    std::vector<CaptureRow> captures;
    qint64 detailBytes = 0;  // of the level of detail of all of them
    QString problem;         // why they cannot be read
    qint64 older = 0;        // that are not listed, because there are too many
    QString levels{};        // what each level of observing cost; empty: nobody measured
};

class CapturesDialog : public SessionDialog {
    Q_OBJECT
public:
    explicit CapturesDialog(QWidget* parent = nullptr);

    void setView(const CapturesView& view);    // of another session: nothing
    void setProblem(const QString& sentence);  // a removal that failed
    QTableWidget* table() const { return m_table; }
    QPushButton* removeButton() const { return m_remove; }
    QPushButton* besideButton() const { return m_beside; }
    QPushButton* showButton() const { return m_show; }

Q_SIGNALS:
    void removeRequested(qint64 session, qint64 number);
    void showRequested(qint64 session, qint64 from, qint64 until);  // in the timeline
    void sideBySideRequested(qint64 session, qint64 a, qint64 b);   // two of them, as timelines locked together; a is the older

private:
    void begin() override;
    QWidget* firstFocus() const override;
    void confirm();
    void showChosen();
    bool canShow() const;
    const CaptureRow* chosen() const;  // null: none
    const CaptureRow* besideChosen() const;
    void showState();

    CapturesView m_view;
    QString m_problem;
    bool m_waiting = false;  // it is read, or one is being removed
    qint64 m_removing = 0;
    QTableWidget* m_table;
    QPushButton *m_show, *m_beside, *m_remove;
};

}  // namespace stepscope
