#include "widgets/panels/experiment/ValueRow.h"

#include <QPainter>
#include <QVBoxLayout>
#include <initializer_list>

#include "widgets/panels/TitleButton.h"
#include "widgets/panels/ToneLabel.h"
#include "widgets/panels/experiment/RowLayout.h"
#include "widgets/panels/experiment/RowParts.h"
#include "widgets/panels/experiment/RowRemark.h"
#include "widgets/panels/experiment/ValueEdit.h"

namespace stepscope {
namespace {

// Where there is no room for all of "every-block ×1.20 vs off", the figure is what stays.
class ChipLabel : public ToneLabel {
public:
    ChipLabel() : ToneLabel(Tone::Normal) { setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed); }
    QSize sizeHint() const override { return {fontMetrics().horizontalAdvance(text()) + 2, QLabel::sizeHint().height()}; }
    QSize minimumSizeHint() const override { return {20, sizeHint().height()}; }

protected:
    void paintEvent(QPaintEvent*) override {
        QPainter painter(this);
        painter.setPen(palette().color(QPalette::WindowText));
        painter.drawText(rect(), Qt::AlignLeft | Qt::AlignVCenter, fitted());
    }

private:
    QString fitted() const {
        const QFontMetrics metrics = fontMetrics();
        if (metrics.horizontalAdvance(text()) <= width()) return text();
        const auto against = text().indexOf(" vs ");
        QString shown = against < 0 ? text() : text().left(against);
        const auto figure = shown.lastIndexOf(' ');
        if (figure < 0 || metrics.horizontalAdvance(shown) <= width()) return metrics.elidedText(shown, Qt::ElideRight, width());
        const QString number = shown.mid(figure);
        return metrics.elidedText(shown.left(figure), Qt::ElideRight, width() - metrics.horizontalAdvance(number)) + number;
    }
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
    m_details = rowSentence(Tone::Muted);
    m_remark = new RowRemark(title);
    setSummary({});
    buildLinks();

    auto* line = new RowLayout;
    for (QWidget* part : std::initializer_list<QWidget*>{m_title, m_newRun, m_editor, m_remark, m_chip, m_reset}) line->addWidget(part);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 1, 0, 1);
    layout->setSpacing(1);
    layout->addLayout(line);
    layout->addWidget(m_details);

    connect(m_title, &QAbstractButton::clicked, this, [this] { m_details->setVisible(!m_details->text().isEmpty() && m_details->isHidden()); });
    connect(m_reset, &QAbstractButton::clicked, this, [this] { Q_EMIT resetRequested(m_id); });
    connect(m_editor, &ValueEdit::committed, this, [this](const QString& text) { Q_EMIT committed(m_id, text); });
}

void ValueRow::buildLinks() {
    m_flip = m_remark->addLink("flip it");
    m_takeBack = m_remark->addLink("back");
    connect(m_flip, &QAbstractButton::clicked, this, [this] { Q_EMIT flipRequested(m_id); });
    connect(m_takeBack, &QAbstractButton::clicked, this, [this] { Q_EMIT takeBackRequested(m_id); });
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
    showNote();
}

void ValueRow::setReason(const QString& why) {
    m_reasonText = why;
    m_editor->setEnabled(why.isEmpty());
    showNote();
}

void ValueRow::setFallback(const QString& what) {
    m_fallbackText = what;
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

// The gravest thing first; the card has all of them.
void ValueRow::showNote() {
    const bool wrong = !m_problemText.isEmpty(), apart = !m_inRunText.isEmpty();
    QStringList lines{m_reasonText.isEmpty() ? m_fallbackText : m_reasonText};
    if (apart) lines << (m_newRun->applies() ? waitsForNextRun() : "the run in progress has " + m_inRunText);
    lines.removeAll(QString());
    const QString text = wrong ? m_problemText : lines.join('\n');
    const bool warns = m_reasonText.isEmpty() && !m_fallbackText.isEmpty();
    const QString brief = wrong                     ? m_problemText
                          : !m_reasonText.isEmpty() ? m_reasonText
                          : apart                   ? (m_newRun->applies() ? QString("next run") : "run: " + m_inRunText)
                                                    : m_fallbackText;
    m_remark->say(wrong ? Tone::Error : warns ? Tone::Warning : Tone::Muted, brief, text);
    m_chip->setVisible(!m_chip->text().isEmpty() && text.isEmpty());
    showLinks(!wrong && apart && !m_newRun->applies());
}

void ValueRow::showLinks(bool shown) {
    m_remark->setLinksShown(shown);
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
