#include "widgets/panels/ReportDialog.h"

#include <QStandardPaths>

namespace stepscope {

QFileDialog* openReportDialog(QWidget* parent, const QString& title) {
    const QString folder = QStandardPaths::writableLocation(QStandardPaths::DocumentsLocation);
    auto* dialog = new QFileDialog(parent, title, folder + "/report.html", "Web page (*.html);;Markdown (*.md);;JSON, for scripts (*.json)");
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setAcceptMode(QFileDialog::AcceptSave);
    dialog->setDefaultSuffix("html");
    QObject::connect(dialog, &QFileDialog::filterSelected, dialog,
                     [dialog](const QString& filter) { dialog->setDefaultSuffix(filter.section("*.", 1).chopped(1)); });
    dialog->open();
    return dialog;
}

}  // namespace stepscope
