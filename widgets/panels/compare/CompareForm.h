// Where the question is asked: in what A and B differ, how long it may take, what counts as equal; what is wrong with it beside the row; why it
// cannot begin now and what can be done about that; what was answered earlier; and what all of this is. Used by ComparePage; GUI thread.
#pragma once
#include <QScrollArea>

#include "core/events/SwitchCatalogue.h"
#include "widgets/panels/compare/CompareTypes.h"

class QCheckBox;
class QLabel;
class QPushButton;
class QVBoxLayout;

namespace stepscope {

class DifferenceRow;
class ElidedLabel;
class EarlierAnswers;
class NumberEdit;
class StartChooser;
class TitleButton;
class ToneLabel;

class CompareForm : public QScrollArea {
    Q_OBJECT
public:
    static constexpr int kMostRows = 12;

    explicit CompareForm(QWidget* parent = nullptr);

    void setSettings(const RunConfig& config, const SwitchCatalogue& catalogue);
    void setQuestion(const CompareQuestion& question);
    CompareQuestion question() const;  // with the last numbers that were in their range
    QString wrongNumber() const;       // the sentence; empty = all are good
    // Of what question() was when it was asked for.
    void setCheck(const CompareCheck& check);
    // why: of NoEngine and Taken, a sentence; empty: the engine is being made ready.
    void setBusy(CompareBusy busy, const QString& why = {});
    bool canMeasure() const;

    const std::vector<DifferenceRow*>& rows() const { return m_rows; }
    StartChooser* start() const { return m_start; }
    QPushButton* measureButton() const { return m_measure; }
    QString said() const;  // beside it: why nothing can be measured now; empty: it can

Q_SIGNALS:
    void edited();
    void measureRequested();
    void stopRunRequested();         // the run that trains now, and then it is measured
    void waitRequested(bool waits);  // for its end
    void showRequested();            // what is being measured
    void earlierRequested(qint64 session, qint64 number);
    void guideRequested();

protected:
    void changeEvent(QEvent* event) override;

private:
    void tint();
    QWidget* buildNumbers();
    QWidget* buildActions();
    DifferenceRow* addRow();
    void removeRow(DifferenceRow* row);
    void renumber();
    void showState();

    RunConfig m_config;
    SwitchCatalogue m_catalogue;
    std::vector<DifferenceRow*> m_rows;
    QVBoxLayout* m_rowsLayout;
    QWidget* m_differences;
    std::vector<QLabel*> m_heads;
    QCheckBox* m_same;
    QPushButton* m_add;
    StartChooser* m_start;
    struct Number {
        const char* key;
        ValueRange range;
        NumberEdit* edit;
        double good;
    };
    std::vector<Number> m_numbers;
    ElidedLabel* m_problem;
    QPushButton *m_measure, *m_stopRun, *m_wait;
    TitleButton* m_guide;
    ToneLabel* m_notes;
    EarlierAnswers* m_earlier;
    CompareCheck m_check;
    CompareBusy m_busy = CompareBusy::NoEngine;
    QString m_why;
    bool m_checked = false;
};

}  // namespace stepscope
