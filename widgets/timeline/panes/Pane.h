// Pane: one of those below a timeline. It is told what the range in sight comes to (PanesView) and what is selected, and says which slice a person
// wants to see. It reads nothing itself. GUI thread.
#pragma once
#include <QList>
#include <QString>
#include <QWidget>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "core/analysis/captures/OperationCounters.h"
#include "core/analysis/panes/Roofline.h"

class QComboBox;

namespace stepscope {

struct PanesView {
    std::shared_ptr<const RangePanes> panes;  // null: nothing is known yet
    QString range;                            // "all of it, 1.2 s": which range that is
    QString note;                             // why kernels are missing, where a capture said so
    OperationCounters counters{};             // of all of the session
    QString counterNote{};                    // why there are none, or what they cost
    QString slowest{};                        // of steps that were kept as the slowest: what is not recorded of them; empty: none are in the range
    bool onlySlowest = false;                 //   nothing else is in the range
    QString others{};                         // of a run of several workers: what is not recorded of those beside the first
    Roof roof{};                              // of what the operations and kernels ran on; said by what the session is
    // What the settings that the run began with were predicted to hold at the worst moment of a step, by kind; empty: nothing was predicted.
    std::map<std::string, std::int64_t> predictedMemory{};
    bool predictedOnDevice = false;                                 // of a GPU, and not of the host
    std::vector<std::pair<std::int64_t, std::int64_t>> captures{};  // ns, half-open: between them nothing was recorded; none: not told
};

class ElidedLabel;
class ToneLabel;

class Pane : public QWidget {
    Q_OBJECT
public:
    using QWidget::QWidget;
    virtual void setView(const PanesView& view) = 0;
    // What is selected in the timeline; its name, and whether it ran on a GPU.
    virtual void setSelected(const std::optional<QString>&, bool) {}
    virtual QString asText() const = 0;  // what it shows, for the clipboard and for tests

Q_SIGNALS:
    void sliceWanted(qint64 lane, int depth, qint64 start);
    void nameWanted(const QString& name);  // its slices
};

// How panes are laid out: a line of tools around a head that says what is seen, below it the picture, or in its place a sentence why there is none.
struct PaneHead {
    ElidedLabel* head;
    ToneLabel* empty;
};
PaneHead layOutPane(QWidget& pane, const QList<QWidget*>& before, const QList<QWidget*>& after, QWidget* picture);
QComboBox* operationsOrKernels(const QString& accessibleName);

QString paneText(const std::string& text);
QString paneTime(std::int64_t ns);
QString paneCount(std::int64_t count);
QString panePercent(double share);  // 0..1; below 0: unknown
// As a tool tip: lines that are too long wrap, names of kernels after their parts too.
QString paneTip(const QString& text);
// What is not recorded of what is seen, behind the sentence of a pane; empty: nothing is known to be missing.
QString notRecorded(const PanesView& view);
// Why something has no place here: of captures that are too large to be read slice by slice.
QString tooManySlices(const RangePanes& panes);

}  // namespace stepscope
