// The pane Roofline: operations or kernels as dots under the roof of the machine they ran on: FLOP/s over FLOP a byte, both axes logarithmic, colours
// by part of the model, the size by share of the time. RooflineView: the picture by itself. GUI thread.
#pragma once
#include <set>

#include "widgets/timeline/TimelineLooks.h"
#include "widgets/timeline/panes/Pane.h"

class QComboBox;
class QPainter;

namespace stepscope {

class ElidedLabel;
class ToneLabel;

class RooflineView : public QWidget {
    Q_OBJECT
public:
    explicit RooflineView(QWidget* parent = nullptr);
    void setDots(std::vector<RooflineDot> dots, const Roof& roof);
    const std::vector<RooflineDot>& dots() const { return m_dots; }
    QString asCsv() const;
    void select(int dot);  // -1: none
    int selected() const { return m_selected; }
    QPointF positionOf(const RooflineDot& dot) const;
    int dotAt(const QPointF& at) const;  // -1: none
    QString facts(int dot) const;
    struct Span {  // of an axis, as powers of ten
        double from = 0, to = 1;
    };
    struct AxisMark {
        double value = 0;
        QString text;
    };
    static std::vector<AxisMark> marksOf(Span span);        // powers of ten; 2 and 5 times them, too, where they would be too few
    const std::set<int>& named() const { return m_named; }  // dots whose names were drawn at last
    QSize sizeHint() const override { return {420, 170}; }
    QSize minimumSizeHint() const override { return {200, 80}; }

Q_SIGNALS:
    void dotChosen(int dot);

protected:
    void paintEvent(QPaintEvent*) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent*) override;
    void keyPressEvent(QKeyEvent* event) override;
    bool event(QEvent* event) override;

private:
    QRectF area() const;
    double x(double intensity) const;
    double y(double flops) const;
    double radiusOf(const RooflineDot& dot) const;
    LookClass lookOfDot(const RooflineDot& dot) const;
    void drawAxes(QPainter& painter);
    void drawRoof(QPainter& painter);
    void drawDots(QPainter& painter);
    void drawLegend(QPainter& painter);
    void describe();

    std::vector<RooflineDot> m_dots;
    Roof m_roof;
    Span m_across, m_up;
    std::vector<QRectF> m_words;  // of the roof, where no other is to lie
    std::set<int> m_named;
    int m_selected = -1, m_hovered = -1;
};

class RooflinePane : public Pane {
    Q_OBJECT
public:
    explicit RooflinePane(QWidget* parent = nullptr);
    void setView(const PanesView& view) override;
    void setSelected(const std::optional<QString>& name, bool onDevice) override;
    QString asText() const override;
    RooflineView& view() { return *m_chart; }
    QComboBox* where() const { return m_where; }

private:
    void showDots();

    PanesView m_view;
    RooflineView* m_chart;
    QComboBox* m_where;
    ElidedLabel* m_head;
    ToneLabel* m_empty;
    bool m_filled = false;
};

}  // namespace stepscope
