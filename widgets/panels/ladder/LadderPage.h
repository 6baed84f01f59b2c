// The page "Ladder": which switch does what here, one rung after the other, or what is best here of all. The question on top, the rows as a chart and
// a table below, live or stored. Takes plain structs, gives intents out as signals; app/gui/measuring/LadderWiring measures. GUI thread.
#pragma once
#include <QWidget>

#include "core/events/SwitchCatalogue.h"
#include "widgets/panels/ladder/LadderTypes.h"

class QCheckBox;
class QComboBox;
class QDoubleSpinBox;
class QPushButton;

namespace stepscope {

class ElidedLabel;
class LadderTable;
class NumberEdit;
class StudyChart;
class StudyReplay;
class TitleButton;

class LadderPage : public QWidget {
    Q_OBJECT
public:
    explicit LadderPage(QWidget* parent = nullptr);

    void setLadders(const std::vector<LadderChoice>& ladders);  // that are built in
    void setFile(const QString& path);                          // adds it to the list and chooses it
    LadderQuestion question() const;                            // with the last numbers that were in their range
    QString wrongNumber() const;                                // the sentence; empty = all are good
    void setQuestion(const LadderQuestion& question);
    // What the question as it stands would measure, or what is wrong with it. problem: it cannot be measured.
    void setForecast(const QString& sentence, bool problem);
    void setBusy(LadderBusy busy, const QString& why = {});  // why: of Taken, a sentence
    void setView(const LadderView& view);

    LadderTable& table() { return *m_table; }
    StudyChart& chart() { return *m_chart; }
    StudyReplay& replay() { return *m_replay; }  // of one that is over: what was known then
    QString described() const;                   // what the chosen one does
    QString answer() const;
    QString progress() const;
    QString forecast() const;
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
    QWidget* buildQuestion();
    QWidget* buildMore();
    QWidget* buildActions();
    void describeItem(int at, const QString& words);
    void showButtons();
    void showRows();
    void showEarlier();
    double numberOf(std::size_t place) const;  // of m_numbers

    LadderView m_view;
    LadderBusy m_busy = LadderBusy::NoEngine;
    bool m_problem = true;
    QString m_why;
    QString m_foretold;  // of the question as it stands
    QComboBox* m_what;
    QDoubleSpinBox* m_minutes;
    QCheckBox *m_leaveOneOut, *m_pairs, *m_sizes;
    QPushButton *m_file, *m_measure, *m_stop, *m_resume, *m_use, *m_report;
    struct Number {
        const char* key;
        ValueRange range;
        NumberEdit* edit;
        double good;
    };
    std::vector<Number> m_numbers;  // of the row "More": what counts as equal in percent, the seed, gigabytes
    QWidget *m_moreRow, *m_memory;
    QCheckBox* m_more;
    TitleButton *m_guide, *m_earlier;
    ElidedLabel *m_described, *m_forecast, *m_title, *m_answer, *m_beside, *m_progress;
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
