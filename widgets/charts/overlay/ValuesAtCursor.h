// ValuesAtCursor: beside the mouse, the value of each of the runs laid over each other at that place, the highest first. Lies over the page, takes no
// mouse and moves nothing. Filled by LivePage. GUI thread.
#pragma once
#include <QWidget>
#include <vector>

#include "widgets/charts/ChartContent.h"

namespace stepscope {

class ValuesAtCursor : public QWidget {
public:
    explicit ValuesAtCursor(QWidget* page);

    // `at`: of the mouse, on the page. Values that are not known are left out; none at all hides it.
    void show(const QString& place, std::vector<LineValue> values, Quantity quantity, const QString& emphasised, QPoint at);
    QString text() const;  // what it says, a line each

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    struct Row {
        QString name, value;
        QColor colour;
        LegendItem::Mark mark;
        bool bold;
    };
    QString m_place;
    std::vector<Row> m_rows;
    int m_names = 0, m_values = 0;  // widths
};

}  // namespace stepscope
