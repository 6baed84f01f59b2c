#include "app/gui/wiring/TextWiring.h"

#include <utility>

#include "app/gui/Stage.h"
#include "app/gui/wiring/LiveFeed.h"
#include "app/gui/wiring/RunController.h"
#include "app/gui/wiring/RunWiring.h"
#include "app/workbench/Checkpoints.h"
#include "app/workbench/text/WriteTexts.h"
#include "core/base/Format.h"
#include "widgets/panels/TextPage.h"
#include "widgets/style/Words.h"

namespace stepscope {

TextWiring::TextWiring(const Panels& panels, RunController& runs, RunWiring& running, Stage& stage, std::string database, QObject* parent)
    : QObject(parent), m_panels(panels), m_runs(runs), m_running(running), m_stage(stage), m_database(std::move(database)) {
    connect(&panels.textPage, &TextPage::generateRequested, this, &TextWiring::generate);
    connect(&panels.textPage, &TextPage::stopRequested, this, &TextWiring::stopWriting);
    // The engine answers a text it cannot write with such a line.
    connect(&stage.live(), &LiveFeed::logged, this, [this](const LogLine& line) {
        if (line.level != LogLevel::Info && line.subject.kind == Subject::Kind::Text) m_panels.textPage.refuse(words(line.text));
    });
    connect(&runs, &RunController::phaseChanged, this, &TextWiring::lookAgain);
    connect(&runs, &RunController::takenChanged, this, &TextWiring::showState);
    connect(&runs, &RunController::engineReady, this, &TextWiring::lookAgain);
    connect(&running, &RunWiring::takesCommandsChanged, this, &TextWiring::lookAgain);
    connect(&stage, &Stage::switched, this, &TextWiring::lookAgain);
    connect(&stage, &Stage::started, this, &TextWiring::lookAgain);
    lookAgain();
}

TextWiring::~TextWiring() {
    *m_cutOff = true;
}

std::int64_t TextWiring::sessionInView() const {
    if (m_runs.training() && !m_stage.replaying()) return 0;
    return m_stage.shown().history()->session();
}

// Looking for a checkpoint reads the session's events and folders: not on this thread.
void TextWiring::lookAgain() {
    const std::int64_t session = sessionInView();
    m_source = {};
    m_asked = session;
    // What another session's weights were writing is neither shown nor waited for.
    if (session != std::exchange(m_looked, session)) *m_cutOff = true;
    if (session > 0 && session != m_chosen.session) m_chosen = {};
    if (session > 0)
        m_thread.post([this, session, database = m_database, chosen = m_chosen.path] {
            Source found{.session = session, .path = {}, .why = {}};
            auto path = newestCheckpoint(database, session);
            // The one that was chosen may have been removed since.
            if (path && !chosen.empty() && inspectCheckpoint(chosen)) path = chosen;
            const auto info = path ? inspectCheckpoint(*path) : Result<CheckpointInfo>(path.error());
            if (info) {
                found.path = *path;
                found.step = info->step;
            } else {
                found.why = words(info.error().sentence);
            }
            answer(this, [this, found] {
                if (m_asked != found.session) return;
                m_source = found;
                showState();
            });
        });
    showState();
}

void TextWiring::writeWith(qint64 session, const QString& path, qint64 step) {
    m_chosen = {.session = session, .path = path.toStdString(), .step = step, .why = {}};
    lookAgain();
}

// It would take the processors that are measured with.
QString TextWiring::whyNotNow() const {
    if (m_runs.measuring() || !m_runs.taken().isEmpty())
        return "Something is being measured, and writing beside it would disturb that; stop it first, or wait for its end.";
    return {};
}

void TextWiring::showState() {
    TextPage& page = m_panels.textPage;
    if (whyNotNow().isEmpty() && m_source.session > 0 && m_source.session == sessionInView()) {
        const bool ready = !m_source.path.empty();
        page.setReady(ready, ready ? QString() : m_source.why);
        page.setSource(ready ? QString("Written with the checkpoint of step %1.").arg(words(format::count(m_source.step))) : QString());
        return;
    }
    page.setSource({});
    if (const QString why = whyNotNow(); !why.isEmpty()) return page.setReady(false, why);
    const bool live = m_running.takesCommands() && !m_stage.replaying();
    page.setReady(live, sessionInView() > 0 ? "Looking for a checkpoint of this session…"
                        : m_runs.training()
                            ? "The run is being prepared; text can be written from its first step on."
                            : "Text is written by the weights of a run in progress or of a session's checkpoint: press Run, or double-click "
                              "a session.");
}

void TextWiring::generate(const GenerateText& request) {
    if (m_running.takesCommands() && !m_stage.replaying()) return m_runs.send(request);
    if (!m_source.path.empty() && whyNotNow().isEmpty()) writeFrom(m_source, request);
}

void TextWiring::stopWriting() {
    if (m_running.takesCommands() && !m_stage.replaying()) m_runs.send(GenerateText{.tokens = 0});
    *m_cutOff = true;
}

void TextWiring::writeFrom(const Source& source, const GenerateText& request) {
    *m_cutOff = true;
    m_cutOff = std::make_shared<std::atomic<bool>>(false);
    m_thread.post([this, source, request, cutOff = m_cutOff] {
        const auto show = [&](const std::string& text, const TextSpeed& speed, bool complete) {
            answer(this, [this, cutOff, session = source.session,
                          text = TextGenerated{source.step, {}, request.prompt, text, complete, speed.promptPerSecond, speed.textPerSecond}] {
                if (cutOff == m_cutOff && session == m_looked) m_panels.textPage.setText(text);
            });
        };
        const auto written = writeTexts(
            {.from = source.path, .how = request, .prompts = {request.prompt}},
            [&](std::size_t, const std::string& soFar, const TextSpeed& speed) { show(soFar, speed, false); }, *cutOff);
        if (written) return show(written->texts.front(), written->speed, true);
        answer(this, [this, cutOff, session = source.session, why = words(written.error().sentence)] {
            if (cutOff == m_cutOff && session == m_looked) m_panels.textPage.refuse(why);
        });
    });
}

}  // namespace stepscope
