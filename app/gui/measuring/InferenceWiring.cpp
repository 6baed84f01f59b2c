#include "app/gui/measuring/InferenceWiring.h"

#include <chrono>
#include <memory>
#include <utility>

#include "app/gui/Stage.h"
#include "app/gui/measuring/InferenceWords.h"
#include "app/gui/wiring/LiveFeed.h"
#include "app/gui/wiring/RunController.h"
#include "app/gui/wiring/RunWiring.h"
#include "app/workbench/Checkpoints.h"
#include "app/workbench/inference/MeasureForms.h"
#include "core/base/Format.h"
#include "widgets/panels/inference/InferencePage.h"

namespace stepscope {
namespace {

const char* kInferenceChapter = "inference.md";
const char* kTaken =
    "Forms of the weights are being measured on the page Inference, and what begins beside it would end that; stop it first, or wait for its end.";
constexpr std::chrono::milliseconds kLeastBetween{50};  // tellings

QString plain(const std::string& text) {
    return QString::fromStdString(text);
}

}  // namespace

InferenceWiring::InferenceWiring(const Panels& panels, RunController& runs, RunWiring& running, Stage& stage, std::string database, QObject* parent)
    : QObject(parent), m_panels(panels), m_runs(runs), m_running(running), m_stage(stage), m_database(std::move(database)), m_view(emptyInference()) {
    InferencePage& page = panels.page;
    page.setView(m_view);
    connect(&page, &InferencePage::measureRequested, this, &InferenceWiring::start);
    connect(&page, &InferencePage::stopRequested, this, [this] {
        m_cancel = true;
        if (m_held && m_held->waits) end("Stopped before anything was measured.");
    });
    connect(&page, &InferencePage::pruneRequested, this, &InferenceWiring::prune);
    connect(&page, &InferencePage::weightsRequested, this, &InferenceWiring::choose);
    connect(&page, &InferencePage::guideRequested, this, [this] { Q_EMIT guideRequested(kInferenceChapter); });
    connect(&stage.live(), &LiveFeed::stateChanged, this, &InferenceWiring::liveStateChanged);
    connect(&stage.live(), &LiveFeed::checkpointSaved, this, [this](const CheckpointSaved& saved) {
        if (!m_held || !m_held->waits) return;
        m_held->path = saved.path;
        m_held->step = saved.step;
        beginHeld();
    });
    // That it is there already is in the log, and why it was not kept; nothing will come of the wait then.
    connect(&stage.live(), &LiveFeed::logged, this, [this](const LogLine& line) {
        if (!m_held || !m_held->waits) return;
        const bool ofCheckpoint = line.subject.kind == Subject::Kind::Checkpoint;
        if (ofCheckpoint && line.level == LogLevel::Info && !line.subject.name.empty()) {
            m_held->path = line.subject.name;
            m_held->step = line.step;
            beginHeld();
        } else if (line.level == LogLevel::Error || (ofCheckpoint && line.level == LogLevel::Warning)) {
            end(plain(line.text));
        }
    });
    connect(&runs, &RunController::phaseChanged, this, &InferenceWiring::lookAgain);
    connect(&runs, &RunController::engineReady, this, &InferenceWiring::lookAgain);
    connect(&running, &RunWiring::takesCommandsChanged, this, &InferenceWiring::lookAgain);
    connect(&stage, &Stage::switched, this, &InferenceWiring::lookAgain);
    connect(&stage, &Stage::started, this, &InferenceWiring::lookAgain);
    lookAgain();
}

InferenceWiring::~InferenceWiring() {
    m_cancel = true;
    ++m_number;
}

void InferenceWiring::choose(const QString& path) {
    if (m_measuring) return;
    m_chosen = path;
    lookAgain();
}

bool InferenceWiring::liveInView() const {
    return m_chosen.isEmpty() && m_runs.training() && !m_stage.replaying();
}

// Looking for a checkpoint reads the session's events and folders: not on this thread.
void InferenceWiring::lookAgain() {
    const std::int64_t session = m_chosen.isEmpty() && !liveInView() ? m_stage.shown().history()->session() : 0;
    m_source = {};
    m_asked = session;
    if (session > 0)
        m_thread.post([this, session, database = m_database] {
            Source found;
            found.session = session;
            const auto path = newestCheckpoint(database, session);
            const auto info = path ? inspectCheckpoint(*path) : Result<CheckpointInfo>(path.error());
            if (info) {
                found.path = *path;
                found.step = info->step;
            } else {
                found.why = plain(info.error().sentence);
            }
            answer(this, [this, found] {
                if (m_asked != found.session) return;
                m_source = found;
                showSource();
            });
        });
    showSource();
}

void InferenceWiring::showSource() {
    InferencePage& page = m_panels.page;
    const bool file = !m_chosen.isEmpty();
    if (m_measuring) return;  // what is measured stays named
    if (m_runs.workbench() == nullptr) return page.setSource(false, "The engine is starting.", file);
    if (m_runs.elsewhere()) return page.setSource(false, m_runs.whyNotMeasured(), file);
    if (liveInView()) {
        const bool ready = m_running.takesCommands();
        return page.setSource(ready,
                              ready ? "The weights of the run in progress, as they are: it keeps a checkpoint and is paused while they are measured."
                                    : "The run is being prepared; its weights can be measured from its first step on.",
                              false);
    }
    if (m_runs.busy())
        return page.setSource(false, "A run or an experiment goes on; stop it first, or wait for its end. Times beside it would mean nothing.", file);
    if (file) return page.setSource(true, "The weights in " + m_chosen, true);
    if (m_source.session > 0) {
        const bool ready = !m_source.path.empty();
        return page.setSource(
            ready,
            ready ? QString("The checkpoint of step %1 of the session that is looked at.").arg(plain(format::count(m_source.step))) : m_source.why,
            false);
    }
    page.setSource(false,
                   m_asked > 0 ? "Looking for a checkpoint of this session…"
                               : "Nothing to measure yet: press Run, double-click a session with a checkpoint, or choose weights below.",
                   false);
}

void InferenceWiring::start(const InferenceQuestion& question) {
    if (m_measuring || m_runs.workbench() == nullptr || m_runs.elsewhere()) return;
    if (liveInView()) {
        if (m_running.takesCommands()) hold(question);
    } else if (!m_runs.busy() && !m_chosen.isEmpty()) {
        measure(question, m_chosen.toStdString(), false);
    } else if (!m_runs.busy() && !m_source.path.empty()) {
        measure(question, m_source.path, false);
    }
}

// It holds still at its next step, with its weights kept: beside it nothing else takes the processors.
void InferenceWiring::hold(const InferenceQuestion& question) {
    Held held;
    held.question = question;
    held.waits = true;
    const auto state = m_stage.live().history()->state();
    held.wasPaused = state && state->state == RunState::Paused;
    m_held = held;
    begin("waiting for the run to hold still", whoseNow());
    m_runs.send(SaveCheckpoint{});
    if (!held.wasPaused) m_runs.send(Pause{});
}

void InferenceWiring::liveStateChanged(const StateChanged& change) {
    if (!m_held) return;
    if (ended(change.state)) {
        const bool waited = m_held->waits;
        m_cancel = true;
        m_held.reset();  // there is nothing to go on
        if (waited) end("The run has ended; its checkpoint can be measured now.");
    } else if (m_held->waits) {
        if (change.state == RunState::Paused) beginHeld();
    } else if (change.state == RunState::Running) {
        m_cancel = true;  // a person wants it to go on
        m_held->wasPaused = true;
    }
}

void InferenceWiring::beginHeld() {
    const auto state = m_stage.live().history()->state();
    if (m_held->path.empty() || !state || state->state != RunState::Paused) return;
    m_held->waits = false;
    measure(m_held->question, m_held->path, true);
}

void InferenceWiring::begin(const QString& doing, const QString& whose) {
    if (hasFigures(m_view)) m_before = m_view;
    m_view = emptyInference();
    m_view.whose = whose;
    takeUp(doing);
}

void InferenceWiring::takeUp(const QString& doing) {
    m_cancel = false;
    m_measuring = true;
    m_view.stage = InferenceView::Stage::Measuring;
    m_view.doing = doing;
    m_view.share = 0;
    ++m_number;
    m_panels.page.setView(m_view);
    // A run that is held still for it may go on at any time; one that begins would end it without a word.
    if (!m_held) m_runs.setTaken(kTaken);
}

QString InferenceWiring::whoseNow() const {
    if (m_held)
        return QString("The weights of the run in progress%1")
            .arg(m_held->path.empty() ? QString() : " after step " + plain(format::count(m_held->step)));
    if (!m_chosen.isEmpty()) return "The weights in " + m_chosen;
    return QString("The checkpoint of step %1 of session %2").arg(plain(format::count(m_source.step))).arg(m_source.session);
}

void InferenceWiring::measure(const InferenceQuestion& question, const std::string& from, bool besideAPausedRun) {
    begin("opening the weights", whoseNow());
    m_thread.post([this, number = m_number, question, from, besideAPausedRun] {
        FormsRequest request = formsRequest(question, from);
        request.besideAPausedRun = besideAPausedRun;
        // Windows of a small model are read in less time than a page is painted in.
        const auto tell = [this, number, told = std::chrono::steady_clock::time_point(), doing = std::string()](const FormsProgress& now,
                                                                                                                const FormsAnswer& soFar) mutable {
            const auto time = std::chrono::steady_clock::now();
            // What begins is always told: nothing more may come of it for many seconds.
            if (now.doing == doing && time - told < kLeastBetween) return;
            told = time;
            doing = now.doing;
            answer(this, [this, number, now, soFar] {
                if (number != m_number || !m_measuring) return;
                m_view.doing = plain(now.doing);
                m_view.share = now.share;
                showForms(soFar, m_view);
                m_panels.page.setView(m_view);
            });
        };
        // Shared: g++ 12 takes the other alternative of a moved variant for one that was never set.
        const auto found = std::make_shared<const Result<FormsAnswer>>(measureForms(request, tell, m_cancel));
        answer(this, [this, number, found] {
            if (number != m_number) return;
            if (*found) {
                m_view.stage = InferenceView::Stage::Found;
                showForms(**found, m_view);
            }
            end(*found ? QString() : plain(found->error().sentence));
        });
    });
}

// The figures that stand there stay: they are of the same weights, or say whose they are.
void InferenceWiring::prune(const PruneWish& wish) {
    if (m_measuring || m_runs.workbench() == nullptr || m_runs.elsewhere()) return;
    if (liveInView() || m_runs.busy()) {
        m_view.stage = InferenceView::Stage::Failed;
        m_view.doing =
            "A pruned checkpoint is made of weights that are on the disk, while nothing trains: stop the run, whose checkpoint can be taken then.";
        return m_panels.page.setView(m_view);
    }
    const std::string from = m_chosen.isEmpty() ? m_source.path : m_chosen.toStdString();
    if (from.empty()) return;
    takeUp("reading the text before and after the pruning");
    m_thread.post([this, number = m_number, wish, request = pruneRequest(wish, from)] {
        const auto tell = [this, number](double share) {
            answer(this, [this, number, share] {
                if (number != m_number || !m_measuring) return;
                m_view.share = share;
                m_panels.page.setView(m_view);
            });
        };
        const auto written = std::make_shared<const Result<PruneAnswer>>(pruneCheckpoint(request, tell, m_cancel));
        answer(this, [this, number, written, wish] {
            if (number != m_number) return;
            if (*written) {
                m_view.stage = InferenceView::Stage::Found;
                m_view.doing = prunedWords(**written, wish);
            }
            end(*written ? QString() : plain(written->error().sentence));
        });
    });
}

void InferenceWiring::end(const QString& failure) {
    m_measuring = false;
    ++m_number;
    if (!failure.isEmpty()) {
        // A mistyped path costs nobody the minutes that were measured before; and an empty table is nobody's.
        if (m_before)
            m_view = *m_before;
        else if (!hasFigures(m_view))
            m_view = emptyInference();
        m_view.stage = InferenceView::Stage::Failed;
        m_view.doing = failure;
    }
    m_before.reset();
    m_panels.page.setView(m_view);
    m_runs.setTaken({});
    letGo();
    lookAgain();
}

void InferenceWiring::letGo() {
    if (m_held && !m_held->wasPaused) m_runs.send(Resume{});
    m_held.reset();
}

}  // namespace stepscope
