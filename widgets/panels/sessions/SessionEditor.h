// Name, tags and note of one session, edited in place below the list instead of in a dialog. GUI thread.
#pragma once
#include <QWidget>

#include "widgets/panels/sessions/SessionRow.h"

class QLineEdit;
class QPlainTextEdit;

namespace stepscope {

class SessionEditor : public QWidget {
    Q_OBJECT
public:
    enum class Field { Name, Tags, Note };
    explicit SessionEditor(QWidget* parent = nullptr);
    void edit(const SessionRow& row, Field first);
    std::int64_t session() const { return isHidden() ? 0 : m_before.id; }  // being edited; 0 = none

Q_SIGNALS:
    void renamed(qint64 session, const QString& name);
    void annotated(qint64 session, const QString& notes, const QStringList& tags);

protected:
    void keyPressEvent(QKeyEvent* event) override;

private:
    void accept();

    SessionRow m_before;
    QLineEdit* m_name;
    QLineEdit* m_tags;
    QPlainTextEdit* m_note;
};

}  // namespace stepscope
