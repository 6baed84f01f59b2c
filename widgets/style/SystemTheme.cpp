#include "widgets/style/SystemTheme.h"

#include <QDBusMessage>
#include <QDBusPendingCallWatcher>
#include <QDBusPendingReply>
#include <QFile>
#include <QGuiApplication>
#include <QStyleHints>

namespace stepscope {
namespace {

const QString kService = "org.freedesktop.portal.Desktop", kPath = "/org/freedesktop/portal/desktop", kInterface = "org.freedesktop.portal.Settings",
              kSpace = "org.freedesktop.appearance", kKey = "color-scheme";
constexpr uint kDark = 1;  // 0 = no preference, 2 = light

// Qt would start a bus of its own where there is none, and wait for it.
bool hasSessionBus() {
    return qEnvironmentVariableIsSet("DBUS_SESSION_BUS_ADDRESS") || QFile::exists(qEnvironmentVariable("XDG_RUNTIME_DIR") + "/bus");
}

// An old portal's Read() wraps the value twice.
QVariant unwrapped(QVariant value) {
    while (value.canConvert<QDBusVariant>()) value = value.value<QDBusVariant>().variant();
    return value;
}

}  // namespace

SystemTheme::SystemTheme(QObject* parent) : QObject(parent) {
#if QT_VERSION >= QT_VERSION_CHECK(6, 5, 0)
    connect(QGuiApplication::styleHints(), &QStyleHints::colorSchemeChanged, this,
            [this](Qt::ColorScheme scheme) { Q_EMIT told(scheme == Qt::ColorScheme::Dark); });
#else
    if (hasSessionBus()) ask(QDBusConnection::sessionBus(), kService);
#endif
}

SystemTheme::SystemTheme(const QDBusConnection& connection, const QString& service, QObject* parent) : QObject(parent) {
    ask(connection, service);
}

void SystemTheme::ask(QDBusConnection connection, const QString& service) {
    if (!connection.isConnected()) return;
    // Qt 6.4 knows the type by name only after its first use, and would refuse the slot.
    qRegisterMetaType<QDBusVariant>("QDBusVariant");
    connection.connect(service, kPath, kInterface, "SettingChanged", this, SLOT(changed(QString, QString, QDBusVariant)));
    QDBusMessage read = QDBusMessage::createMethodCall(service, kPath, kInterface, "Read");
    read << kSpace << kKey;
    auto* watcher = new QDBusPendingCallWatcher(connection.asyncCall(read), this);
    QObject::connect(watcher, &QDBusPendingCallWatcher::finished, this, [this, watcher] {
        const QDBusPendingReply<QDBusVariant> reply = *watcher;
        if (reply.isValid()) tell(reply.value().variant());
        watcher->deleteLater();
    });
}

void SystemTheme::changed(const QString& space, const QString& key, const QDBusVariant& value) {
    if (space == kSpace && key == kKey) tell(value.variant());
}

void SystemTheme::tell(const QVariant& scheme) {
    bool number = false;
    const uint code = unwrapped(scheme).toUInt(&number);
    if (number && code != 0) Q_EMIT told(code == kDark);
}

}  // namespace stepscope
