// The rows of a ladder or a race under each other: how many times as fast each is, as a dot with its interval on a logarithmic axis on which 1 is
// always in view. Painted by hand; used by the page Ladder. GUI thread.
#pragma once
#include <QString>
#include <QWidget>
#include <vector>

#include "core/analysis/Decimate.h"

namespace stepscope {

struct StudyBar {
    QString name;
    double ratio = 0, low = 0, high = 0;  // where not positive and finite: nothing is drawn of it
    enum class Kind { Waiting, Running, Measured, Out, Chosen } kind = Kind::Waiting;
    QString note;  // in the place of a dot: why there is none
};

class StudyChart : public QWidget {
    Q_OBJECT
public:
    explicit StudyChart(QWidget* parent = nullptr);

    // head: what the axis means.
    void setBars(std::vector<StudyBar> bars, const QString& head);
    const std::vector<StudyBar>& bars() const { return m_bars; }
    Scale scale() const;
    double placeOf(double ratio) const;      // across
    QSize minimumSizeHint() const override;  // all rows, as close together as can be read
    QSize sizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    QRectF plot() const;
    double rowHeight() const;
    void paintBar(QPainter& painter, const StudyBar& bar, const QRectF& row) const;

    std::vector<StudyBar> m_bars;
    QString m_head;
};

}  // namespace stepscope
