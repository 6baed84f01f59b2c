// Buttons with which weights of another program, or a checkpoint that lies elsewhere, take the place of the session's: a file, a folder, the
// session's again. It opens the dialog and says what was chosen; whether it can be read is others' to say. GUI thread.
#pragma once
#include <QWidget>

class QLayout;
class QPushButton;

namespace stepscope {

class WeightsButtons : public QWidget {
    Q_OBJECT
public:
    // purpose: the title of the dialog that asks for a file.
    explicit WeightsButtons(const QString& purpose, QWidget* parent = nullptr);
    // chosen: a file or a folder is, so that the session's can be had again.
    void setState(bool enabled, bool chosen);
    void add(QWidget* more);  // behind the buttons, in the same row where there is room

Q_SIGNALS:
    void chosen(const QString& path);  // empty: those of the session again

private:
    void browse(bool folder);

    QString m_purpose, m_lastFolder;
    QPushButton *m_file, *m_folder, *m_own;
};

}  // namespace stepscope
