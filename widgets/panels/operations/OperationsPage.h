// The page Operations: where the time of captured steps went, a row an operation, a layer or a part of the model, and the button that captures the
// next steps of a run. It reads nothing itself: it is told an OperationsView and says what a person wants. GUI thread.
#pragma once
#include <QWidget>

#include "core/analysis/captures/OperationSummary.h"

class QComboBox;
class QLineEdit;
class QPushButton;
class QSpinBox;
class QTableView;

namespace stepscope {

class OperationsOrder;
class OperationsTable;
class ToneLabel;

struct OperationsView {
    qint64 session = 0;  // 0: none is shown
    bool loading = false;
    QString problem;  // why nothing can be read
    SummaryTotals totals;
    std::vector<SummaryRow> operations, layers, roles, kernels;
    bool placesOfDevice = false;  // layers and roles have the time on GPUs (OperationSummary::ofDevice)
    QString note;                 // why kernels are missing, where a capture said so
    QString whose{};              // of several workers: which of them are counted; empty: there is one
};

class OperationsPage : public QWidget {
    Q_OBJECT
public:
    explicit OperationsPage(QWidget* parent = nullptr);

    void setView(OperationsView view);
    void setReady(bool ready);      // whether there is a run that can be asked
    void setWaiting(bool waiting);  // for the steps that were asked for

    QPushButton* captureButton() const { return m_capture; }
    QPushButton* exportButton() const { return m_export; }
    QLineEdit* filter() const { return m_filter; }
    QComboBox* grouping() const { return m_by; }
    QTableView* table() const { return m_table; }
    QString sentence() const;

Q_SIGNALS:
    void captureRequested(int steps);
    void exportRequested();
    void showInTimeline(const QString& name);  // its slices

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    void showState();
    void showRows();
    void widenNames();
    bool ofDevice() const;  // whether the rows shown have the time on GPUs

    OperationsView m_view;
    bool m_ready = false, m_waiting = false;
    QPushButton *m_capture, *m_export;
    QSpinBox* m_steps;
    QComboBox* m_by;
    bool m_byChosen = false;  // by this page, for a view that has kernels alone
    QLineEdit* m_filter;
    ToneLabel* m_sentence;
    OperationsTable* m_rows;
    OperationsOrder* m_order;
    QTableView* m_table;
    int m_nameWidth = 0;  // that this page gave the column of names last
};

}  // namespace stepscope
