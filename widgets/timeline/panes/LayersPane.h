// The pane Layers: a heat map of where in the model the time went, a row a layer, a column a part of it, figures in the cells; of one phase or all,
// of operations or of kernels. GUI thread.
#pragma once
#include <QStringList>

#include "widgets/timeline/panes/Pane.h"

class QComboBox;
class QScrollArea;

namespace stepscope {

class ElidedLabel;
class ToneLabel;

class HeatMap : public QWidget {
    Q_OBJECT
public:
    explicit HeatMap(QWidget* parent = nullptr);
    void setGrid(LayerGrid grid, std::int64_t steps);
    const LayerGrid& grid() const { return m_grid; }
    QString cellFacts(int row, int column) const;
    // What stands above a column as wide as they are now: broken between its words, with an ellipsis where a word has no room.
    QStringList heading(int column) const;
    QSize sizeHint() const override;

protected:
    void paintEvent(QPaintEvent*) override;
    bool event(QEvent* event) override;

private:
    int nameWide() const;
    int rowHigh() const { return fontMetrics().height() + 6; }
    int headHigh() const;
    double cellWide() const;
    QStringList headingIn(const std::string& role, double wide) const;
    int headHighAt(double wide) const;

    LayerGrid m_grid;
    std::int64_t m_steps = 0, m_most = 0;
};

class LayersPane : public Pane {
    Q_OBJECT
public:
    explicit LayersPane(QWidget* parent = nullptr);
    void setView(const PanesView& view) override;
    QString asText() const override;

    HeatMap& map() { return *m_map; }
    QComboBox* phase() const { return m_phase; }
    QComboBox* where() const { return m_where; }

private:
    void showGrid();

    std::shared_ptr<const RangePanes> m_panes;
    QString m_range;
    HeatMap* m_map;
    QScrollArea* m_scroll;
    QComboBox *m_phase, *m_where;
    ElidedLabel* m_head;
    ToneLabel* m_empty;
};

}  // namespace stepscope
