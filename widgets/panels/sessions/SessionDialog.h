// What dialogs about one session have in common: whose they are, a sentence that says how it stands, and a question before something is deleted for
// good. They read and remove nothing themselves, and stand beside the window, which goes on. GUI thread.
#pragma once
#include <QDialog>
#include <functional>

namespace stepscope {

class ToneLabel;

class SessionDialog : public QDialog {
    Q_OBJECT
public:
    void ask(qint64 session, const QString& name);  // opens it; what it shows comes later
    qint64 session() const { return m_session; }
    QString sentence() const;

protected:
    SessionDialog(const QString& what, QWidget* parent);  // what: the word for what it shows, "Captures"
    virtual void begin() = 0;                             // another session was asked for: what is known is of the one before
    virtual QWidget* firstFocus() const { return nullptr; }
    ToneLabel& sentenceLine() const { return *m_sentence; }
    // Asked once: it cannot be undone. then: on "Delete", unless another session was asked for meanwhile.
    void confirmDeleting(const QString& title, const QString& text, std::function<void()> then);

private:
    QString m_what;
    qint64 m_session = 0;
    ToneLabel* m_sentence;
};

}  // namespace stepscope
