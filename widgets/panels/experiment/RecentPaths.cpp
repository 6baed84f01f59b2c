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
const char* kFolders = "-folders";  // behind the key

}  // namespace

RecentPaths::RecentPaths(const QString& settingsKey) : m_key(settingsKey) {
    read();
}

void RecentPaths::read() {
    const QSettings settings;
    m_paths = settings.value(m_key).toStringList();
    m_folders = settings.value(m_key + kFolders).toStringList();
}

void RecentPaths::addTo(QComboBox& list, const QString& current, const QString& prefix) const {
    QStringList paths = m_paths;
    if (list.findData(current) < 0 && !paths.contains(current)) paths.prepend(current);
    if (!paths.isEmpty()) list.insertSeparator(list.count());
    for (const QString& path : paths) {
        const QFileInfo file(path);
        const bool folder = m_folders.contains(path);
        list.addItem(lineIcon(folder ? "folder" : "file"), prefix + (file.fileName().isEmpty() ? path : file.fileName()), path);
        list.setItemData(list.count() - 1, path, Qt::ToolTipRole);
    }
}

void RecentPaths::setElsewhere(const QString& host, AskElsewhere ask) {
    m_elsewhere = std::move(ask);
    m_key += '@' + QString(host).replace('/', '_');
    read();
}

void RecentPaths::ask(QWidget* parent, const FilesQuestion& question, Chosen chosen) {
    auto keep = [this, folder = question.folder, chosen = std::move(chosen)](const QString& path) {
        remember(path, folder);
        chosen(path);
    };
    if (m_elsewhere) return m_elsewhere(parent, question, keep);
    auto* dialog = new QFileDialog(parent, question.title, QFileInfo(question.near).absolutePath());
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setFileMode(question.folder ? QFileDialog::Directory : QFileDialog::ExistingFile);
    if (!question.folder) dialog->setNameFilters(question.filters);
    QObject::connect(dialog, &QFileDialog::fileSelected, parent, keep);
    dialog->open();
}

void RecentPaths::remember(const QString& path, bool folder) {
    m_paths.removeAll(path);
    m_paths.prepend(path);
    while (m_paths.size() > kRecent) m_paths.removeLast();
    m_folders.removeAll(path);
    if (folder) m_folders.append(path);
    m_folders.removeIf([this](const QString& one) { return !m_paths.contains(one); });
    QSettings settings;
    settings.setValue(m_key, m_paths);
    settings.setValue(m_key + kFolders, m_folders);
}

}  // namespace stepscope
