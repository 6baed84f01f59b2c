// The pane Layers: a heat map of where in the model the time went, a row a layer, a column a part of it, figures in the cells; of one phase or all,
// of operations or of kernels. GUI thread.
#pragma once
#include <QStringList>
#include <utility>

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
    // steps: whole ones that all of it lies in; 0: of parts of steps, or of none.
    void setGrid(LayerGrid grid, std::int64_t steps);
    const LayerGrid& grid() const { return m_grid; }
    QString asCsv() const;  // of each cell that holds something
    // The cell that the keys move, row and column; -1, -1: none.
    std::pair<int, int> chosen() const { return {m_row, m_column}; }
    QString cellFacts(int row, int column) const;
    // What stands above a column as wide as they are now: broken between its words, with an ellipsis where a word has no room.
    QStringList heading(int column) const;
    QSize sizeHint() const override;

protected:
    void paintEvent(QPaintEvent*) override;
    void keyPressEvent(QKeyEvent* event) override;
    bool event(QEvent* event) override;

private:
    void describe();
    QRectF cellRect(int row, int column) const;
    int nameWide() const;
    int rowHigh() const { return fontMetrics().height() + 6; }
    int headHigh() const;
    double cellWide() const;
    QStringList headingIn(const std::string& role, double wide) const;
    int headHighAt(double wide) const;

    LayerGrid m_grid;
    std::int64_t m_steps = 0, m_most = 0;
    int m_row = -1, m_column = -1;
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
    bool m_chosen = false;  // whether it shows operations or kernels: by a person, or by the first range of this capture that has kernels
    ElidedLabel* m_head;
    ToneLabel* m_empty;
};

}  // namespace stepscope
