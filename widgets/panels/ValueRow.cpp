#include "widgets/panels/ValueRow.h"

#include <QHBoxLayout>
#include <QPainter>
#include <algorithm>
#include <initializer_list>

#include "widgets/panels/RowLayout.h"
#include "widgets/panels/RowParts.h"
#include "widgets/panels/TitleButton.h"
#include "widgets/panels/ToneLabel.h"
#include "widgets/panels/ValueEdit.h"

namespace stepscope {
namespace {

constexpr int kEditorWidth = 124;  // one column for lists and numbers, so that the eye runs down it
constexpr int kLeastEditor = 98;   // beside a long name; "every-block", the longest word there, is still read whole
constexpr int kSpacing = 4;

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
    m_title->setAccessibleName(title + ": what it does");
    m_reset = resetButton(title);
    m_chip = new ChipLabel;
    m_chip->hide();
    m_newRun = new NewRunSign;
    m_editor = new ValueEdit(range, title);
    // A toggle takes only what its words need: the name has the rest.
    if (m_editor->isToggle())
        m_editor->setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
    else
        limitEditor(kEditorWidth);
    m_note = rowSentence(Tone::Muted);
    m_details = rowSentence(Tone::Muted);
    setSummary({});
    buildLinks();

    auto* line = new RowLayout;
    for (QWidget* part : std::initializer_list<QWidget*>{m_title, m_reset, m_chip, m_newRun, m_editor}) line->addWidget(part);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 1, 0, 1);
    layout->setSpacing(1);
    layout->addLayout(line);
    layout->addWidget(m_note);
    layout->addWidget(m_links);
    layout->addWidget(m_details);

    connect(m_title, &QAbstractButton::clicked, this, [this] { m_details->setVisible(!m_details->text().isEmpty() && m_details->isHidden()); });
    connect(m_reset, &QAbstractButton::clicked, this, [this] { Q_EMIT resetRequested(m_id); });
    connect(m_editor, &ValueEdit::committed, this, [this](const QString& text) { Q_EMIT committed(m_id, text); });
}

void ValueRow::buildLinks() {
    m_links = new QWidget;
    m_links->hide();
    auto* line = new QHBoxLayout(m_links);
    line->setContentsMargins(0, 0, 0, 4);
    line->setSpacing(2 * kSpacing);
    m_flip = new TitleButton("flip it");
    m_takeBack = new TitleButton("back");
    for (TitleButton* link : {m_flip, m_takeBack}) {
        link->setLink(true);
        line->addWidget(link);
        connect(link, &QAbstractButton::clicked, this, [this, link] {
            if (link->hasFocus()) m_editor->setFocus();  // the link is about to go
            Q_EMIT link == m_flip ? flipRequested(m_id) : takeBackRequested(m_id);
        });
    }
    line->addStretch();
}

void ValueRow::limitEditor(int width) {
    m_editor->setMinimumWidth(std::min(kLeastEditor, width));
    m_editor->setMaximumWidth(width);
}

void ValueRow::setSummary(const QString& text) {
    const QString all = text.isEmpty() ? m_title->text() : m_title->text() + '\n' + text;
    // Only rich text is wrapped.
    m_title->setToolTip("<p>" + all.toHtmlEscaped().replace('\n', "<br>") + "</p>");
    m_title->setAccessibleDescription(text);
    m_editor->focusProxy()->setAccessibleDescription(text);
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

QString ValueRow::details() const {
    return m_hintText.isEmpty() ? m_detailsText : m_detailsText + ' ' + m_hintText;
}

bool ValueRow::isUnfolded() const {
    return !m_details->isHidden();
}

void ValueRow::setNewRun(const QString& why) {
    m_newRun->setWhy(why);
    // The name keeps its room: a number needs less than a list of words.
    if (m_editor->isNumber()) limitEditor(kEditorWidth - NewRunSign::kWidth - kSpacing);
}

void ValueRow::setValue(const QString& text, bool changedFromPreset) {
    if (m_problemText.isEmpty()) m_editor->setText(text);
    m_title->setBold(changedFromPreset);
    m_reset->setVisible(changedFromPreset || !m_problemText.isEmpty());
    m_valueText = text;
    if (!m_inRunText.isEmpty()) showNote();
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

void ValueRow::setRefused(const std::vector<std::pair<std::string, std::string>>& refused) {
    m_editor->setRefused(refused);
}

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
    if (!m_inRunText.isEmpty()) lines << (m_newRun->applies() ? waitsForNextRun() : "the run in progress has " + m_inRunText);
    lines.removeAll(QString());
    const QString text = wrong ? m_problemText : lines.join('\n');
    m_note->setTone(wrong ? Tone::Error : Tone::Muted);
    m_note->setText(text);
    m_note->setVisible(!text.isEmpty());
    showLinks(!wrong && !m_inRunText.isEmpty() && !m_newRun->applies());
}

void ValueRow::showLinks(bool shown) {
    m_links->setVisible(shown);
    if (!shown) return;
    m_flip->setVisible(m_reasonText.isEmpty());
    m_flip->setText("flip it to " + m_valueText);
    m_flip->setAccessibleName(QString("Flip %1 of the run in progress to %2").arg(m_title->text(), m_valueText));
    m_flip->setToolTip(m_flip->accessibleName());
    m_takeBack->setText("back to " + m_inRunText);
    m_takeBack->setAccessibleName(QString("Set %1 back to %2, which the run in progress has").arg(m_title->text(), m_inRunText));
    m_takeBack->setToolTip(m_takeBack->accessibleName());
}

}  // namespace stepscope
