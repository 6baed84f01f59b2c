// An experiment, live or stored: what is asked, how far it is, what the pairs say, every pair as a dot, both sides beside time, what was answered
// earlier. The same picture for both; what comes later has its place from the beginning. Used by ComparePage; GUI thread.
#pragma once
#include <QScrollArea>

#include "core/analysis/JudgedSentence.h"
#include "widgets/panels/compare/CompareTypes.h"

class QBoxLayout;
class QComboBox;
class QMenu;
class QProgressBar;
class QPushButton;

namespace stepscope {

class CompareFacts;
class EarlierAnswers;
class ElidedLabel;
class LockedTimelines;
class MemoryBars;
class PairReplay;
class RatioChart;
class TitleButton;
class ToneLabel;
class WhyPane;

class CompareResult : public QScrollArea {
    Q_OBJECT
public:
    explicit CompareResult(QWidget* parent = nullptr);

    void setView(const CompareView& view);
    void setRepeatable(bool can);  // nothing else keeps this machine busy
    RatioChart* chart() const { return m_chart; }
    CompareFacts* facts() const { return m_facts; }
    WhyPane* reasons() const { return m_reasons; }
    LockedTimelines* timelines() const { return m_timelines; }  // out of sight until a place of the reasons is chosen
    QString verdict() const;
    QString why() const;
    QString basis() const;
    QString progress() const;
    MemoryBars* memory() const { return m_memory; }
    PairReplay* replay() const { return m_replay; }  // of one that is over: what was known after each pair
    QComboBox* which() const { return m_which; }     // out of sight where the session holds one experiment

Q_SIGNALS:
    void stopRequested();
    void repeatRequested();
    void useRequested();
    void reportRequested(const QString& path);    // .html, .md or .json
    void askRequested();                          // back to the question
    void presetRequested(const QString& preset);  // the same question of other settings
    void earlierRequested(qint64 session, qint64 number);
    void experimentChosen(qint64 number);  // of those that the session holds, from 1
    void guideRequested();

protected:
    void resizeEvent(QResizeEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    QWidget* buildHead();
    QWidget* buildVerdict();
    QWidget* buildActions();
    void showProgress();
    void showPairs(const ExperimentHistory& history);
    void showThen();  // what was known at the pair that is replayed; at its end, all
    void showVerdict();
    void showVerdictThen(const ExperimentHistory& then);
    void showBasis(const ExperimentHistory& history);
    void showSides();
    void showWhich();
    void fold();
    void nameRepeat();
    void chooseReport();
    void showPresets();

    CompareView m_view;
    ArmNames m_names;  // what its sentences call the two
    bool m_repeatable = true, m_narrow = false;
    ElidedLabel *m_question, *m_sides, *m_progress;
    QComboBox* m_which;
    QProgressBar* m_bar;
    ElidedLabel *m_verdict, *m_why, *m_basis, *m_method;
    PairReplay* m_replay;
    RatioChart* m_chart;
    CompareFacts* m_facts;
    MemoryBars* m_memory;
    QBoxLayout* m_middle;
    WhyPane* m_reasons;
    LockedTimelines* m_timelines;
    EarlierAnswers* m_earlier;
    ToneLabel* m_notes;
    QPushButton *m_stop, *m_repeat, *m_use, *m_report, *m_ask, *m_elsewhere;
    QMenu* m_presets;
    TitleButton* m_guide;
};

}  // namespace stepscope
