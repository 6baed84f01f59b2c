#include "widgets/style/Theme.h"

#include <QApplication>
#include <QStyle>
#include <QStyleHints>
#include <optional>

#include "widgets/style/OutlinedStyle.h"

namespace stepscope {
namespace {

Theme g_theme = Theme::System;

std::optional<bool> g_systemDark;  // as SystemTheme told

// What the desktop asks for, as far as it can be guessed before SystemTheme has told. Guessed before our own palette hides the platform's,
// hence remembered.
bool systemIsDark() {
    static const bool guessed = [] {
#if QT_VERSION >= QT_VERSION_CHECK(6, 5, 0)
        return QGuiApplication::styleHints()->colorScheme() == Qt::ColorScheme::Dark;
#else
        const QString gtk = qEnvironmentVariable("GTK_THEME");
        if (!gtk.isEmpty()) return gtk.contains("dark", Qt::CaseInsensitive);
        return isDark(QGuiApplication::palette());
#endif
    }();
    return g_systemDark.value_or(guessed);
}

QPalette makePalette(bool dark) {
    const QColor window = dark ? QColor(0x1f2226) : QColor(0xf3f4f5);
    const QColor base = dark ? QColor(0x17191c) : QColor(0xffffff);
    const QColor text = dark ? QColor(0xe4e6e8) : QColor(0x1d2023);
    const QColor quiet = dark ? QColor(0x9aa1a9) : QColor(0x5b6269);
    const QColor off = dark ? QColor(0x6a7179) : QColor(0x9aa0a6);
    const QColor button = dark ? QColor(0x2c3036) : QColor(0xe9ebed);

    QPalette palette(button, window);
    palette.setColor(QPalette::Window, window);
    palette.setColor(QPalette::Base, base);
    palette.setColor(QPalette::AlternateBase, dark ? QColor(0x1c1f23) : QColor(0xf8f9fa));
    palette.setColor(QPalette::Button, button);
    for (const auto role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText}) {
        palette.setColor(role, text);
        palette.setColor(QPalette::Disabled, role, off);
    }
    palette.setColor(QPalette::PlaceholderText, quiet);
    palette.setColor(QPalette::BrightText, dark ? QColor(Qt::white) : QColor(Qt::black));
    palette.setColor(QPalette::Light, dark ? QColor(0x3a3f46) : QColor(0xffffff));
    palette.setColor(QPalette::Midlight, dark ? QColor(0x32363c) : QColor(0xe2e5e8));
    palette.setColor(QPalette::Mid, dark ? QColor(0x3c4148) : QColor(0xc6cbd0));
    palette.setColor(QPalette::Dark, dark ? QColor(0x121417) : QColor(0xa9afb5));
    palette.setColor(QPalette::Shadow, dark ? QColor(0x0b0c0e) : QColor(0x7b8187));
    palette.setColor(QPalette::Highlight, accentColour(dark));
    palette.setColor(QPalette::HighlightedText, dark ? QColor(0x0d1117) : QColor(0xffffff));
    palette.setColor(QPalette::Disabled, QPalette::HighlightedText, dark ? QColor(0xaab1b9) : QColor(0x4f565d));
    palette.setColor(QPalette::Disabled, QPalette::Highlight, dark ? QColor(0x3c4148) : QColor(0xc6cbd0));
    palette.setColor(QPalette::Link, accentColour(dark));
    palette.setColor(QPalette::LinkVisited, accentColour(dark));
    palette.setColor(QPalette::ToolTipBase, dark ? QColor(0x2c3036) : QColor(0xffffff));
    palette.setColor(QPalette::ToolTipText, text);
    return palette;
}

}  // namespace

void applyStyle(QApplication& application, Theme theme) {
    const bool systemDark = systemIsDark();
    g_theme = theme;
    const bool dark = theme == Theme::Dark || (theme == Theme::System && systemDark);
    if (qobject_cast<OutlinedStyle*>(QApplication::style()) == nullptr) QApplication::setStyle(new OutlinedStyle);
    QApplication::setPalette(makePalette(dark));
}

void followSystem(QApplication& application, bool dark) {
    g_systemDark = dark;
    if (g_theme == Theme::System) applyStyle(application, Theme::System);
}

Theme currentTheme() {
    return g_theme;
}

bool isDark(const QPalette& palette) {
    return palette.color(QPalette::Active, QPalette::Window).lightnessF() < palette.color(QPalette::Active, QPalette::WindowText).lightnessF();
}

QColor accentColour(bool dark) {
    return dark ? QColor(0x4ea1e8) : QColor(0x0a66b7);
}
QColor mutedText(const QPalette& palette) {
    return isDark(palette) ? QColor(0x9aa1a9) : QColor(0x5b6269);
}
QColor gridColour(const QPalette& palette) {
    return isDark(palette) ? QColor(0x2b2f34) : QColor(0xe7e9ec);
}
QColor warningColour(bool dark) {
    return dark ? QColor(0xe6a93c) : QColor(0x8a5a00);
}
QColor errorColour(bool dark) {
    return dark ? QColor(0xff7b6b) : QColor(0xb3261e);
}

}  // namespace stepscope
