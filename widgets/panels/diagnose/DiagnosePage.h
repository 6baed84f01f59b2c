// The page Diagnose: what can be said of the settings at the left before they run, what is worth trying with them, and the two searches (batch size,
// learning rate). It knows no engine: it is told a DiagnoseView and says what a person wants. GUI thread.
#pragma once
#include "widgets/panels/ScrolledPage.h"
#include "widgets/panels/diagnose/DiagnoseTypes.h"

class QGridLayout;
class QLabel;
class QPushButton;
class QVBoxLayout;

namespace stepscope {

class AdviceCard;
class ElidedLabel;
class ToneLabel;

class DiagnosePage : public ScrolledPage {
    Q_OBJECT
public:
    explicit DiagnosePage(QWidget* parent = nullptr);

    void setView(const DiagnoseView& view);
    void setBusy(DiagnoseBusy busy);
    // Why nothing can be looked at from here, where runs are trained on another machine; a range test is one of them.
    void setElsewhere(const QString& why);

    const std::vector<AdviceCard*>& cards() const { return m_cards; }
    QPushButton* lookButton() const { return m_look; }
    QPushButton* batchButton() const { return m_batch; }
    QPushButton* rateButton() const { return m_rate; }
    QPushButton* stopButton() const { return m_stop; }
    QPushButton* useButton() const { return m_use; }
    QPushButton* useRateButton() const { return m_useRate; }
    QString rateSentence() const;
    QString state() const;  // the line below the buttons
    QString factText(const QString& name) const;

Q_SIGNALS:
    void lookRequested();
    void stopRequested();
    void batchRequested();
    void rateRequested();
    void useRequested();      // the batch size that was found
    void useRateRequested();  // the learning rate
    void testRequested(int advice);

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    void showState();
    void fillFacts();
    void fillAdvice();
    void fillBatches();
    void fillRate();

    DiagnoseView m_view;
    DiagnoseBusy m_busy = DiagnoseBusy::NoEngine;
    QString m_elsewhere;
    QPushButton *m_look, *m_batch, *m_rate, *m_stop, *m_use, *m_useRate;
    ElidedLabel* m_state;
    ToneLabel* m_adviceHead;
    QVBoxLayout* m_advice;
    std::vector<AdviceCard*> m_cards;
    QWidget *m_batchPart, *m_ratePart, *m_factPart;
    QGridLayout *m_batchRows, *m_facts;
    ToneLabel *m_batchSentence, *m_rateSentence;
};

}  // namespace stepscope
