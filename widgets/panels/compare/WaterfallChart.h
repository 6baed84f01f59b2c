// From A's step to B's, one kind of work after the other: each bar begins where the one above it ended, its whisker is the 95 % interval of its
// length, and what captures do not explain is a bar like the others. Up and Down go from bar to bar. Painted by hand; used by WhyPane. GUI thread.
#pragma once
#include <QWidget>
#include <vector>

#include "core/analysis/why/Waterfall.h"

namespace stepscope {

class WaterfallChart : public QWidget {
    Q_OBJECT
public:
    explicit WaterfallChart(QWidget* parent = nullptr);

    void setResult(const WaterfallResult& result);
    // As they stand from top to bottom: A, what differs by its size, what is not explained, B.
    struct Bar {
        QString name;
        double from = 0, to = 0;                 // ms of a step
        double low = kUnknown, high = kUnknown;  // of its end, where that is known
        bool whole = false;                      // A or B: from 0
        QString tip;
    };
    const std::vector<Bar>& bars() const { return m_bars; }
    QString asCsv() const;
    QRectF barPlace(std::size_t bar) const;
    int chosen() const { return m_chosen; }  // the bar that the keys are at; -1: none
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    bool event(QEvent* event) override;  // tool tips

private:
    int rowHeight() const;
    int namesWidth() const;
    int figuresWidth() const;
    double x(double ms) const;

    std::vector<Bar> m_bars;
    int m_chosen = -1;
};

}  // namespace stepscope
