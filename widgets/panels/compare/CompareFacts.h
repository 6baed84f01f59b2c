// Both sides of an experiment beside time, as a table: what was counted of each, and "unknown" where nothing tells. Used by CompareResult; GUI
// thread.
#pragma once
#include <QTableWidget>

#include "core/analysis/ExperimentHistory.h"

namespace stepscope {

class CompareFacts : public QTableWidget {
    Q_OBJECT
public:
    explicit CompareFacts(QWidget* parent = nullptr);
    // whyNoLoss, whyNoEnergy: where they are unknown and somebody knows why.
    void setFacts(const SideFacts& a, const SideFacts& b, double lossDifference, const QString& whyNoLoss = {}, const QString& whyNoEnergy = {});
    QString cell(const QString& row, int side) const;  // side: 0 A, 1 B
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

protected:
    void changeEvent(QEvent* event) override;

private:
    void tint();
};

}  // namespace stepscope
