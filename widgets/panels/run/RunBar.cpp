#include "widgets/panels/run/RunBar.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QLabel>
#include <QMenu>
#include <QProgressBar>
#include <QToolButton>
#include <algorithm>
#include <cmath>

#include "core/base/Format.h"
#include "widgets/panels/ElidedLabel.h"
#include "widgets/panels/LineIcon.h"
#include "widgets/style/Words.h"

namespace stepscope {
namespace {

QToolButton* button(const QString& icon, const QString& text, const QString& tooltip) {
    auto* made = new QToolButton;
    made->setIcon(lineIcon(icon));
    made->setIconSize({18, 18});
    made->setText(text);
    made->setToolTip(tooltip);
    made->setAccessibleName(text);
    made->setFocusPolicy(Qt::TabFocus);
    return made;
}

// A button that is grey says nothing by itself.
QString stopTip(const RunReading& r) {
    if (r.stopping) return "It is being stopped: the step that goes on is finished first";
    if (r.live && r.measuring) return QString("End what is measured on page %1 and keep what is known (Ctrl+.)").arg(r.measuredOn);
    if (r.live && r.replay) return "Stop the run in progress, not the stored session that is shown, and keep its session (Ctrl+.)";
    if (r.live) return "Stop at the next step and keep the session (Ctrl+.)";
    if (r.starting) return "It has not begun yet";
    const bool goesOn = r.replay && !ended(r.state);
    return goesOn ? "Another program trains what is shown; only that one can stop it" : "Nothing goes on in this window that could be stopped";
}

QWidget* gap() {
    auto* line = new QFrame;
    line->setFrameShape(QFrame::VLine);
    line->setFrameShadow(QFrame::Sunken);
    return line;
}

}  // namespace

RunBar::RunBar(QWidget* parent) : QWidget(parent) {
    m_run = button("run", "Run", "Start training with the settings on the left (Space)");
    m_run->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    m_pause = button("pause", "Pause", "Pause at the next step (Space)");
    m_stop = button("stop", "Stop", "Stop at the next step and keep the session (Ctrl+.)");
    m_menu = button("menu", "Menu", "Everything that has no button (F10)");
    m_menu->setPopupMode(QToolButton::InstantPopup);
    m_menu->setAutoRaise(true);

    m_step = new ElidedLabel(Tone::Normal);
    m_step->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
    m_progress = new QProgressBar;
    m_progress->setTextVisible(false);
    m_progress->setFixedHeight(8);
    m_progress->setMinimumWidth(48);
    m_progress->setAccessibleName("Progress of the run");
    QSizePolicy keepsPlace = m_progress->sizePolicy();
    keepsPlace.setRetainSizeWhenHidden(true);
    m_progress->setSizePolicy(keepsPlace);
    m_left = new ElidedLabel(Tone::Muted);
    m_left->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
    m_left->setMinimumWidth(m_left->fontMetrics().horizontalAdvance("8:88:88 left"));

    auto* layout = new QHBoxLayout(this);
    layout->setContentsMargins(8, 6, 8, 6);
    layout->setSpacing(8);
    layout->addWidget(m_run);
    layout->addWidget(m_pause);
    layout->addWidget(m_stop);
    layout->addWidget(gap());
    layout->addWidget(m_step);
    layout->addWidget(m_progress, 1);
    layout->addWidget(m_left);
    layout->addWidget(gap());
    m_tokens = figure("Tokens per second", "888 K tok/s");
    m_ms = figure("Milliseconds per step", "88.8 ms/step");
    m_loss = figure("Training loss", "loss 88.888");
    layout->addWidget(m_tokens);
    layout->addWidget(m_ms);
    layout->addWidget(m_loss);
    layout->addWidget(gap());
    m_device = figure("Device utilisation", "CPU 100 %");
    layout->addWidget(m_device);
    layout->addWidget(m_menu);

    connect(m_run, &QToolButton::clicked, this, &RunBar::runRequested);
    connect(m_pause, &QToolButton::clicked, this, &RunBar::pauseRequested);
    connect(m_stop, &QToolButton::clicked, this, &RunBar::stopRequested);
    tintRun();
    setReading(RunReading{});
}

void RunBar::setMenu(QMenu* menu) {
    m_menu->setMenu(menu);
}

void RunBar::openMenu() {
    m_menu->setFocus();
    m_menu->showMenu();
}

QLabel* RunBar::figure(const QString& name, const QString& widest) {
    auto* label = new QLabel;
    label->setAccessibleName(name);
    label->setMinimumWidth(label->fontMetrics().horizontalAdvance(widest) + 4);
    label->setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Preferred);
    label->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    return label;
}

// The one bright button: filled with the accent colour while it can be pressed.
void RunBar::tintRun() {
    const QColor accent = palette().color(QPalette::Active, QPalette::Highlight);
    const QColor on = palette().color(QPalette::Active, QPalette::HighlightedText);
    const QColor focus = palette().color(QPalette::Active, QPalette::WindowText);
    m_run->setIcon(lineIcon("run", on));
    m_run->setStyleSheet(
        QString("QToolButton:enabled { background: %1; color: %2; border: 1px solid %1; border-radius: 4px; padding: 3px 12px 3px 8px; }"
                "QToolButton:disabled { border: 1px solid palette(mid); border-radius: 4px; padding: 3px 12px 3px 8px; }"
                "QToolButton:enabled:hover { background: %3; } QToolButton:focus { border-color: %4; }")
            .arg(accent.name(), on.name(), accent.lighter(112).name(), focus.name()));
    // No word of it moves what stands beside it: a second click on Pause is never one on Resume.
    const QString shown = m_run->text();
    m_run->setMinimumWidth(0);
    int widest = 0;
    for (const char* word : {"Run", "Resume", "Back to live"}) {
        m_run->setText(word);
        widest = std::max(widest, m_run->sizeHint().width());
    }
    m_run->setText(shown);
    m_run->setMinimumWidth(widest);
}

void RunBar::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange) tintRun();
}

void RunBar::setReading(const RunReading& reading) {
    m_shown = reading;
    showButtons(reading);
    showProgress(reading);
    showFigures(reading);
}

void RunBar::showButtons(const RunReading& r) {
    const bool ready = r.engine == RunReading::Engine::Ready;
    const bool busy = r.starting || r.stopping;
    const bool paused = r.live && r.state == RunState::Paused;
    const bool going = r.live && !paused;
    for (const auto* one : {m_run, m_pause, m_stop}) m_focusIsHere = m_focusIsHere || one->hasFocus();
    const bool begins = !paused && !(r.replay && r.live);  // a run: Resume and the way back to one take nothing from anybody
    const QString taken = r.measuring ? QString("Something is being measured, and a run would disturb it; stop it first, or wait for its end")
                          : begins    ? r.taken
                                      : QString();
    m_run->setEnabled(ready && !busy && (!going || r.replay) && (!begins || r.taken.isEmpty()));
    m_run->setText(r.replay ? (r.live ? "Back to live" : "Run") : paused ? "Resume" : "Run");
    m_run->setAccessibleName(m_run->text());
    m_run->setToolTip(r.replay && r.live ? "Return to the run in progress"
                      : paused           ? "Go on (Space)"
                      : !taken.isEmpty() ? taken
                                         : "Start training with the settings on the left (Space)");
    m_pause->setEnabled(r.canPause());
    m_pause->setToolTip(r.live && r.replay ? "A stored session is shown; go back to live to pause the run" : "Pause at the next step (Space)");
    m_stop->setEnabled(r.canStop());
    m_stop->setToolTip(stopTip(r));
    keepFocus();
}

// A disabled button loses the focus to whatever comes next; who pressed Run by keyboard wants Pause under the finger, not that.
void RunBar::keepFocus() {
    if (!m_focusIsHere) return;
    for (auto* one : {m_run, m_pause, m_stop}) {
        if (!one->isEnabled()) continue;
        if (!m_run->hasFocus() && !m_pause->hasFocus() && !m_stop->hasFocus()) one->setFocus();
        m_focusIsHere = false;
        return;
    }
    if (QWidget* next = window()->focusWidget()) next->clearFocus();
}

void RunBar::showProgress(const RunReading& r) {
    // Nothing moves up here while an experiment is measured: drawing takes time from what is timed.
    const bool measuring = r.measuring && !r.replay;
    const bool any = (r.hasRun || r.starting) && !r.refused && !measuring;
    const bool preparing = r.starting || (r.state == RunState::Preparing && r.hasRun);
    m_progress->setVisible(any && (preparing || r.steps > 0));
    m_left->setVisible(any);
    if (!any) {
        m_step->setText(measuring   ? (r.stopping ? "stopping the experiment…" : "measuring, see page " + r.measuredOn)
                        : r.refused ? "not started"
                        : r.engine == RunReading::Engine::Starting ? (r.host.isEmpty() ? "looking at this machine…" : "starting…")
                        : r.engine == RunReading::Engine::Failed   ? r.note
                        : r.host.isEmpty()                         ? "ready"
                                                                   : "ready, on " + r.host);
        return;
    }
    QString place = QString("step %1").arg(words(format::count(r.step)));
    if (r.steps > 0) place += " / " + words(format::count(r.steps));
    if (r.tokens > 0) place += " · " + words(format::rate(static_cast<double>(r.tokens), "tokens"));
    m_step->setText(preparing ? QString("preparing") : place);
    if (preparing && !std::isfinite(r.fraction)) {
        m_progress->setRange(0, 0);
    } else {
        const double share = preparing ? r.fraction : r.steps > 0 ? static_cast<double>(r.step) / static_cast<double>(r.steps) : 0;
        m_progress->setRange(0, 1000);
        m_progress->setValue(static_cast<int>(std::clamp(share, 0.0, 1.0) * 1000));
    }
    QString left = r.stopping ? "stopping…" : preparing ? r.note : words(toString(r.state));
    if (!r.stopping && !preparing && !r.replay && r.state == RunState::Running)
        left = std::isfinite(r.secondsLeft) ? words(format::duration(TimeNs::fromSeconds(r.secondsLeft))) + " left" : QString();
    if (left.isEmpty()) left = " ";
    m_left->setText(left);
    m_left->setTone(r.state == RunState::Failed ? Tone::Error : Tone::Muted);
    m_left->setToolTip(plainTip(r.note));
}

void RunBar::showFigures(const RunReading& r) {
    const bool has = std::isfinite(r.msPerStep);
    m_tokens->setText(std::isfinite(r.tokensPerSecond) ? words(format::rate(r.tokensPerSecond, "tok/s")) : QString("– tok/s"));
    m_ms->setText(has ? words(format::milliseconds(r.msPerStep)) + "/step" : QString("– ms/step"));
    m_loss->setText(std::isfinite(r.loss) ? QString("loss %1").arg(r.loss, 0, 'f', 3) : QString("loss –"));
    const QString over = has          ? QString("median of the last %1 steps").arg(r.overSteps)
                         : r.step > 0 ? QString("not known of these steps")  // an import whose log has no times
                                      : QString("no steps yet");
    m_tokens->setToolTip("Tokens per second, " + over);
    m_ms->setToolTip("Time of a step, " + over);
    m_loss->setToolTip(
        "Training loss of the last step" +
        (std::isfinite(r.smoothedLoss) ? QString("; smoothed, as the bold line of its chart: %1").arg(r.smoothedLoss, 0, 'f', 4) : QString()));
    const bool gpu = std::isfinite(r.gpuPct);
    const double pct = gpu ? r.gpuPct : r.cpuPct;
    m_device->setText(QString("%1 %2").arg(gpu ? "GPU" : "CPU", std::isfinite(pct) ? words(format::percent(pct / 100)) : QString("–")));
    m_device->setToolTip(gpu ? "Utilisation of the GPU, newest sample" : "Share of all cores this process uses, newest sample");
}

}  // namespace stepscope
