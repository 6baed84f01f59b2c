#include "widgets/panels/sessions/SessionDialog.h"

#include <QMessageBox>
#include <QPushButton>
#include <utility>

#include "widgets/panels/ToneLabel.h"

namespace stepscope {

SessionDialog::SessionDialog(const QString& what, QWidget* parent) : QDialog(parent), m_what(what), m_sentence(sentenceLabel(Tone::Muted)) {
    m_sentence->setAccessibleName(what + " of the session");
}

void SessionDialog::ask(qint64 session, const QString& name) {
    m_session = session;
    setWindowTitle(QString("%1 of session %2: %3").arg(m_what).arg(session).arg(name));
    begin();
    show();
    raise();
    activateWindow();
    if (QWidget* first = firstFocus()) first->setFocus();
}

void SessionDialog::confirmDeleting(const QString& title, const QString& text, std::function<void()> then) {
    auto* question = new QMessageBox(QMessageBox::Question, title, text, QMessageBox::NoButton, this);
    question->setAttribute(Qt::WA_DeleteOnClose);
    QPushButton* gone = question->addButton("Delete", QMessageBox::DestructiveRole);
    question->setDefaultButton(question->addButton(QMessageBox::Cancel));
    connect(gone, &QPushButton::clicked, this, [this, session = m_session, then = std::move(then)] {
        if (session == m_session) then();
    });
    question->open();
}

QString SessionDialog::sentence() const {
    return m_sentence->text();
}

}  // namespace stepscope
