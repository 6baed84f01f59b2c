// The strip beside the log that appears when a switch is flipped live: what the steps after it did against the steps before. It says
// what app/gui found out and measures nothing itself. GUI thread.
#pragma once
#include <QString>
#include <QWidget>
#include <vector>

class QGridLayout;
class QPushButton;
class QToolButton;

namespace stepscope {

class ElidedLabel;

struct FlipStripReading {
    enum class Verdict { Better, Worse, Neutral, Inconclusive };
    struct Figure {
        QString name;     // "step time"
        QString medians;  // "65.1 → 50.3 ms"
        QString change;   // "−23 %", "inconclusive"
        QString spread;   // "64.0–66.2 → 49.8–51.0"
        Verdict verdict = Verdict::Neutral;
        QString hint{};  // what it is, where the name does not say it
    };
    QString heading;  // "Mixed precision: off → bf16"
    QString note;     // from which step on; how many steps it is taken over, or what is still awaited
    QString action;   // "Measure properly", "Stop measuring": a button; empty = none
    QString actionHint{};
    std::vector<Figure> figures;

    bool operator==(const FlipStripReading& other) const;
};

class FlipStrip : public QWidget {
    Q_OBJECT
public:
    explicit FlipStrip(QWidget* parent = nullptr);
    void setReading(const FlipStripReading& reading);  // shows it, unless a person has closed what has this heading
    void reopen() { m_closed = false; }                // what comes is of something new
    const FlipStripReading& reading() const { return m_reading; }
    QSize minimumSizeHint() const override;  // what shares the window with it decides how much of it is seen

Q_SIGNALS:
    void actionRequested();

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    void dropWhatDoesNotFit();

    struct Column {  // of one figure, from top to bottom
        ElidedLabel *name, *medians, *change, *spread;
    };
    Column addColumn();

    FlipStripReading m_reading;
    bool m_closed = false;  // by a person
    std::vector<Column> m_columns;
    ElidedLabel* m_heading;
    ElidedLabel* m_note;    // beside the heading, where it fits
    ElidedLabel* m_reason;  // below the figures, where not
    ElidedLabel* m_below;   // the note again, in as many lines as it needs, where there are no figures
    QPushButton* m_action;
    QToolButton* m_close;
    QGridLayout* m_figures;
    QWidget* m_table;
};

}  // namespace stepscope
