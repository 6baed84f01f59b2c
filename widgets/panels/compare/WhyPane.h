// Why one side is faster, below the verdict: a sentence, the waterfall by kind of work, and the places of the model that differ most, one row where
// many operations became one. Empty and out of sight until both sides were captured. Used by CompareResult; GUI thread.
#pragma once
#include <QTableWidget>
#include <QWidget>

#include "core/analysis/why/Waterfall.h"

class QBoxLayout;
class QCheckBox;

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
    QCheckBox* layered() const { return m_layered; }  // the table goes layer by layer; out of sight where nothing has layers
    QString sentence() const;

Q_SIGNALS:
    void placeChosen(const stepscope::PlaceDifference& place);  // a row of the table was clicked, or chosen by Return

protected:
    void changeEvent(QEvent* event) override;

private:
    void tint();
    void fillPlaces();
    const std::vector<PlaceDifference>& shownPlaces() const;

    WaterfallResult m_result;
    QCheckBox* m_layered;
    ToneLabel* m_sentence;
    WaterfallChart* m_chart;
    QTableWidget* m_places;
    QWidget* m_right;  // the table and what is below it
    QBoxLayout* m_middle;
};

}  // namespace stepscope
