// The files and folders that were chosen last for one purpose, kept over starts of the program, and how a list of choices shows them. Part of the
// choosers of ExperimentPanel; GUI thread.
#pragma once
#include <QString>
#include <QStringList>
#include <functional>

#include "widgets/panels/files/FilesTypes.h"

class QComboBox;
class QWidget;

namespace stepscope {

class RecentPaths {
public:
    explicit RecentPaths(const QString& settingsKey);
    // Behind a line, each with its whole path as data and tooltip; current too, where it is a path that the list does not have yet.
    void addTo(QComboBox& list, const QString& current, const QString& prefix = {}) const;
    QString newest() const { return m_paths.value(0); }

    // A dialog that does not block the window. What is chosen is remembered and told.
    using Chosen = std::function<void(const QString& path)>;
    void ask(QWidget* parent, const FilesQuestion& question, Chosen chosen);

    // Files are those of another machine: asked for by its own list, and remembered apart from those here.
    using AskElsewhere = std::function<void(QWidget* parent, const FilesQuestion& question, Chosen chosen)>;
    void setElsewhere(const QString& host, AskElsewhere ask);

private:
    void read();
    void remember(const QString& path, bool folder);

    QString m_key;
    QStringList m_paths;
    QStringList m_folders;     // of these; a disk that does not answer is not asked each time that the list is shown
    AskElsewhere m_elsewhere;  // empty: files are of this machine
};

}  // namespace stepscope
