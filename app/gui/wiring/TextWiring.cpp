#include "app/gui/wiring/TextWiring.h"

#include <algorithm>
#include <utility>

#include "app/gui/Stage.h"
#include "app/gui/wiring/LiveFeed.h"
#include "app/gui/wiring/RunController.h"
#include "app/gui/wiring/RunWiring.h"
#include "app/workbench/Checkpoints.h"
#include "app/workbench/text/WriteTexts.h"
#include "core/base/Format.h"
#include "widgets/style/Words.h"

namespace stepscope {

TextWiring::TextWiring(const Panels& panels, RunController& runs, RunWiring& running, Stage& stage, std::string database, QObject* parent)
    : QObject(parent), m_panels(panels), m_runs(runs), m_running(running), m_stage(stage), m_database(std::move(database)) {
    connect(&panels.textPage, &TextPage::generateRequested, this, &TextWiring::generate);
    connect(&panels.textPage, &TextPage::stopRequested, this, &TextWiring::stopWriting);
    // The engine answers a text it cannot write with such a line.
    connect(&stage.live(), &LiveFeed::logged, this, [this](const LogLine& line) {
        if (line.level == LogLevel::Info || line.subject.kind != Subject::Kind::Text) return;
        m_several.clear();
        m_panels.textPage.refuse(words(line.text));
    });
    connect(&panels.textPage, &TextPage::weightsRequested, this, &TextWiring::choose);
    connect(&stage.live(), &LiveFeed::textGenerated, this, &TextWiring::takeLive);
    // What another session writes is not among them.
    connect(&stage, &Stage::switched, this, [this] { m_several.clear(); });
    connect(&stage, &Stage::started, this, [this] { m_several.clear(); });
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
    if (session != std::exchange(m_looked, session) || wouldSlowARun()) *m_cutOff = true;
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
    m_file.clear();
    lookAgain();
}

void TextWiring::choose(const QString& path) {
    *m_cutOff = true;
    m_file = path;
    lookAgain();
}

bool TextWiring::liveWrites() const {
    return m_file.isEmpty() && m_running.takesCommands() && !m_stage.replaying();
}

// It would take the processors that are measured with.
QString TextWiring::whyNotNow() const {
    if (m_runs.measuring() || !m_runs.taken().isEmpty())
        return "Something is being measured, and writing beside it would disturb that; stop it first, or wait for its end.";
    return {};
}

// A checkpoint's text is written on this machine's processors, and a run knows nothing of it: its steps would be slower and not be marked.
bool TextWiring::wouldSlowARun() const {
    return m_runs.training() && !m_runs.elsewhere();
}

void TextWiring::showState() {
    TextPage& page = m_panels.textPage;
    page.setLiveWeights(liveWrites());
    if (!m_file.isEmpty()) {
        QString why = whyNotNow();
        if (why.isEmpty() && wouldSlowARun())
            why = "A run trains, and writing with these weights beside it would disturb its steps: press Session's for its own, or wait for its end.";
        page.setReady(why.isEmpty(), why);
        return page.setSource(QString("Written with the weights in ") + m_file + '.', true);
    }
    if (whyNotNow().isEmpty() && m_source.session > 0 && m_source.session == sessionInView()) {
        if (wouldSlowARun()) {
            page.setSource({});
            return page.setReady(
                false,
                "A run trains, and writing with a checkpoint beside it would disturb its steps: return to the run, which writes with "
                "its weights as they are, or wait for its end.");
        }
        const bool ready = !m_source.path.empty();
        page.setReady(ready, ready ? QString() : m_source.why);
        page.setSource(ready ? QString("Written with the checkpoint of step %1.").arg(words(format::count(m_source.step))) : QString());
        return;
    }
    page.setSource(liveWrites() ? "Written with the run's weights as they are." : "");
    if (const QString why = whyNotNow(); !why.isEmpty()) return page.setReady(false, why);
    page.setReady(liveWrites(), sessionInView() > 0 ? "Looking for a checkpoint of this session…"
                                : m_runs.training()
                                    ? "The run is being prepared; text can be written from its first step on."
                                    : "Text is written by the weights of a run in progress or of a session's checkpoint, or by weights that are "
                                      "chosen under More: press Run, or double-click a session.");
}

void TextWiring::generate(const TextWish& wish) {
    m_several.clear();
    if (liveWrites()) {
        GenerateText asked = wish.how;
        if (wish.prompts.size() > 1) {
            asked.prompt = wish.prompts.front();
            asked.besides.assign(wish.prompts.begin() + 1, wish.prompts.end());
            for (const std::string& prompt : wish.prompts) m_several.push_back({.prompt = prompt, .complete = false});
        }
        return m_runs.send(asked);
    }
    if (!whyNotNow().isEmpty() || wouldSlowARun()) return;
    if (!m_file.isEmpty()) return writeFrom({.session = m_looked, .path = m_file.toStdString(), .step = -1, .why = {}}, wish);
    if (!m_source.path.empty()) writeFrom(m_source, wish);
}

void TextWiring::takeLive(const TextGenerated& text) {
    const auto place = static_cast<std::size_t>(text.place);
    // A run's own samples have other prompts.
    if (m_stage.replaying() || place >= m_several.size() || text.prompt != m_several[place].prompt) return;
    m_several[place] = text;
    for (TextGenerated& one : m_several) {
        one.step = text.step;
        one.promptPerSecond = text.promptPerSecond;
        one.textPerSecond = text.textPerSecond;
    }
    const bool over = std::ranges::all_of(m_several, &TextGenerated::complete);
    m_panels.textPage.setTexts(m_several, m_several.size(), over);
    if (over) m_several.clear();
}

void TextWiring::stopWriting() {
    if (liveWrites()) m_runs.send(GenerateText{.tokens = 0});
    *m_cutOff = true;
}

void TextWiring::writeFrom(const Source& source, const TextWish& wish) {
    *m_cutOff = true;
    m_cutOff = std::make_shared<std::atomic<bool>>(false);
    m_thread.post([this, source, wish, cutOff = m_cutOff] {
        std::vector<TextGenerated> texts;
        texts.reserve(wish.prompts.size());
        for (const std::string& prompt : wish.prompts) texts.push_back({.step = source.step, .prompt = prompt});
        const auto show = [&](const TextSpeed& speed, bool complete) {
            for (TextGenerated& text : texts) {
                text.complete = complete;
                text.promptPerSecond = speed.promptPerSecond;
                text.textPerSecond = speed.textPerSecond;
            }
            answer(this, [this, cutOff, session = source.session, texts, complete] {
                if (cutOff != m_cutOff || session != m_looked) return;
                if (texts.size() == 1) return m_panels.textPage.setText(texts.front());
                m_panels.textPage.setTexts(texts, texts.size(), complete);
            });
        };
        const auto written = writeTexts(
            {.from = source.path, .how = wish.how, .prompts = wish.prompts, .dtype = wish.dtype},
            [&](std::size_t prompt, const std::string& soFar, const TextSpeed& speed) {
                texts[prompt].text = soFar;
                show(speed, false);
            },
            *cutOff);
        if (written) {
            for (std::size_t i = 0; i < texts.size(); ++i) texts[i].text = written->texts[i];
            return show(written->speed, true);
        }
        answer(this, [this, cutOff, session = source.session, why = words(written.error().sentence)] {
            if (cutOff == m_cutOff && session == m_looked) m_panels.textPage.refuse(why);
        });
    });
}

}  // namespace stepscope
