// The heat map of a run's workers: a row a worker, a column some steps, darker where they took longer. Its ends are told, so that a difference of a
// percent is not drawn like one of half a step. GUI thread.
#pragma once
#include <QWidget>

#include "core/analysis/panes/WorkerMap.h"

namespace stepscope {

QString workerTime(double ns);  // a dash where it is not known

class WorkersMap : public QWidget {
    Q_OBJECT
public:
    explicit WorkersMap(QWidget* parent = nullptr);

    void setGrid(WorkerGrid grid);
    const WorkerGrid& grid() const { return m_grid; }
    QString asCsv() const;
    // ns of a step at the two ends of the colours; both 0 where there is nothing.
    double low() const { return m_low; }
    double high() const { return m_high; }
    QString cellFacts(std::int64_t worker, std::size_t column) const;
    QSize sizeHint() const override;

protected:
    void paintEvent(QPaintEvent*) override;
    bool event(QEvent* event) override;

private:
    QRectF cells() const;
    int nameWide() const;
    int rowHigh() const { return fontMetrics().height() + 6; }
    int footHigh() const { return fontMetrics().height() + 6; }

    WorkerGrid m_grid;
    double m_low = 0, m_high = 0;
};

}  // namespace stepscope
