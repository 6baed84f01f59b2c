// See RowParts.h.
#include "widgets/panels/RowParts.h"

#include "widgets/panels/LineIcon.h"
#include "widgets/panels/TitleButton.h"

#include <QEvent>

namespace stepscope {

NewRunSign::NewRunSign() {
    setFixedWidth(kWidth);
    setAccessibleName("takes effect in a new run");
    hide();
}

void NewRunSign::setWhy(const QString& why) {
    m_applies = true;
    setToolTip(why.isEmpty() ? QString("Takes effect in a new run.") : "Takes effect in a new run: " + why);
    draw();
    show();
}

void NewRunSign::draw() { setPixmap(lineIcon("new-run").pixmap(kWidth, kWidth)); }

// A label keeps the pixmap it was given, in the colour of the theme before.
void NewRunSign::changeEvent(QEvent* event) {
    QLabel::changeEvent(event);
    if (event->type() == QEvent::PaletteChange && m_applies) draw();
}

TitleButton* resetButton(const QString& title) {
    auto* button = new TitleButton("reset");
    button->setIcon(lineIcon("undo"));
    button->setIconSize({14, 14});
    button->setAccessibleName("Reset " + title + " to the preset");
    button->setToolTip("Back to the preset's value");
    button->hide();
    return button;
}

ToneLabel* rowSentence(Tone tone) {
    auto* label = sentenceLabel(tone);
    label->setContentsMargins(2, 0, 4, 4);
    label->hide();
    return label;
}

}  // namespace stepscope
