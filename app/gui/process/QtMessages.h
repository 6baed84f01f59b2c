// QtMessages: what Qt warns of, as sentences for the window's log instead of raw on a terminal. Made by main() as soon as there is an application;
// Qt may warn on any thread, the sentences are told on the one that made this.
#pragma once
#include <QObject>

namespace stepscope {

class QtMessages : public QObject {
    Q_OBJECT
public:
    QtMessages();            // takes Qt's warnings and criticals from here on; the rest goes where it went before
    ~QtMessages() override;  // from here on they go where they went before, too

Q_SIGNALS:
    void warned(const QString& sentence);  // "Qt warns: ….", each once, and 100 at most
};

}  // namespace stepscope
