// Application: the QApplication of the window. Nothing that goes wrong in a slot may end the program and the run in it: Qt cannot pass exceptions on
// through its event loop, so they are turned into a sentence here. BackThread hands over what its tasks throw.
#pragma once
#include <QApplication>
#include <QStringList>
#include <exception>

namespace stepscope {

class Application : public QApplication {
    Q_OBJECT
public:
    using QApplication::QApplication;
    bool notify(QObject* receiver, QEvent* event) override;

    // Says it on stderr, and to whoever listens; the same sentence once only. Any thread.
    static void report(const std::exception& thrown);

Q_SIGNALS:
    void unexpected(const QString& sentence);

private:
    void tell(const QString& sentence);

    QStringList m_told;
};

}  // namespace stepscope
