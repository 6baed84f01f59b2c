// What the desktop wants, light or dark, also when it changes its mind while the window is open. Qt tells it from 6.5 on; before that
// (Debian 12 has 6.4) the desktop portal is asked over D-Bus: org.freedesktop.portal.Settings, key color-scheme, which GNOME, KDE,
// XFCE and others answer. Asked without waiting; where nobody answers nothing is ever told. Made by main() once; GUI thread.
#pragma once
#include <QDBusConnection>
#include <QDBusVariant>
#include <QObject>

namespace stepscope {

class SystemTheme : public QObject {
    Q_OBJECT
public:
    explicit SystemTheme(QObject* parent = nullptr);
    // For tests: `service` is empty on a connection without a bus.
    SystemTheme(const QDBusConnection& connection, const QString& service, QObject* parent = nullptr);

Q_SIGNALS:
    void told(bool dark);  // the first answer, and every change

private Q_SLOTS:
    void changed(const QString& space, const QString& key, const QDBusVariant& value);

private:
    void ask(QDBusConnection connection, const QString& service);
    void tell(const QVariant& scheme);
};

}  // namespace stepscope
