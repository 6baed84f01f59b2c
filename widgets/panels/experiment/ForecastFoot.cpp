#include "widgets/panels/experiment/ForecastFoot.h"

#include <QRegularExpression>
#include <QStackedWidget>
#include <QVBoxLayout>

#include "core/base/Format.h"
#include "widgets/panels/ElidedLabel.h"
#include "widgets/panels/TitleButton.h"
#include "widgets/style/Words.h"

namespace stepscope {
namespace {

constexpr int kProblemLines = 3;

// One a line; a name may hold a comma itself, but only a size ends with a B.
QStringList linesOf(const std::string& parts) {
    return words(parts).split(QRegularExpression("(?<=B), "), Qt::SkipEmptyParts);
}

}  // namespace

ForecastFoot::ForecastFoot(QWidget* parent) : QWidget(parent) {
    m_memory = new ElidedLabel(Tone::Muted);
    m_memory->setAccessibleName("Predicted memory");
    m_time = new ElidedLabel(Tone::Muted);
    m_time->setAccessibleName("Predicted time");
    m_problem = new ElidedLabel(Tone::Error, kProblemLines);
    m_problem->setAccessibleName("What keeps these settings from running");
    auto* forecast = new QWidget;
    auto* lines = new QVBoxLayout(forecast);
    lines->setContentsMargins(0, 0, 0, 0);
    lines->setSpacing(2);
    lines->addWidget(m_memory);
    m_timeIt = new TitleButton("Time it");
    m_timeIt->setLink(true);
    m_timeIt->setFocusPolicy(Qt::TabFocus);
    m_timeIt->setToolTip("Times five steps of these settings on weights of their own, to say how long a run will take");
    m_timeIt->hide();
    auto* time = new QHBoxLayout;
    time->setSpacing(6);
    time->addWidget(m_time, 1);
    time->addWidget(m_timeIt);
    lines->addLayout(time);
    lines->addStretch();
    m_stack = new QStackedWidget;
    m_stack->addWidget(forecast);
    m_stack->addWidget(m_problem);
    m_stack->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(m_stack);
    connect(m_timeIt, &TitleButton::clicked, this, &ForecastFoot::timeRequested);
}

void ForecastFoot::setMemory(const MemoryForecast& forecast) {
    const auto part = [](const char* name, Bytes bytes) { return QString("%1 %2").arg(name, words(format::bytes(bytes))); };
    const bool tooMuch = forecast.available.count > 0 && forecast.total > forecast.available;
    m_memory->setText(QString("%1 · about %2 of %3%4")
                          .arg(words(format::rate(static_cast<double>(forecast.parameters), "parameters")), words(format::bytes(forecast.total)),
                               words(format::bytes(forecast.available)),
                               tooMuch ? ": too much for " + (m_host.isEmpty() ? QString("this machine") : m_host) : QString()));
    m_memory->setTone(tooMuch ? Tone::Warning : Tone::Muted);
    QStringList lines{"Predicted peak of tensors and of what is kept for them; the program and its libraries come on top",
                      part("weights", forecast.weights),
                      part("gradients", forecast.gradients),
                      part("moments", forecast.moments),
                      part("activations", forecast.activations),
                      part("logits", forecast.logits)};
    if (!m_host.isEmpty())
        lines << QString("%1 is what %2 has; how much of it is free there is known when a run begins")
                     .arg(words(format::bytes(forecast.available)), m_host);
    if (!forecast.parts.empty()) lines << "By kind, the largest first" << linesOf(forecast.parts);
    m_memory->setToolTip(lines.join('\n'));
}

void ForecastFoot::setMachine(const QString& host) {
    m_host = host;
}

void ForecastFoot::setTime(const QString& sentence, const QString& source, bool isKnown) {
    m_timeText = sentence;
    m_timeSource = source;
    m_isTimeKnown = isKnown;
    showTime();
}

void ForecastFoot::setTimeOffered(bool isOffered) {
    m_timeIt->setVisible(isOffered);
}

QAbstractButton* ForecastFoot::timeButton() const {
    return m_timeIt;
}

void ForecastFoot::showTime() {
    m_time->setTone(m_ofNextRun ? Tone::Warning : Tone::Muted);
    const QString time = m_isRunning && m_isTimeKnown ? "next run: " + m_timeText : m_timeText;
    m_time->setText(m_ofNextRun ? QString("Settings of the next run, not of the replay.") : time);
    m_time->setMore(m_ofNextRun ? QString() : m_timeSource);
}

void ForecastFoot::setProblem(const QString& sentence) {
    m_problem->setText(sentence);
    m_stack->setCurrentIndex(sentence.isEmpty() ? 0 : 1);
}

QString ForecastFoot::problem() const {
    return m_problem->text();
}

void ForecastFoot::setOfNextRun(bool isOfNextRun) {
    m_ofNextRun = isOfNextRun;
    showTime();
}

void ForecastFoot::setRunning(bool isRunning) {
    m_isRunning = isRunning;
    showTime();
}

}  // namespace stepscope
