// OverlayPane: what stands around the charts while stored runs are laid over each other: the bar above them (how many, grouped by what, close, how
// far reading them is, what is to be said of them) and the table of runs below. LivePage places both. GUI thread.
#pragma once
#include <QObject>
#include <QString>
#include <QTimer>

class QComboBox;
class QLabel;
class QProgressBar;
class QToolButton;
class QWidget;

namespace stepscope {

class ElidedLabel;
class RunsOverlay;
class RunsTable;

class OverlayPane : public QObject {
    Q_OBJECT
public:
    explicit OverlayPane(QWidget* page);  // owns the parts

    QWidget& head() { return *m_head; }
    RunsTable& table() { return *m_table; }
    QComboBox& grouping() { return *m_grouping; }

    void begin();  // for another set of runs
    void show(const RunsOverlay& overlay);
    // How far reading is, 0 to 1; it is seen from 200 ms on. 1: done.
    void setProgress(double share);
    bool showsProgress() const;
    // Of two runs, how far they can be compared; or a sentence of all of them together. Empty: nothing.
    void setRemark(const QString& sentence, const QString& more = {});
    QString remark() const;
    QString title() const;

Q_SIGNALS:
    void closeRequested();
    void groupRequested(const QString& key);  // empty: each run is a line of its own

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;  // the width of the bar

private:
    void say();

    QWidget* m_head;
    QLabel* m_title;
    QComboBox* m_grouping;
    QToolButton *m_columns, *m_close;
    QProgressBar* m_progress;
    ElidedLabel* m_remark;
    RunsTable* m_table;
    QTimer m_patience;
    std::size_t m_read = 0, m_chosen = 0;
    double m_share = 1;
};

}  // namespace stepscope
