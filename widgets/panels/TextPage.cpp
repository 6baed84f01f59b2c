#include "widgets/panels/TextPage.h"

#include <QFontDatabase>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QScrollBar>
#include <QSettings>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>
#include <map>

#include "core/base/Format.h"
#include "core/events/ConfigKeys.h"
#include "widgets/panels/ElidedLabel.h"
#include "widgets/panels/LineIcon.h"
#include "widgets/panels/ToneLabel.h"
#include "widgets/panels/experiment/NumberEdit.h"
#include "widgets/style/Metrics.h"

namespace stepscope {
namespace {

struct ControlSpec {
    const char *key, *name, *value, *tooltip;
    ValueRange range;
};

const std::vector<ControlSpec>& specs() {
    static const std::vector<ControlSpec> all{
        {"tokens", "Tokens", "200", "How many tokens to write", IntegerRange{1, 100'000}},
        {"temperature", "Temperature", "0.8", "Below 1 the likely words come more often; 0 always takes the likeliest", RealRange{0, 10}},
        {"top-k", "Top-k", "0", "Draw from the k likeliest tokens only; 0 = from all", IntegerRange{0, 10'000'000}},
        {"top-p", "Top-p", "1", "Draw from the likeliest tokens that together have this probability; 1 = from all", RealRange{0, 1}},
        {"seed", "Seed", "1", "The same seed and weights write the same text", IntegerRange{0, 1'000'000'000'000}},
    };
    return all;
}

}  // namespace

TextPage::TextPage(QWidget* parent) : QWidget(parent) {
    m_prompt = new QPlainTextEdit("In the beginning");
    m_prompt->setAccessibleName("Prompt");
    m_prompt->setPlaceholderText("What the text begins with");
    m_prompt->setFixedHeight(fontMetrics().height() * 3 + 12);
    m_prompt->setTabChangesFocus(true);
    m_prompt->installEventFilter(this);
    m_problem = sentenceLabel(Tone::Muted);
    m_caption = sentenceLabel(Tone::Muted);
    m_output = new QPlainTextEdit;
    m_output->setReadOnly(true);
    m_output->setAccessibleName("Generated text");
    m_output->setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
    m_output->setPlaceholderText(
        "Nothing written yet. Press Generate while a run is going on, or when a session with a checkpoint is shown, "
        "and what the model has learnt appears here.");

    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(space(3), space(3), space(3), space(3));
    layout->setSpacing(space(2));
    layout->addLayout(buildPrompt());
    layout->addWidget(buildControls());
    layout->addWidget(m_problem);
    layout->addWidget(m_output, 1);
    layout->addWidget(m_caption);
    setReady(false, "Text is written by the weights of a run in progress or of a session's checkpoint: press Run first.");
}

QWidget* TextPage::buildControls() {
    auto* line = new QWidget;
    auto* layout = new QHBoxLayout(line);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(space(2));
    for (const auto& spec : specs()) {
        auto* edit = new NumberEdit;
        edit->setRange(spec.range);
        edit->setText(spec.value);
        edit->setToolTip(spec.tooltip);
        edit->setAccessibleName(spec.name);
        // The largest number is read whole where there is room; five of them go beside each other in the narrowest page.
        const auto* whole = std::get_if<IntegerRange>(&spec.range);
        const QString longest = whole != nullptr ? QString::number(whole->most) : QString("0.0000");
        edit->setMinimumWidth(60);
        edit->setMaximumWidth(std::max(76, edit->fontMetrics().horizontalAdvance(longest) + 34));
        edit->installEventFilter(this);
        auto* cell = new QVBoxLayout;
        cell->setSpacing(2);
        auto* title = new ElidedLabel(Tone::Muted);
        title->setText(spec.name);
        cell->addWidget(title);
        cell->addWidget(edit);
        layout->addLayout(cell, 2);
        connect(edit, &NumberEdit::committed, this, &TextPage::showState);
        m_controls.push_back({spec.key, spec.range, edit});
    }
    layout->addStretch(1);
    return line;
}

QHBoxLayout* TextPage::buildPrompt() {
    auto* layout = new QHBoxLayout;
    layout->setSpacing(space(2));
    layout->addWidget(m_prompt, 1);
    m_generate = new QPushButton("Generate");
    m_generate->setIcon(lineIcon("text"));
    m_generate->setShortcut(QKeySequence("Ctrl+Return"));
    // Neither word moves what stands beside the button.
    const QFontMetrics metrics = m_generate->fontMetrics();
    m_generate->setMinimumWidth(std::max(metrics.horizontalAdvance("Generate"), metrics.horizontalAdvance("Stop")) + 56);
    connect(m_generate, &QPushButton::clicked, this, &TextPage::generateOrStop);
    layout->addWidget(m_generate, 0, Qt::AlignBottom);
    return layout;
}

void TextPage::setReady(bool ready, const QString& why) {
    m_ready = ready;
    m_why = why;
    if (!ready) m_waiting = false;
    showState();
}

void TextPage::setSource(const QString& sentence) {
    m_source = sentence;
    showState();
}

// To the page itself, where the window's single keys act again.
bool TextPage::eventFilter(QObject* watched, QEvent* event) {
    if (event->type() != QEvent::KeyPress || static_cast<QKeyEvent*>(event)->key() != Qt::Key_Escape) return QWidget::eventFilter(watched, event);
    setFocus(Qt::ShortcutFocusReason);
    return true;
}

// One sentence at a time: a wrong number first, then why nothing can be written.
void TextPage::showState() {
    QString wrong;
    for (const auto& control : m_controls) {
        const auto parsed = parseValue(control.range, control.key.toStdString(), control.edit->text().toStdString());
        if (!parsed && wrong.isEmpty()) wrong = QString::fromStdString(parsed.error().sentence);
    }
    if (wrong.isEmpty()) wrong = m_refusal;
    m_problem->setTone(wrong.isEmpty() ? Tone::Muted : Tone::Error);
    m_problem->setText(!wrong.isEmpty() ? wrong : m_waiting ? QString("Writing…") : m_ready ? m_source : m_why);
    m_problem->setVisible(!m_problem->text().isEmpty());
    m_generate->setText(m_waiting ? "Stop" : "Generate");
    m_generate->setShortcut(QKeySequence("Ctrl+Return"));  // a new text clears it
    m_generate->setIcon(lineIcon(m_waiting ? "stop" : "text"));
    m_generate->setToolTip(m_waiting ? "End the text where it is (Ctrl+Return)" : "Write text with the weights as they are now (Ctrl+Return)");
    m_generate->setEnabled(m_waiting || (m_ready && (wrong.isEmpty() || wrong == m_refusal)));
}

void TextPage::generateOrStop() {
    if (m_waiting)
        Q_EMIT stopRequested();
    else
        generate();
}

void TextPage::generate() {
    std::map<QString, Value> values;
    for (const auto& control : m_controls) {
        const auto parsed = parseValue(control.range, control.key.toStdString(), control.edit->text().toStdString());
        if (!parsed) return showState();
        values[control.key] = *parsed;
    }
    GenerateText request;
    request.prompt = m_prompt->toPlainText().toStdString();
    request.tokens = std::get<std::int64_t>(values["tokens"]);
    request.temperature = std::get<double>(values["temperature"]);
    request.topK = std::get<std::int64_t>(values["top-k"]);
    request.topP = std::get<double>(values["top-p"]);
    request.seed = std::get<std::int64_t>(values["seed"]);
    m_waiting = true;
    m_refusal.clear();
    showState();
    Q_EMIT generateRequested(request);
}

void TextPage::setText(const TextGenerated& text) {
    const QString whole = QString::fromStdString(text.prompt + text.text);
    const QString shown = m_output->toPlainText();
    // Only what is new is appended: setting all of it would throw away a selection and the place one reads at.
    if (whole.startsWith(shown) && !shown.isEmpty()) {
        QTextCursor end(m_output->document());
        end.movePosition(QTextCursor::End);
        end.insertText(whole.mid(shown.size()));
    } else {
        m_output->setPlainText(whole);
    }
    QString caption =
        QString("With the weights of step %1%2").arg(QString::fromStdString(format::count(text.step)), text.complete ? "." : ", writing…");
    // A stored text has none.
    if (std::isfinite(text.promptPerSecond))
        caption += QString(" Prompt read at %1").arg(QString::fromStdString(format::rate(text.promptPerSecond, "tok/s")));
    if (std::isfinite(text.textPerSecond))
        caption += QString(", text written at %1").arg(QString::fromStdString(format::rate(text.textPerSecond, "tok/s")));
    if (std::isfinite(text.promptPerSecond)) caption += ".";
    m_caption->setText(caption);
    m_waiting = !text.complete;
    showState();
}

void TextPage::refuse(const QString& why) {
    m_waiting = false;
    m_refusal = why;
    showState();
}

void TextPage::clear() {
    m_output->clear();
    m_caption->clear();
    m_waiting = false;
    m_refusal.clear();
    showState();
}

void TextPage::save(QSettings& settings) const {
    settings.setValue("text/prompt", m_prompt->toPlainText());
    for (const auto& control : m_controls) settings.setValue("text/" + control.key, control.edit->text());
}

void TextPage::restore(const QSettings& settings) {
    m_prompt->setPlainText(settings.value("text/prompt", m_prompt->toPlainText()).toString());
    for (const auto& control : m_controls) control.edit->setText(settings.value("text/" + control.key, control.edit->text()).toString());
    showState();
}

}  // namespace stepscope
