#include "app/gui/process/Display.h"

#include <QLibrary>
#include <QStringList>

namespace stepscope {
namespace {

// With libraries that are not there Qt's own plug-ins do not work either.
[[maybe_unused]] bool reachesX11() {
    QLibrary xcb("xcb", 1);
    const auto connect = reinterpret_cast<void* (*)(const char*, int*)>(xcb.resolve("xcb_connect"));
    const auto hasError = reinterpret_cast<int (*)(void*)>(xcb.resolve("xcb_connection_has_error"));
    const auto disconnect = reinterpret_cast<void (*)(void*)>(xcb.resolve("xcb_disconnect"));
    if (connect == nullptr || hasError == nullptr || disconnect == nullptr) return false;
    void* const connection = connect(nullptr, nullptr);  // never null; $DISPLAY
    const bool reached = hasError(connection) == 0;
    disconnect(connection);
    return reached;
}

[[maybe_unused]] bool reachesWayland() {
    // Where its socket would be; the library prints a line of its own otherwise.
    if (qEnvironmentVariableIsEmpty("XDG_RUNTIME_DIR") && !qEnvironmentVariable("WAYLAND_DISPLAY").startsWith('/')) return false;
    QLibrary client("wayland-client", 0);
    const auto connect = reinterpret_cast<void* (*)(const char*)>(client.resolve("wl_display_connect"));
    const auto disconnect = reinterpret_cast<void (*)(void*)>(client.resolve("wl_display_disconnect"));
    if (connect == nullptr || disconnect == nullptr) return false;
    void* const display = connect(nullptr);  // $WAYLAND_DISPLAY
    if (display == nullptr) return false;
    disconnect(display);
    return true;
}

}  // namespace

QString whyNoDisplay() {
#ifdef Q_OS_LINUX
    const bool wayland = qEnvironmentVariableIsSet("WAYLAND_DISPLAY") || qEnvironmentVariable("XDG_SESSION_TYPE") == "wayland";
    // What Qt tries, in any order: one that works is enough.
    QStringList platforms = qEnvironmentVariable("QT_QPA_PLATFORM").split(';', Qt::SkipEmptyParts);
    if (platforms.isEmpty()) platforms << "xcb" << (wayland ? QStringList{"wayland"} : QStringList{});
    for (const QString& platform : platforms) {
        if (platform.startsWith("xcb") ? reachesX11() : platform.startsWith("wayland") ? reachesWayland() : true) return {};
    }
    QStringList asked;
    for (const char* name : {"DISPLAY", "WAYLAND_DISPLAY"})
        if (!qEnvironmentVariableIsEmpty(name)) asked << QString("%1=%2").arg(name, qEnvironmentVariable(name));
    if (asked.isEmpty()) return "There is no display to open the window on; set DISPLAY, or train with stepscope-cli.";
    return QString("The display does not answer (%1), so no window can be opened; set DISPLAY to one that does, or train with stepscope-cli.")
        .arg(asked.join(", "));
#else
    return {};
#endif
}

}  // namespace stepscope
