// See ValueRow.h.
#include "widgets/panels/ValueRow.h"

#include "widgets/panels/LineIcon.h"
#include "widgets/panels/TitleButton.h"
#include "widgets/panels/ToneLabel.h"
#include "widgets/panels/ValueEdit.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>

namespace stepscope {
namespace {

constexpr int kEditorWidth = 124;  // one column for lists and numbers, so that the eye runs down it
constexpr int kSpacing = 4, kSign = 13;

ToneLabel* hiddenSentence(Tone tone) {
    auto* label = sentenceLabel(tone);
    label->setContentsMargins(2, 0, 4, 4);
    label->hide();
    return label;
}

// Where there is no room for all of "×1.20 vs kernels", what it was measured against gives way; the tool tip has it.
class ChipLabel : public ToneLabel {
public:
    ChipLabel() : ToneLabel(Tone::Normal) {}
    QSize sizeHint() const override { return sizeOf(text()); }
    QSize minimumSizeHint() const override {
        const auto against = text().indexOf(" vs ");
        return sizeOf(against < 0 ? text() : text().left(against) + "…");
    }

protected:
    void paintEvent(QPaintEvent*) override {
        QPainter painter(this);
        painter.drawText(rect(), Qt::AlignLeft | Qt::AlignVCenter, fontMetrics().elidedText(text(), Qt::ElideRight, width()));
    }

private:
    QSize sizeOf(const QString& shown) const { return {fontMetrics().horizontalAdvance(shown) + 2, QLabel::sizeHint().height()}; }
};

}  // namespace

ValueRow::ValueRow(const QString& id, const QString& title, const ValueRange& range, QWidget* parent) : QWidget(parent), m_id(id) {
    m_title = new TitleButton(title);
    m_title->setToolTip(title);
    m_title->setAccessibleName(title + ": what it does");
    m_reset = new TitleButton("reset");
    m_reset->setIcon(lineIcon("undo"));
    m_reset->setIconSize({14, 14});
    m_reset->setAccessibleName("Reset " + title + " to the preset");
    m_reset->setToolTip("Back to the preset's value");
    m_chip = new ChipLabel;
    m_newRun = new QLabel;
    m_editor = new ValueEdit(range, title);
    // A toggle takes only what its words need: the name has the rest.
    if (m_editor->isToggle()) m_editor->setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
    else m_editor->setFixedWidth(kEditorWidth);
    m_note = hiddenSentence(Tone::Muted);
    m_details = hiddenSentence(Tone::Muted);
    for (QWidget* part : {static_cast<QWidget*>(m_reset), static_cast<QWidget*>(m_chip), static_cast<QWidget*>(m_newRun)}) part->hide();

    auto* line = new QHBoxLayout;
    line->setSpacing(kSpacing);
    line->addWidget(m_title, 1);
    line->addWidget(m_reset);
    line->addWidget(m_chip);
    line->addWidget(m_newRun);
    line->addWidget(m_editor);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 1, 0, 1);
    layout->setSpacing(1);
    layout->addLayout(line);
    layout->addWidget(m_note);
    layout->addWidget(m_details);

    connect(m_title, &QAbstractButton::clicked, this, [this] { m_details->setVisible(!m_details->text().isEmpty() && m_details->isHidden()); });
    connect(m_reset, &QAbstractButton::clicked, this, [this] { Q_EMIT resetRequested(m_id); });
    connect(m_editor, &ValueEdit::committed, this, [this](const QString& text) { Q_EMIT committed(m_id, text); });
}

void ValueRow::setDetails(const QString& text) {
    m_detailsText = text;
    m_details->setText(details());
}

void ValueRow::setHint(const QString& text) {
    m_hintText = text;
    m_editor->setToolTip(text);
    m_details->setText(details());
}

QString ValueRow::details() const { return m_hintText.isEmpty() ? m_detailsText : m_detailsText + ' ' + m_hintText; }

bool ValueRow::isUnfolded() const { return !m_details->isHidden(); }

void ValueRow::setNewRun(const QString& why) {
    m_newRunText = why.isEmpty() ? QString("Takes effect in a new run.") : "Takes effect in a new run: " + why;
    m_newRun->setPixmap(lineIcon("new-run").pixmap(kSign, kSign));
    m_newRun->setFixedWidth(kSign);
    m_newRun->setToolTip(m_newRunText);
    m_newRun->setAccessibleName("takes effect in a new run");
    m_newRun->show();
    // The name keeps its room: a number needs less than a list of words.
    if (m_editor->isNumber()) m_editor->setFixedWidth(kEditorWidth - kSign - kSpacing);
}

// A label keeps the pixmap it was given, in the colour of the theme before.
void ValueRow::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange && !m_newRunText.isEmpty()) m_newRun->setPixmap(lineIcon("new-run").pixmap(kSign, kSign));
}

void ValueRow::setValue(const QString& text, bool changedFromPreset) {
    if (m_problemText.isEmpty()) m_editor->setText(text);
    m_title->setBold(changedFromPreset);
    m_reset->setVisible(changedFromPreset || !m_problemText.isEmpty());
}

void ValueRow::setChip(const QString& text, const QString& tooltip) {
    m_chip->setText(text);
    m_chip->setToolTip(tooltip);
    m_chip->setVisible(!text.isEmpty() && m_reasonText.isEmpty());
}

void ValueRow::setReason(const QString& why) {
    m_reasonText = why;
    m_editor->setEnabled(why.isEmpty());
    m_chip->setVisible(!m_chip->text().isEmpty() && why.isEmpty());
    showNote();
}

void ValueRow::setInstead(const QString& what) {
    m_insteadText = what;
    showNote();
}

void ValueRow::setRefused(const std::vector<std::pair<std::string, std::string>>& refused) { m_editor->setRefused(refused); }

void ValueRow::setProblem(const QString& sentence) {
    m_problemText = sentence;
    if (!sentence.isEmpty()) m_reset->show();
    showNote();
}

void ValueRow::setInRun(const QString& value) {
    if (value == m_inRunText) return;
    m_inRunText = value;
    showNote();
}

void ValueRow::showNote() {
    const bool wrong = !m_problemText.isEmpty();
    QStringList lines{m_reasonText.isEmpty() ? m_insteadText : m_reasonText};
    if (!m_inRunText.isEmpty()) lines << (m_newRunText.isEmpty() ? "the run in progress has " + m_inRunText : QString("waits for the next run"));
    lines.removeAll(QString());
    const QString text = wrong ? m_problemText : lines.join('\n');
    m_note->setTone(wrong ? Tone::Error : Tone::Muted);
    m_note->setText(text);
    m_note->setVisible(!text.isEmpty());
}

}  // namespace stepscope
