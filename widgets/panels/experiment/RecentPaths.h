// The files and folders that were chosen last for one purpose, kept over starts of the program, and how a list of choices shows them. Part of the
// choosers of ExperimentPanel; GUI thread.
#pragma once
#include <QString>
#include <QStringList>
#include <functional>

class QComboBox;
class QWidget;

namespace stepscope {

class RecentPaths {
public:
    explicit RecentPaths(const QString& settingsKey);
    // Behind a line, each with its whole path as data and tooltip; current too, where it is a path that the list does not have yet.
    void addTo(QComboBox& list, const QString& current, const QString& prefix = {}) const;
    QString newest() const { return m_paths.value(0); }

    struct Question {
        QString title;
        bool folder = false;
        QStringList filters;  // of files
        QString near;         // a path in whose folder it begins
    };
    // A dialog that does not block the window. What is chosen is remembered and told.
    void ask(QWidget* parent, const Question& question, std::function<void(const QString&)> chosen);

private:
    void remember(const QString& path);

    QString m_key;
    QStringList m_paths;
};

}  // namespace stepscope
