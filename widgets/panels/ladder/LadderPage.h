// The page "Ladder": which switch does what here, one rung after the other, or what is best here of all. The question on top, the rows as a chart and
// a table below, live or stored. Takes plain structs, gives intents out as signals; app/gui/measuring/LadderWiring measures. GUI thread.
#pragma once
#include <QWidget>

#include "widgets/panels/ladder/LadderTypes.h"

class QPushButton;

namespace stepscope {

class ElidedLabel;
class LadderForm;
class LadderTable;
class StudyChart;
class StudyReplay;
class TitleButton;

class LadderPage : public QWidget {
    Q_OBJECT
public:
    explicit LadderPage(QWidget* parent = nullptr);

    // What the question as it stands would measure, or what is wrong with it. problem: it cannot be measured.
    void setForecast(const QString& sentence, bool problem);
    void setBusy(LadderBusy busy, const QString& why = {});  // why: of Taken, a sentence
    void setView(const LadderView& view);

    LadderForm& form() { return *m_form; }
    LadderTable& table() { return *m_table; }
    StudyChart& chart() { return *m_chart; }
    StudyReplay& replay() { return *m_replay; }  // of one that is over: what was known then
    QString forecast() const;                    // or why nothing can be measured now
    QString answer() const;
    QString progress() const;
    QString beside() const;   // of a search: what is known of its winner beside the time
    QString earlier() const;  // of what was asked before; empty: it was not

Q_SIGNALS:
    void edited();
    void fileRequested();
    void measureRequested();
    void stopRequested();
    void resumeRequested();
    void useRequested();
    void reportRequested(const QString& path);  // .html or .md
    void earlierRequested(qint64 session);
    void guideRequested();

private:
    QWidget* buildActions();
    void showButtons();
    void showRows();
    void showEarlier();

    LadderView m_view;
    LadderBusy m_busy = LadderBusy::NoEngine;
    bool m_problem = true;
    QString m_why;
    QString m_foretold;  // of the question as it stands
    LadderForm* m_form;
    QPushButton *m_measure, *m_stop, *m_resume, *m_use, *m_report;
    TitleButton *m_guide, *m_earlier;
    ElidedLabel *m_title, *m_answer, *m_beside, *m_progress;
    StudyReplay* m_replay;
    StudyChart* m_chart;
    LadderTable* m_table;
};

// What it says when it is over, or so far: "The top is ×2.1 [1.9, 2.3] as fast as the bottom", "Recommended: …".
// over: nothing measures it any more.
QString studyAnswer(const StudyHistory& history, bool over = false);
// Of what a search recommends: the loss at equal tokens, and whether it computes otherwise. Empty where there is none.
QString studyBeside(const StudyHistory& history);
// Whether it came to settings that can be used: the top of a ladder as far as it got, of a search only an answer.
bool studyUsable(const StudyHistory& history);

}  // namespace stepscope
