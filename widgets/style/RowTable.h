// How a table of rows looks and behaves everywhere: whole rows are chosen and read, no grid, digits of equal width, Tab leads on. What a table has
// beside that (sorting, widths of columns, frames) it says itself. GUI thread.
#pragma once

class QTableView;

namespace stepscope {

// air: what a row is higher than its text, in pixels.
void styleRows(QTableView& table, int air = 6);

}  // namespace stepscope
