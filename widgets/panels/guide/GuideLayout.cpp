#include "widgets/panels/guide/GuideLayout.h"

#include <QTextBlock>
#include <QTextCursor>
#include <QTextDocument>
#include <QTextTable>

#include "widgets/style/Metrics.h"
#include "widgets/style/Theme.h"

namespace stepscope {
namespace {

constexpr int kLinePct = 125;

void layOutTable(QTextTable& table, const QPalette& palette) {
    QTextTableFormat format = table.format();
    format.setBorderCollapse(true);
    format.setBorder(1);
    format.setBorderStyle(QTextFrameFormat::BorderStyle_Solid);
    format.setBorderBrush(gridColour(palette));
    format.setCellPadding(space(1) + 1);
    format.setCellSpacing(0);
    format.setTopMargin(space(1));
    format.setBottomMargin(space(3));
    table.setFormat(format);
    for (int column = 0; column < table.columns(); ++column) {
        QTextTableCell head = table.cellAt(0, column);
        QTextCharFormat cell = head.format();
        cell.setBackground(palette.color(QPalette::AlternateBase));
        head.setFormat(cell);
    }
}

}  // namespace

void layOutGuide(QTextDocument& document, const QFont& font, const QPalette& palette) {
    document.setDefaultFont(font);
    document.setDocumentMargin(space(5));
    for (QTextBlock block = document.begin(); block.isValid(); block = block.next()) {
        QTextCursor cursor(block);
        const bool inTable = cursor.currentTable() != nullptr;
        QTextBlockFormat format;
        format.setLineHeight(kLinePct, QTextBlockFormat::ProportionalHeight);
        if (const int level = block.blockFormat().headingLevel(); level > 0) {
            format.setTopMargin(block.blockNumber() == 0 ? 0 : space(level < 3 ? 5 : 3));
            format.setBottomMargin(space(1));
        } else if (!inTable) {
            format.setBottomMargin(space(block.textList() != nullptr ? 1 : 2));
        }
        cursor.mergeBlockFormat(format);
        if (QTextTable* table = cursor.currentTable(); table != nullptr && table->firstPosition() == block.position()) layOutTable(*table, palette);
    }
}

}  // namespace stepscope
