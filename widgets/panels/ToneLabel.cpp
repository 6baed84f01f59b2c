#include "widgets/panels/ToneLabel.h"

#include <QEvent>
#include <QGuiApplication>

#include "widgets/style/Theme.h"

namespace stepscope {

QColor toneColour(Tone tone) {
    const QPalette palette = QGuiApplication::palette();
    const bool dark = isDark(palette);
    switch (tone) {
        case Tone::Normal:
            return palette.color(QPalette::WindowText);
        case Tone::Muted:
            return mutedText(palette);
        case Tone::Good:
            return dark ? QColor(0x35, 0xc4, 0x9a) : QColor(0x00, 0x7a, 0x59);  // 4.5:1 on either ground
        case Tone::Warning:
            return warningColour(dark);
        case Tone::Error:
            return errorColour(dark);
    }
    return palette.color(QPalette::WindowText);
}

ToneLabel::ToneLabel(Tone tone, const QString& text, QWidget* parent) : QLabel(text, parent), m_tone(tone) {
    setTextFormat(Qt::PlainText);
    apply();
}

void ToneLabel::setTone(Tone tone) {
    m_tone = tone;
    apply();
}

void ToneLabel::changeEvent(QEvent* event) {
    QLabel::changeEvent(event);
    if (event->type() == QEvent::PaletteChange) apply();
}

void ToneLabel::apply() {
    const QColor wanted = toneColour(m_tone);
    QPalette own = palette();
    if (own.color(QPalette::WindowText) == wanted) return;  // setPalette() sends PaletteChange again
    own.setColor(QPalette::WindowText, wanted);
    setPalette(own);
}

ToneLabel* sentenceLabel(Tone tone, const QString& text) {
    auto* label = new ToneLabel(tone, text);
    label->setWordWrap(true);
    label->setTextInteractionFlags(Qt::TextSelectableByMouse);
    label->setFocusPolicy(Qt::NoFocus);
    return label;
}

}  // namespace stepscope
