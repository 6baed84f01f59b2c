// Why one side is faster, below the verdict: a sentence, the waterfall by kind of work, and the places of the model that differ most, one row where
// many operations became one. Empty and out of sight until both sides were captured. Used by CompareResult; GUI thread.
#pragma once
#include <QTableWidget>
#include <QWidget>

#include "core/analysis/why/Waterfall.h"

class QBoxLayout;

namespace stepscope {

class ToneLabel;
class WaterfallChart;

class WhyPane : public QWidget {
    Q_OBJECT
public:
    explicit WhyPane(QWidget* parent = nullptr);

    void setResult(const WaterfallResult& result);
    void setNarrow(bool narrow);  // the table stands below the waterfall
    WaterfallChart* chart() const { return m_chart; }
    QTableWidget* places() const { return m_places; }
    QString sentence() const;

protected:
    void changeEvent(QEvent* event) override;

private:
    void tint();

    ToneLabel* m_sentence;
    WaterfallChart* m_chart;
    QTableWidget* m_places;
    QBoxLayout* m_middle;
};

}  // namespace stepscope
