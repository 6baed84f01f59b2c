// The rows of a ladder or a search as a table: what each gives with its interval, and why one has no figures. GUI thread.
#pragma once
#include <QTableWidget>

#include "widgets/panels/ladder/LadderTypes.h"

namespace stepscope {

// "×1.31 [1.22, 1.41]", "×1.31, too few pairs", empty where nothing is known. unbounded: said where there is no interval.
QString timesText(double ratio, double low, double high, const QString& unbounded = "too few pairs");

class LadderTable : public QTableWidget {
    Q_OBJECT
public:
    explicit LadderTable(QWidget* parent = nullptr);
    void setHistory(const StudyHistory& history, bool over = false);  // over: nothing measures it any more, and what still runs was not decided
    QString cell(const QString& row, const QString& column) const;    // by its name and the title

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    void fitReasons();
};

}  // namespace stepscope
