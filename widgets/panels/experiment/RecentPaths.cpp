#include "widgets/panels/experiment/RecentPaths.h"

#include <QComboBox>
#include <QFileDialog>
#include <QFileInfo>
#include <QSettings>
#include <utility>

#include "widgets/panels/LineIcon.h"

namespace stepscope {
namespace {

constexpr int kRecent = 5;

}  // namespace

RecentPaths::RecentPaths(const QString& settingsKey) : m_key(settingsKey), m_paths(QSettings().value(settingsKey).toStringList()) {}

void RecentPaths::addTo(QComboBox& list, const QString& current, const QString& prefix) const {
    QStringList paths = m_paths;
    if (list.findData(current) < 0 && !paths.contains(current)) paths.prepend(current);
    if (!paths.isEmpty()) list.insertSeparator(list.count());
    for (const QString& path : paths) {
        const QFileInfo file(path);
        list.addItem(lineIcon(file.isDir() ? "folder" : "file"), prefix + (file.fileName().isEmpty() ? path : file.fileName()), path);
        list.setItemData(list.count() - 1, path, Qt::ToolTipRole);
    }
}

void RecentPaths::ask(QWidget* parent, const Question& question, std::function<void(const QString&)> chosen) {
    auto* dialog = new QFileDialog(parent, question.title, QFileInfo(question.near).absolutePath());
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setFileMode(question.folder ? QFileDialog::Directory : QFileDialog::ExistingFile);
    if (!question.folder) dialog->setNameFilters(question.filters);
    QObject::connect(dialog, &QFileDialog::fileSelected, parent, [this, chosen = std::move(chosen)](const QString& path) {
        remember(path);
        chosen(path);
    });
    dialog->open();
}

void RecentPaths::remember(const QString& path) {
    m_paths.removeAll(path);
    m_paths.prepend(path);
    while (m_paths.size() > kRecent) m_paths.removeLast();
    QSettings().setValue(m_key, m_paths);
}

}  // namespace stepscope
