// The curve of pruning: how much the perplexity grows with the share of the weights that are zeros, each point with its interval. Painted by hand,
// its size is the same whether there are points or not. Used by InferencePage; GUI thread.
#pragma once
#include <QWidget>
#include <vector>

#include "widgets/panels/inference/InferenceTypes.h"

namespace stepscope {

class PruningCurve : public QWidget {
    Q_OBJECT
public:
    explicit PruningCurve(QWidget* parent = nullptr);

    void setPoints(const std::vector<PrunedPoint>& points);
    QString asCsv() const;
    QPointF place(const PrunedPoint& point) const;  // where it is drawn
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    QRectF plot() const;
    double x(double zeros) const;
    double y(double change) const;

    std::vector<PrunedPoint> m_points;  // those that are known
    double m_most = 0, m_least = 0;     // of the changes
};

}  // namespace stepscope
