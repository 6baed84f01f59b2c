// Chooses a file or a folder of another machine from a list, where a dialog of this one would show the wrong files. It reads nothing itself: it asks
// for a folder and is told. Beside the window, which goes on. Opened by app/gui for RecentPaths; GUI thread.
#pragma once
#include <QDialog>

#include "widgets/panels/files/FilesTypes.h"

class QComboBox;
class QLineEdit;
class QPushButton;
class QTableView;
class QToolButton;

namespace stepscope {

class ElidedLabel;
class FilesModel;

class FilesDialog : public QDialog {
    Q_OBJECT
public:
    FilesDialog(const QString& host, const FilesQuestion& question, QWidget* parent = nullptr);

    void begin();                                         // asks for the first folder
    void setView(quint64 number, const FilesView& view);  // of a question that is not the newest: nothing
    QTableView* list() const { return m_list; }
    QLineEdit* path() const { return m_path; }
    QComboBox* filter() const { return m_filter; }
    QToolButton* upButton() const { return m_up; }
    QPushButton* chooseButton() const { return m_choose; }
    QString sentence() const;

Q_SIGNALS:
    void listRequested(quint64 number, const stepscope::FilesAsked& asked);
    void fileSelected(const QString& path);  // and it closes

private:
    enum class Asked { First, Folder, Typed };
    void ask(const QString& path, Asked how);
    void goUp();
    void take(int row);  // a folder is entered, a file chosen
    void choose();
    void finish(const QString& path);
    void showState();
    void say();
    QString pathOf(const QString& name) const;
    QStringList endings() const;
    int chosenRow() const;  // -1: none

    const QString m_host;
    const FilesQuestion m_question;
    FilesView m_view;
    quint64 m_number = 0;  // of the newest question
    Asked m_how = Asked::First;
    bool m_waiting = false;
    QString m_wrong;  // why what was typed cannot be listed
    QString m_left;   // the name of the folder that was left by going up
    QToolButton* m_up;
    QLineEdit* m_path;
    QTableView* m_list;
    FilesModel* m_model;
    ElidedLabel* m_sentence;  // keeps its lines: nothing moves under the pointer
    QComboBox* m_filter;
    QPushButton* m_choose;
};

}  // namespace stepscope
