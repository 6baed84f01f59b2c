// Every pair of an experiment as a dot: across its number, upwards how many times as long A took as B, on a logarithmic axis on which 1 is always
// in view and, unless all pairs lie far from it, in the middle. Behind the dots what the pairs said so far, what counts as equal, and where both
// sides were made anew. Painted by hand; used by the page Compare. GUI thread.
#pragma once
#include <QWidget>
#include <vector>

#include "core/analysis/Decimate.h"

namespace stepscope {

struct RatioPair {
    double ratio = 1;         // time per token of A / of B; unknown ones are not drawn
    bool left = false;        // out, for other programs' use of the machine: hollow
    std::int64_t number = 0;  // from 0
    std::int64_t rebuild = 0;
    double low = 0, high = 0;  // the interval after it; drawn where it is positive and finite
};

class RatioChart : public QWidget {
    Q_OBJECT
public:
    explicit RatioChart(QWidget* parent = nullptr);

    void setPairs(std::vector<RatioPair> pairs, double delta);  // delta: what counts as equal, 0.01 = 1 %
    const std::vector<RatioPair>& pairs() const { return m_pairs; }
    QString asCsv() const;
    // The ratios at the two ends of the axis; 1 lies between them.
    Scale scale() const;
    QPointF placeOf(std::size_t pair) const;  // of its dot
    QString readOut(std::size_t pair) const;  // "pair 12: B 3.1 % faster"
    QSize minimumSizeHint() const override { return {200, 130}; }
    QSize sizeHint() const override { return {420, 240}; }

protected:
    void paintEvent(QPaintEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;  // left and right go from pair to pair
    void focusOutEvent(QFocusEvent* event) override;

private:
    QRectF plot() const;
    double x(double pair) const;
    double y(double ratio) const;
    void paintGround(QPainter& painter) const;
    void paintInterval(QPainter& painter) const;
    void paintDots(QPainter& painter) const;
    void paintHead(QPainter& painter) const;
    void choose(int pair);
    void describe();

    std::vector<RatioPair> m_pairs;
    double m_delta = 0.01;
    int m_chosen = -1;    // under the mouse or reached by the keys
    QString m_described;  // all of them, for readers
};

}  // namespace stepscope
