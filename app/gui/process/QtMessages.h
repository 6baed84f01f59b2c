// QtMessages: what Qt warns of, and other libraries where nothing runs that has a log, as sentences for the window's log instead of raw on a
// terminal. Made by main() before there is an application, whose making may warn; Qt may on any thread, the sentences are told on the one that made
// this.
#pragma once
#include <QObject>
#include <QStringList>

namespace stepscope {

class QtMessages : public QObject {
    Q_OBJECT
public:
    QtMessages();  // takes Qt's warnings and criticals from here on; the rest goes where it went before
    // From here on they go where they went before, too. What was not told any more, as the window is gone, is printed.
    ~QtMessages() override;

    void tell(const QString& sentence);   // from any thread
    void queue(const QString& sentence);  // the same for who holds the lock of all messages
    QStringList takeUntold();             // and what is still to be told

Q_SIGNALS:
    void warned(const QString& sentence);  // "Qt warns: ….", each once, and 100 at most

private:
    QStringList m_untold;
};

}  // namespace stepscope
