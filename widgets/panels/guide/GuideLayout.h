// How a chapter of the guide looks: margins, room between lines, tables with thin lines and a head. Qt's Markdown reader sets
// none of that, and style sheets do not reach it. Called by GuidePanel whenever text or palette change; GUI thread.
#pragma once
#include <QFont>
#include <QPalette>

class QTextDocument;

namespace stepscope {

void layOutGuide(QTextDocument& document, const QFont& font, const QPalette& palette);

}  // namespace stepscope
