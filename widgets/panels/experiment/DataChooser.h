// Chooses what is trained on: the built-in texts, a file, a folder, or one used before. File dialogs do not block the window. It carries
// what a ValueRow carries: the sign of what takes effect in a new run, bold and a way back when it differs from the preset, a note below.
// Part of ExperimentPanel; GUI thread.
#pragma once
#include <QString>
#include <QWidget>

#include "widgets/panels/experiment/RecentPaths.h"

class QComboBox;

namespace stepscope {

class ElidedLabel;
class TitleButton;

class DataChooser : public QWidget {
    Q_OBJECT
public:
    explicit DataChooser(const QString& whyNewRun, QWidget* parent = nullptr);
    void setData(const QString& data, bool changedFromPreset);  // kjv | shakespeare | generated | random | a path
    void setWaits(bool waits);                                  // the run in progress has other data
    void setProblem(const QString& sentence);                   // why they cannot be trained on; empty = they can, as far as is known
    QString data() const { return m_data; }
    // Files are another machine's (RecentPaths).
    void setFilesElsewhere(const QString& host, RecentPaths::AskElsewhere ask);

Q_SIGNALS:
    void chosen(const QString& data);
    void resetRequested();

private:
    void rebuild();
    void showNote();
    void choose(const QString& data);
    void take(int index);
    void browse(bool folder);

    QComboBox* m_list;
    TitleButton* m_reset;
    ElidedLabel* m_note;  // keeps its line when there is nothing to say
    bool m_waits = false;
    QString m_problem;
    QString m_data = "kjv";
    RecentPaths m_recent{"data/recent"};
};

}  // namespace stepscope
