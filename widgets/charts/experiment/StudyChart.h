// The rows of a ladder or a race under each other: how many times as fast each is, as a dot with its interval on a logarithmic axis on which 1 is
// always in view. Painted by hand; used by the page Ladder. GUI thread.
#pragma once
#include <QString>
#include <QStringList>
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
    QString asCsv() const;
    Scale scale() const;
    double placeOf(double ratio) const;       // across
    QString readOut(const QPoint& at) const;  // all of the row there: its whole name and its note
    // A name in as many lines as it needs beside the figures, broken between settings.
    QStringList nameLines(std::size_t row) const;
    QSize minimumSizeHint() const override;  // all rows, as close together as can be read
    QSize sizeHint() const override;

protected:
    bool event(QEvent* event) override;
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void moveEvent(QMoveEvent* event) override;  // the page scrolled it

private:
    QFontMetrics nameMetrics() const;
    int namesWidth() const;
    double headHeight() const;  // of what the axis means and its numbers
    QRectF plot() const;
    double leastHeight(std::size_t row) const;
    double leastHeight() const;  // of all rows
    std::vector<QRectF> rowPlaces() const;
    void paintBar(QPainter& painter, std::size_t bar, const QRectF& row) const;
    void paintAxis(QPainter& painter, double bottom) const;

    std::vector<StudyBar> m_bars;
    QString m_head;
};

}  // namespace stepscope
