// The look of the whole window: Qt Fusion with our own light and dark palettes and one accent colour.
// applyStyle is called by app/gui at start and when the person switches the theme; widgets follow by QEvent::PaletteChange.
// GUI thread.
#pragma once
#include <QColor>
#include <QPalette>

class QApplication;

namespace stepscope {

enum class Theme { System, Light, Dark };

void applyStyle(QApplication& application, Theme theme);  // may be called again at any time
Theme currentTheme();                                     // as last asked for; System before
void followSystem(QApplication& application, bool dark);  // what SystemTheme told; acts at once where the theme is System

bool isDark(const QPalette& palette);
QColor accentColour(bool dark);              // the one bright colour: Run, selection, focus
QColor mutedText(const QPalette& palette);   // axis labels, hints, units: readable (4.5:1) but quiet
QColor gridColour(const QPalette& palette);  // lines that must not shout
QColor warningColour(bool dark);
QColor errorColour(bool dark);

}  // namespace stepscope
