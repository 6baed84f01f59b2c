// Where a report goes, asked of a person: a web page, Markdown or JSON. GUI thread.
#pragma once
#include <QFileDialog>

namespace stepscope {

// Opens without waiting and goes by itself; `fileSelected` says the choice. title: "Report of the experiment".
QFileDialog* openReportDialog(QWidget* parent, const QString& title);

}  // namespace stepscope
