#include "widgets/style/RowTable.h"

#include <QHeaderView>
#include <QTableView>

#include "widgets/style/Metrics.h"

namespace stepscope {

void styleRows(QTableView& table, int air) {
    table.setEditTriggers(QAbstractItemView::NoEditTriggers);
    table.setSelectionBehavior(QAbstractItemView::SelectRows);
    table.setShowGrid(false);
    table.setWordWrap(false);
    table.setTabKeyNavigation(false);
    table.setFont(tabularFont(table.font()));
    table.verticalHeader()->hide();
    table.verticalHeader()->setDefaultSectionSize(table.fontMetrics().height() + air);
    table.horizontalHeader()->setHighlightSections(false);
}

}  // namespace stepscope
