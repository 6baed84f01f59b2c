#include "widgets/panels/experiment/RowParts.h"

#include <QComboBox>
#include <QEvent>
#include <QRegularExpression>

#include "widgets/panels/LineIcon.h"
#include "widgets/panels/TitleButton.h"

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

void NewRunSign::draw() {
    setPixmap(lineIcon("new-run").pixmap(kWidth, kWidth));
}

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

void nameForReaders(QComboBox& list, const QString& name) {
    list.setAccessibleName(name);
    for (const auto* label : list.parentWidget()->findChildren<QLabel*>(QString(), Qt::FindDirectChildrenOnly))
        if (label->buddy() == &list) return;
    auto* label = new QLabel(name, list.parentWidget());
    label->setBuddy(&list);
    label->setAccessibleName(name);
    label->hide();
}

// "et al. 2022" and "0.1" end none: what follows begins with a capital letter or a quotation.
QString firstSentence(const QString& text) {
    static const QRegularExpression end(R"([.!?](?=\s+["\p{Lu}]))");
    const auto found = end.match(text);
    return found.hasMatch() ? text.left(found.capturedEnd()) : text;
}

ToneLabel* rowSentence(Tone tone) {
    auto* label = sentenceLabel(tone);
    label->setContentsMargins(2, 0, 4, 4);
    label->hide();
    return label;
}

}  // namespace stepscope
