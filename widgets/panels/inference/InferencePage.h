// The page Inference: what forms of the weights with fewer bits give and cost here, and what pruning costs. The question on top; the rows are there
// from the beginning and fill while it is measured, so that nothing moves. It knows no engine: it is told a source and an InferenceView and says what
// a person wants. GUI thread.
#pragma once
#include <optional>

#include "core/events/SwitchCatalogue.h"
#include "widgets/panels/ScrolledPage.h"
#include "widgets/panels/inference/InferenceTypes.h"

class QCheckBox;
class QComboBox;
class QLineEdit;
class QProgressBar;
class QPushButton;
class QSettings;

namespace stepscope {

class ElidedLabel;
class FormsTable;
class NumberEdit;
class PrunedTable;
class PruningCurve;
class ToneLabel;
class WeightsButtons;

class InferencePage : public ScrolledPage {
    Q_OBJECT
public:
    explicit InferencePage(QWidget* parent = nullptr);

    // Whose weights are measured, or why there are none and what to do. file: they are a file's, chosen here.
    void setSource(bool ready, const QString& sentence, bool file);
    void setView(const InferenceView& view);
    // What is asked as it stands; nothing where a number is wrong, which is said.
    std::optional<InferenceQuestion> question() const;
    void save(QSettings& settings) const;
    void restore(const QSettings& settings);

    QPushButton* measureButton() const { return m_measure; }
    QPushButton* stopButton() const { return m_stop; }
    FormsTable& table() const { return *m_table; }
    PruningCurve& curve() const { return *m_curve; }
    PrunedTable& pruned() const { return *m_pruned; }
    QPushButton* pruneButton() const { return m_prune; }
    QString state() const;
    QString source() const;
    QString whose() const;                                           // the figures that are shown are
    QString cell(const QString& form, const QString& column) const;  // by the title of the column

Q_SIGNALS:
    void measureRequested(const stepscope::InferenceQuestion& question);
    void stopRequested();
    void pruneRequested(const stepscope::PruneWish& wish);
    void weightsRequested(const QString& path);  // empty: those of the session again

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;  // Esc leaves a field

private:
    QWidget* buildSource();
    QWidget* buildQuestion();
    QWidget* buildPruning();
    void showState();
    void showPruned();
    void askWhereTo();
    QString wrong() const;  // of the numbers, a sentence

    struct Control {
        QString key;
        ValueRange range;
        NumberEdit* edit;
    };
    std::vector<Control> m_controls;

    InferenceView m_view;
    bool m_ready = false, m_fromFile = false;
    QString m_why, m_lastFolder;
    std::vector<PrunedPoint> m_shown;  // of the curve that is chosen
    WeightsButtons* m_weights;
    QPushButton *m_measure, *m_stop, *m_prune;
    QCheckBox* m_pruning;
    QComboBox* m_scope;
    QLineEdit* m_data;
    ElidedLabel *m_sourceLabel, *m_state, *m_whose;
    QProgressBar* m_progress;
    FormsTable* m_table;
    PrunedTable* m_pruned;
    PruningCurve* m_curve;
    ToneLabel* m_zeros;
};

}  // namespace stepscope
