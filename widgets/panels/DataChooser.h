// Chooses what is trained on: the built-in texts, a file, a folder, or one used before. File dialogs do not block the window.
// Part of ExperimentPanel; GUI thread.
#pragma once
#include <QString>
#include <QStringList>
#include <QWidget>

class QComboBox;

namespace stepscope {

class DataChooser : public QWidget {
    Q_OBJECT
public:
    explicit DataChooser(QWidget* parent = nullptr);
    void setData(const QString& data);  // kjv | generated | random | a path
    QString data() const { return m_data; }

Q_SIGNALS:
    void chosen(const QString& data);

private:
    void rebuild();
    void take(int index);
    void browse(bool folder);

    QComboBox* m_list;
    QString m_data = "kjv";
    QStringList m_recent;
};

}  // namespace stepscope
