#include "widgets/panels/run/HintStrip.h"

#include <QHBoxLayout>
#include <QPainter>
#include <QSettings>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>

#include "widgets/panels/LineIcon.h"
#include "widgets/panels/ToneLabel.h"
#include "widgets/style/Metrics.h"

namespace stepscope {
namespace {

struct Hint {
    const char *key, *text;
};
constexpr Hint kHints[] = {
    {"hints/run", "Run trains a small GPT at once; the preset on the left fits the machine."},
    {"hints/flip", "Flip a switch while it trains: the loss goes on and the charts carry a mark."},
    {"hints/replay", "Every run is kept on the right; a double click replays it."},
};

}  // namespace

HintStrip::HintStrip(QWidget* parent) : QWidget(parent) {
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(space(2), space(1), space(1), space(1));
    layout->setSpacing(space(1));
    for (std::size_t i = 0; i < m_cards.size(); ++i) {
        if (QSettings().value(kHints[i].key, false).toBool()) continue;
        auto* card = m_cards[i] = new QWidget;
        auto* line = new QHBoxLayout(card);
        line->setContentsMargins(0, 0, 0, 0);
        line->setSpacing(space(1));
        auto* close = new QToolButton;
        close->setIcon(lineIcon("close"));
        close->setIconSize({12, 12});
        close->setAutoRaise(true);
        close->setToolTip("Do not show this hint again");
        close->setAccessibleName("Close this hint for good");
        line->addWidget(sentenceLabel(Tone::Normal, kHints[i].text), 1);
        line->addWidget(close, 0, Qt::AlignTop);
        layout->addWidget(card);
        connect(close, &QToolButton::clicked, this, [this, i] { learnt(static_cast<Lesson>(i)); });
    }
    layout->addStretch();
    setVisible(shown() > 0);
}

int HintStrip::shown() const {
    return static_cast<int>(std::ranges::count_if(m_cards, [](const QWidget* card) { return card != nullptr && !card->isHidden(); }));
}

void HintStrip::learnt(Lesson lesson) {
    QWidget* card = m_cards[lesson];
    if (card == nullptr || card->isHidden()) return;
    QSettings().setValue(kHints[lesson].key, true);
    card->hide();
    if (shown() == 0) hide();
}

void HintStrip::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    QColor wash = palette().color(QPalette::Highlight);
    wash.setAlphaF(0.10F);
    painter.fillRect(rect(), wash);
}

}  // namespace stepscope
