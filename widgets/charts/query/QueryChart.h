// The rows of a query as a chart: lines or dots over the first column, or a bar a row where that is words. Left and Right go from row to row, and the
// head says what the row holds. Painted by hand; used by the page Query. GUI thread.
#pragma once
#include <QWidget>
#include <vector>

#include "core/analysis/Decimate.h"
#include "core/analysis/query/QueryPicture.h"

namespace stepscope {

class QueryChart : public QWidget {
    Q_OBJECT
public:
    explicit QueryChart(QWidget* parent = nullptr);

    void setPicture(QueryPicture picture);
    const QueryPicture& picture() const { return m_picture; }
    QString asCsv() const;
    int chosen() const { return m_chosen; }    // a row; -1: none
    QString readOut(int row) const;            // "step 12: loss 3.2, tokens 4 096"
    QPointF placeOf(int row, int line) const;  // of a line or of dots
    QSize minimumSizeHint() const override;
    QSize sizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    bool hasBars() const { return m_picture.kind == QueryPicture::Kind::Bars; }
    QRectF plot() const;
    QPointF placeIn(const QRectF& area, std::size_t row, std::size_t line) const;
    double barGroup() const;
    QColor colourOf(std::size_t line) const;
    int rowAt(QPointF place) const;
    void choose(int row);
    void paintHead(QPainter& painter) const;
    void paintAxes(QPainter& painter) const;
    void paintLines(QPainter& painter) const;
    void paintDots(QPainter& painter) const;
    void paintBars(QPainter& painter, const QRect& dirty) const;

    QueryPicture m_picture;
    Scale m_x, m_y;
    QString m_described;           // for who reads the screen, while no row is chosen
    std::vector<Column> m_shares;  // of each line, along y: what lies far from zero keeps its shape
    int m_chosen = -1;
};

}  // namespace stepscope
