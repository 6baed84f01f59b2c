#include "widgets/panels/TextPage.h"

#include <QCheckBox>
#include <QComboBox>
#include <QFontDatabase>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QScrollArea>
#include <QScrollBar>
#include <QSettings>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>
#include <map>

#include "core/base/Format.h"
#include "core/events/ConfigKeys.h"
#include "widgets/panels/ElidedLabel.h"
#include "widgets/panels/FoldSection.h"
#include "widgets/panels/LineIcon.h"
#include "widgets/panels/ToneLabel.h"
#include "widgets/panels/WeightsButtons.h"
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
        // From here on under More.
        {"repetition-penalty", "Repetition", "1", "Above 1: what occurs in prompt or text is less likely; 1 = off", RealRange{0.01, 100}},
        {"frequency-penalty", "Frequency", "0", "Taken from a token's logit for each time that it was written; 0 = off", RealRange{-100, 100}},
        {"presence-penalty", "Presence", "0", "Taken once from the logit of each token that was written; 0 = off", RealRange{-100, 100}},
    };
    return all;
}

// It takes what the rest of the page leaves, and asks for no more than its least: in a small window the page scrolls only where it must.
class WrittenText final : public QPlainTextEdit {
public:
    QSize sizeHint() const override { return {QPlainTextEdit::sizeHint().width(), minimumHeight()}; }
};

constexpr std::size_t kFirstOfMore = 5;
constexpr std::size_t kMostLines = 64;  // as many prompts as are written at a time

}  // namespace

std::vector<std::string> stopTexts(const QString& typed) {
    std::vector<std::string> all;
    QString one;
    const auto end = [&] {
        if (!one.isEmpty()) all.push_back(one.toStdString());
        one.clear();
    };
    for (int i = 0; i < typed.size(); ++i) {
        const QChar sign = typed[i];
        const QChar next = i + 1 < typed.size() ? typed[i + 1] : QChar();
        if (sign == '|') {
            end();
        } else if (sign == '\\' && (next == 'n' || next == 't' || next == '|' || next == '\\')) {
            one += next == 'n' ? QChar('\n') : next == 't' ? QChar('\t') : next;
            ++i;
        } else {
            one += sign;
        }
    }
    end();
    return all;
}

TextPage::TextPage(QWidget* parent) : QWidget(parent) {
    m_prompt = new QPlainTextEdit("In the beginning");
    m_prompt->setAccessibleName("Prompt");
    m_prompt->setPlaceholderText("What the text begins with");
    m_prompt->setFixedHeight(fontMetrics().height() * 3 + 12);
    m_prompt->setTabChangesFocus(true);
    m_prompt->installEventFilter(this);
    m_problem = sentenceLabel(Tone::Muted);
    m_caption = sentenceLabel(Tone::Muted);
    m_output = new WrittenText;
    m_output->setReadOnly(true);
    m_output->setAccessibleName("Generated text");
    m_output->setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
    m_output->setPlaceholderText(
        "Nothing written yet. Press Generate while a run is going on, or when a session with a checkpoint is shown, "
        "and what the model has learnt appears here.");

    m_output->setMinimumHeight(fontMetrics().height() * 4 + 12);

    auto* inside = new QWidget;
    auto* layout = new QVBoxLayout(inside);
    layout->setContentsMargins(space(3), space(3), space(3), space(3));
    layout->setSpacing(space(2));
    layout->addLayout(buildPrompt());
    layout->addWidget(buildControls());
    layout->addWidget(buildMore());
    layout->addWidget(m_problem);
    layout->addWidget(m_output, 1);
    layout->addWidget(m_caption);
    auto* scroll = new QScrollArea;
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setWidgetResizable(true);
    scroll->setFocusPolicy(Qt::NoFocus);
    scroll->setWidget(inside);
    scroll->setMinimumWidth(inside->minimumSizeHint().width() + space(2));  // what is in More stands a little further in
    auto* all = new QVBoxLayout(this);
    all->setContentsMargins(0, 0, 0, 0);
    all->addWidget(scroll);
    setReady(false, "Text is written by the weights of a run in progress or of a session's checkpoint: press Run first.");
}

QWidget* TextPage::buildControls() {
    auto* line = new QWidget;
    auto* layout = new QHBoxLayout(line);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(space(2));
    for (std::size_t spec = 0; spec < kFirstOfMore; ++spec) layout->addLayout(numberCell(spec), 2);
    layout->addStretch(1);
    return line;
}

QVBoxLayout* TextPage::cell(const QString& title, QWidget* edit) {
    auto* made = new QVBoxLayout;
    made->setSpacing(2);
    auto* head = new ElidedLabel(Tone::Muted);
    head->setText(title);
    made->addWidget(head);
    made->addWidget(edit);
    return made;
}

QVBoxLayout* TextPage::numberCell(std::size_t at) {
    const ControlSpec& spec = specs()[at];
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
    connect(edit, &NumberEdit::committed, this, &TextPage::showState);
    m_controls.push_back({spec.key, spec.range, edit});
    return cell(spec.name, edit);
}

// One row of fields as wide as the controls' and one of buttons: with both open the text still has its place in a small window.
QWidget* TextPage::buildMore() {
    m_more = new FoldSection("More", false);
    auto* fields = new QHBoxLayout;
    fields->setSpacing(space(2));
    m_stops = new QLineEdit;
    m_stops->setAccessibleName("Texts to stop at");
    m_stops->setPlaceholderText("\\n\\n | END");
    m_stops->setToolTip(
        "<p>The text ends before the first of these. Between two stands |; \\n is the end of a line, \\t a tabulator, \\| a bar, \\\\ a backslash. "
        "Blanks count.</p>");
    m_stops->setMinimumWidth(60);
    m_stops->installEventFilter(this);
    fields->addLayout(cell("Stop at", m_stops), 3);
    for (std::size_t spec = kFirstOfMore; spec < specs().size(); ++spec) fields->addLayout(numberCell(spec), 2);
    m_type = new QComboBox;
    m_type->setAccessibleName("Type of the weights");
    // The words of `generate --dtype`; the page Inference has the same.
    for (const char* word : {"f32", "bf16", "int8", "int8-dynamic", "int4"}) m_type->addItem(word, word);
    m_type->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    m_type->setMinimumContentsLength(3);
    m_type->setMinimumWidth(60);
    fields->addLayout(cell("Weights", m_type), 2);
    m_more->body()->addLayout(fields);
    m_weights = new WeightsButtons("Weights to write with");
    m_lines = new QCheckBox("A prompt in each line");
    m_lines->setToolTip(
        "<p>Up to 64, written beside each other, which reads the weights once for all of them; a run in progress writes one behind the "
        "other.</p>");
    m_weights->add(m_lines);
    m_more->body()->addWidget(m_weights);
    connect(m_stops, &QLineEdit::textChanged, this, &TextPage::showMore);
    connect(m_type, &QComboBox::currentIndexChanged, this, &TextPage::showMore);
    connect(m_lines, &QCheckBox::toggled, this, &TextPage::showState);
    connect(m_prompt, &QPlainTextEdit::textChanged, this, [this] {
        if (m_lines->isChecked()) showState();  // how many they are may be wrong
    });
    connect(m_weights, &WeightsButtons::chosen, this, &TextPage::weightsRequested);
    return m_more;
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
    if (!ready) m_waiting = m_several = false;
    showState();
}

void TextPage::setSource(const QString& sentence, bool file) {
    if (sentence != m_source || file != m_fromFile) m_refusal.clear();  // it was of other weights
    m_source = sentence;
    m_fromFile = file;
    showState();
}

void TextPage::setLiveWeights(bool live) {
    m_live = live;
    showState();
}

// To the page itself, where the window's single keys act again.
bool TextPage::eventFilter(QObject* watched, QEvent* event) {
    if (event->type() != QEvent::KeyPress || static_cast<QKeyEvent*>(event)->key() != Qt::Key_Escape) return QWidget::eventFilter(watched, event);
    setFocus(Qt::ShortcutFocusReason);
    return true;
}

QString TextPage::wrong() const {
    for (const auto& control : m_controls)
        if (const auto parsed = parseValue(control.range, control.key.toStdString(), control.edit->text().toStdString()); !parsed)
            return QString::fromStdString(parsed.error().sentence);
    if (const std::size_t count = prompts().size(); count > kMostLines)
        return QString("Text is written for 1 to %1 prompts at a time; these are %2 lines.").arg(kMostLines).arg(count);
    return {};
}

std::vector<std::string> TextPage::prompts() const {
    const QString typed = m_prompt->toPlainText();
    if (!m_lines->isChecked()) return {typed.toStdString()};
    std::vector<std::string> all;
    for (const QString& line : typed.split('\n'))
        if (!line.isEmpty()) all.push_back(line.toStdString());
    if (all.empty()) all.emplace_back();
    return all;
}

// What is set there, so that it is seen while it is folded.
void TextPage::showMore() {
    QStringList set;
    if (m_fromFile) set << "weights of a file";
    if (const std::size_t stops = stopTexts(m_stops->text()).size(); stops > 0) set << QString("%1 stop%2").arg(stops).arg(stops == 1 ? "" : "s");
    for (std::size_t i = kFirstOfMore; i < m_controls.size(); ++i)
        if (const QString text = m_controls[i].edit->text(); text != specs()[i].value) set << QString(specs()[i].name).toLower() + ' ' + text;
    if (m_type->currentIndex() > 0 && !m_live) set << m_type->currentText();
    if (m_lines->isChecked()) set << "a prompt in each line";
    m_more->setSummary(set.join(", "));
}

// One sentence at a time: a wrong number first, then why nothing can be written.
void TextPage::showState() {
    QString wrong = this->wrong();
    if (wrong.isEmpty()) wrong = m_refusal;
    m_weights->setState(!m_waiting, m_fromFile);
    m_type->setEnabled(!m_live);
    m_type->setToolTip(m_live ? "A run in progress writes with its weights as they are, in float32"
                              : "Of the weights while text is written, which is faster with fewer bits; the checkpoint stays as it is");
    showMore();
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
    if (!wrong().isEmpty()) return showState();
    TextWish wish;
    wish.prompts = prompts();
    wish.dtype = m_type->currentData().toString().toStdString();
    GenerateText& request = wish.how;
    request.prompt = wish.prompts.front();
    request.tokens = std::get<std::int64_t>(values["tokens"]);
    request.temperature = std::get<double>(values["temperature"]);
    request.topK = std::get<std::int64_t>(values["top-k"]);
    request.topP = std::get<double>(values["top-p"]);
    request.seed = std::get<std::int64_t>(values["seed"]);
    request.stop = stopTexts(m_stops->text());
    request.repetitionPenalty = std::get<double>(values["repetition-penalty"]);
    request.frequencyPenalty = std::get<double>(values["frequency-penalty"]);
    request.presencePenalty = std::get<double>(values["presence-penalty"]);
    m_waiting = true;
    m_several = wish.prompts.size() > 1;
    m_refusal.clear();
    showState();
    Q_EMIT generateRequested(wish);
}

void TextPage::setText(const TextGenerated& text) {
    if (m_several) return;
    showOutput(QString::fromStdString(text.prompt + text.text));
    showCaption(text, text.complete);
    m_waiting = !text.complete;
    showState();
}

void TextPage::setTexts(const std::vector<TextGenerated>& texts, std::size_t of, bool over) {
    QString whole;
    for (std::size_t i = 0; i < texts.size(); ++i)
        whole +=
            QString("%1--- %2 of %3\n%4").arg(i == 0 ? "" : "\n\n").arg(i + 1).arg(of).arg(QString::fromStdString(texts[i].prompt + texts[i].text));
    showOutput(whole);
    if (!texts.empty()) showCaption(texts.back(), over);
    m_waiting = m_several = !over;
    showState();
}

// Only what is new is appended: setting all of it would throw away a selection and the place one reads at.
void TextPage::showOutput(const QString& whole) {
    const QString shown = m_output->toPlainText();
    if (whole.startsWith(shown) && !shown.isEmpty()) {
        QTextCursor end(m_output->document());
        end.movePosition(QTextCursor::End);
        end.insertText(whole.mid(shown.size()));
        return;
    }
    // Of several texts one may grow in the middle.
    const int place = m_several ? m_output->verticalScrollBar()->value() : 0;
    m_output->setPlainText(whole);
    m_output->verticalScrollBar()->setValue(place);
}

void TextPage::showCaption(const TextGenerated& text, bool complete) {
    QString caption = (text.step < 0 ? QString("With the weights that were chosen")
                                     : QString("With the weights of step %1").arg(QString::fromStdString(format::count(text.step)))) +
                      (complete ? "." : ", writing…");
    // A stored text has none.
    if (std::isfinite(text.promptPerSecond))
        caption += QString(" Prompt read at %1").arg(QString::fromStdString(format::rate(text.promptPerSecond, "tok/s")));
    if (std::isfinite(text.textPerSecond))
        caption += QString(", text written at %1").arg(QString::fromStdString(format::rate(text.textPerSecond, "tok/s")));
    if (std::isfinite(text.promptPerSecond)) caption += ".";
    m_caption->setText(caption);
}

void TextPage::refuse(const QString& why) {
    m_waiting = m_several = false;
    m_refusal = why;
    showState();
}

void TextPage::clear() {
    m_output->clear();
    m_caption->clear();
    m_waiting = m_several = false;
    m_refusal.clear();
    showState();
}

void TextPage::save(QSettings& settings) const {
    settings.setValue("text/prompt", m_prompt->toPlainText());
    settings.setValue("text/stops", m_stops->text());
    settings.setValue("text/dtype", m_type->currentData());
    settings.setValue("text/lines", m_lines->isChecked());
    for (const auto& control : m_controls) settings.setValue("text/" + control.key, control.edit->text());
}

void TextPage::restore(const QSettings& settings) {
    m_prompt->setPlainText(settings.value("text/prompt", m_prompt->toPlainText()).toString());
    m_stops->setText(settings.value("text/stops").toString());
    m_type->setCurrentIndex(std::max(0, m_type->findData(settings.value("text/dtype"))));
    m_lines->setChecked(settings.value("text/lines").toBool());
    for (const auto& control : m_controls) control.edit->setText(settings.value("text/" + control.key, control.edit->text()).toString());
    showState();
}

}  // namespace stepscope
