// The line of a replay's time with its markers on it: switches as ticks, checkpoints as squares, validations as diamonds. Press
// and drag to go there; arrows, Home and End work too. Part of TransportBar, and of the line of an experiment's pairs; GUI thread.
#pragma once
#include <QString>
#include <QWidget>
#include <vector>

namespace stepscope {

struct ScrubMark {
    enum class Shape { Tick, Square, Diamond };
    double fraction = 0;  // of the session's time
    Shape shape = Shape::Tick;
    QString label;
};

class ScrubBar : public QWidget {
    Q_OBJECT
public:
    explicit ScrubBar(QWidget* parent = nullptr);
    void setPosition(double fraction);
    void setMarks(std::vector<ScrubMark> marks);
    void setStops(int count);  // it stands at parts of so many alone, and a key goes to the next; 0: anywhere
    double position() const { return m_position; }
    QSize sizeHint() const override { return {240, 26}; }
    QSize minimumSizeHint() const override { return {80, 26}; }

Q_SIGNALS:
    void moved(double fraction);     // while dragging
    void released(double fraction);  // go there

protected:
    void paintEvent(QPaintEvent*) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    bool event(QEvent* event) override;

private:
    double fractionAt(double x) const;
    double nearestStop(double fraction) const;
    double xOf(double fraction) const;

    std::vector<ScrubMark> m_marks;
    double m_position = 0;
    int m_stops = 0;
    bool m_dragging = false;
};

}  // namespace stepscope
