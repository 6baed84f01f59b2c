// Chooses what training begins with: random weights, or those that another program wrote, a file or a folder, or ones chosen before. Below it stands
// what was found in them, or why these settings cannot begin from them, with a link that sets the model as they have it. File dialogs do not block
// the window. Part of ExperimentPanel; GUI thread.
#pragma once
#include <QString>
#include <QWidget>

#include "widgets/panels/experiment/RecentPaths.h"

class QComboBox;

namespace stepscope {

class TitleButton;
class ToneLabel;

class WeightsChooser : public QWidget {
    Q_OBJECT
public:
    explicit WeightsChooser(const QString& whyNewRun, QWidget* parent = nullptr);
    void setWeights(const QString& weights, bool changedFromPreset);  // random | a path
    void setWaits(bool waits);                                        // the run in progress began with others
    // What is known of them; offersShape: the link is of use.
    void setLook(const QString& found, const QString& problem, bool offersShape);
    QString weights() const { return m_weights; }
    QString note() const;
    QComboBox* list() const { return m_list; }
    TitleButton* shapeLink() const { return m_shape; }
    // Files are another machine's (RecentPaths).
    void setFilesElsewhere(const QString& host, RecentPaths::AskElsewhere ask);

Q_SIGNALS:
    void chosen(const QString& weights);
    void resetRequested();
    void shapeRequested();  // the model shall be set as they have it

private:
    void rebuild();
    void showNote();
    void choose(const QString& weights);
    void take(int index);
    void browse(bool folder);

    QComboBox* m_list;
    TitleButton* m_reset;
    ToneLabel* m_note;  // whole: what of the files is left out stands at its end
    TitleButton* m_shape;
    bool m_waits = false, m_offersShape = false;
    QString m_found, m_problem;
    QString m_weights;
    RecentPaths m_recent{"weights/recent"};
};

}  // namespace stepscope
