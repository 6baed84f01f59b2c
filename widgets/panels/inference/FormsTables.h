// The two tables of the page Inference: forms of the weights, and shares of zeros. Their columns are as wide and they are as tall from the beginning
// as what will stand there, so that nothing moves when it does. GUI thread.
#pragma once
#include <QTableWidget>

#include "widgets/panels/inference/InferenceTypes.h"

namespace stepscope {

class FormsTable : public QTableWidget {
    Q_OBJECT
public:
    explicit FormsTable(QWidget* parent = nullptr);
    void setRows(const std::vector<InferenceRow>& rows);
    QString cell(const QString& form, const QString& column) const;  // by the title of the column
};

class PrunedTable : public QTableWidget {
    Q_OBJECT
public:
    explicit PrunedTable(QWidget* parent = nullptr);
    void setPoints(const std::vector<PrunedPoint>& points);
    int chosen() const;                                  // the row that is selected; -1 = none
    QString cell(int row, const QString& column) const;  // by the title of the column
};

}  // namespace stepscope
