// Memory of both sides on one axis: what each holds at its highest point, by kind as captured steps showed it, or where there are none as predicted,
// and a mark where that point was measured. Painted by hand; out of sight where nothing is known. Used by CompareResult; GUI thread.
#pragma once
#include <QWidget>
#include <array>

#include "widgets/panels/compare/CompareTypes.h"

namespace stepscope {

class MemoryBars : public QWidget {
    Q_OBJECT
public:
    explicit MemoryBars(QWidget* parent = nullptr);

    void setSides(const SideMemory& a, const SideMemory& b);
    struct Segment {
        int side = 0;  // 0: A, 1: B
        QString kind, tip;
        double from = 0, to = 0;  // bytes
    };
    const std::vector<Segment>& segments() const { return m_segments; }
    QRectF placeOf(const Segment& segment) const;
    double markOf(int side) const;  // across, where it was measured; not a number: it was not
    QString asText() const;         // a line a side
    QString asCsv() const;
    QString heading() const;
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;
    bool event(QEvent* event) override;  // tool tips

private:
    int rowHeight() const;
    int namesWidth() const;
    int figuresWidth() const;
    double x(double bytes) const;
    QRectF rowOf(int side) const;
    QString figure(int side) const;

    std::array<SideMemory, 2> m_sides;
    std::vector<Segment> m_segments;
    double m_most = 0;
};

}  // namespace stepscope
