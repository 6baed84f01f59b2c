// What both sides of a question begin with: what the settings at the left say, or a checkpoint's folder or weights that are chosen here, or were
// before. File dialogs do not block the window. Part of CompareForm; GUI thread.
#pragma once
#include <QString>
#include <QWidget>

#include "widgets/panels/experiment/RecentPaths.h"

class QComboBox;

namespace stepscope {

class StartChooser : public QWidget {
    Q_OBJECT
public:
    explicit StartChooser(QWidget* parent = nullptr);
    void setStart(const QString& path);  // empty: as the settings say
    QString start() const { return m_start; }
    QComboBox* list() const { return m_list; }

Q_SIGNALS:
    void chosen(const QString& path);

private:
    void rebuild();
    void take(int index);
    void choose(const QString& path);

    QComboBox* m_list;
    QString m_start;
    RecentPaths m_recent{"weights/recent"};  // those of the settings' own list
};

}  // namespace stepscope
