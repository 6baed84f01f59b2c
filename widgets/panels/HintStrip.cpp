// See HintStrip.h.
#include "widgets/panels/HintStrip.h"

#include "widgets/panels/LineIcon.h"
#include "widgets/panels/ToneLabel.h"
#include "widgets/style/Metrics.h"

#include <QHBoxLayout>
#include <QPainter>
#include <QSettings>
#include <QToolButton>

namespace stepscope {
namespace {

struct Hint {
    const char *key, *text;
};
constexpr Hint kHints[] = {
    {"hints/run", "Run trains a small GPT at once; the preset on the left fits this machine."},
    {"hints/flip", "Flip a switch while it trains: the loss goes on and the charts carry a mark."},
    {"hints/replay", "Every run is kept on the right; a double click replays it."},
};

}  // namespace

HintStrip::HintStrip(QWidget* parent) : QWidget(parent) {
    auto* layout = new QHBoxLayout(this);
    layout->setContentsMargins(space(2), space(1), space(1), space(1));
    layout->setSpacing(space(2));
    for (const Hint& hint : kHints) {
        if (QSettings().value(hint.key, false).toBool()) continue;
        auto* card = new QWidget;
        auto* line = new QHBoxLayout(card);
        line->setContentsMargins(0, 0, 0, 0);
        line->setSpacing(space(1));
        auto* text = sentenceLabel(Tone::Normal, hint.text);
        auto* close = new QToolButton;
        close->setIcon(lineIcon("close"));
        close->setIconSize({12, 12});
        close->setAutoRaise(true);
        close->setToolTip("Do not show this hint again");
        close->setAccessibleName("Close this hint for good");
        line->addWidget(text, 1);
        line->addWidget(close, 0, Qt::AlignTop);
        layout->addWidget(card, 1);
        ++m_shown;
        connect(close, &QToolButton::clicked, this, [this, card, key = hint.key] {
            QSettings().setValue(key, true);
            card->hide();
            if (--m_shown == 0) hide();
        });
    }
    setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Maximum);
    setVisible(m_shown > 0);
}

void HintStrip::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    QColor wash = palette().color(QPalette::Highlight);
    wash.setAlphaF(0.10F);
    painter.fillRect(rect(), wash);
}

}  // namespace stepscope
