// The page "Ladder": which switch does what here, one rung after the other, or what is best here of all. The question on top, the rows as a chart and
// a table below, live or stored. Takes plain structs, gives intents out as signals; app/gui/measuring/LadderWiring measures. GUI thread.
#pragma once
#include <QWidget>

#include "widgets/panels/ladder/LadderTypes.h"

class QCheckBox;
class QComboBox;
class QDoubleSpinBox;
class QPushButton;

namespace stepscope {

class ElidedLabel;
class LadderTable;
class StudyChart;
class TitleButton;

class LadderPage : public QWidget {
    Q_OBJECT
public:
    explicit LadderPage(QWidget* parent = nullptr);

    void setLadders(const std::vector<std::string>& names);  // that are built in
    void setFile(const QString& path);                       // adds it to the list and chooses it
    LadderQuestion question() const;
    void setQuestion(const LadderQuestion& question);
    // What the question as it stands would measure, or what is wrong with it. problem: it cannot be measured.
    void setForecast(const QString& sentence, bool problem);
    void setBusy(LadderBusy busy, const QString& why = {});  // why: of Taken, a sentence
    void setView(const LadderView& view);

    LadderTable& table() { return *m_table; }
    StudyChart& chart() { return *m_chart; }
    QString answer() const;
    QString progress() const;
    QString forecast() const;

Q_SIGNALS:
    void edited();
    void fileRequested();
    void measureRequested();
    void stopRequested();
    void resumeRequested();
    void useRequested();
    void reportRequested(const QString& path);  // .html or .md
    void guideRequested();

private:
    QWidget* buildQuestion();
    QWidget* buildActions();
    void showButtons();

    LadderView m_view;
    LadderBusy m_busy = LadderBusy::NoEngine;
    bool m_problem = true;
    QString m_why;
    QString m_foretold;  // of the question as it stands
    QComboBox* m_what;
    QDoubleSpinBox* m_minutes;
    QCheckBox *m_leaveOneOut, *m_pairs, *m_sizes;
    QPushButton *m_file, *m_measure, *m_stop, *m_resume, *m_use, *m_report;
    TitleButton* m_guide;
    ElidedLabel *m_forecast, *m_title, *m_answer, *m_progress;
    StudyChart* m_chart;
    LadderTable* m_table;
};

// What it says when it is over, or so far: "The top is ×2.1 [1.9, 2.3] as fast as the bottom", "Recommended: …".
// over: nothing measures it any more.
QString studyAnswer(const StudyHistory& history, bool over = false);
// Whether it came to settings that can be used: the top of a ladder as far as it got, of a search only an answer.
bool studyUsable(const StudyHistory& history);

}  // namespace stepscope
