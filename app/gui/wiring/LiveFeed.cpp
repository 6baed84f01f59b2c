#include "app/gui/wiring/LiveFeed.h"

#include <QElapsedTimer>

#include "app/gui/wiring/LogSentences.h"
#include "core/events/Event.h"
#include "widgets/panels/LogModel.h"

namespace stepscope {
namespace {

constexpr qint64 kTickBudgetNs = 8'000'000;
constexpr std::size_t kBacklog = 2000;  // from here on device samples that follow each other directly become one

}  // namespace

LiveFeed::LiveFeed(QObject* parent) : QObject(parent), m_history(std::make_shared<RunHistory>()), m_log(new LogModel(this)) {
    m_timer.setInterval(kTickMs);
    connect(&m_timer, &QTimer::timeout, this, &LiveFeed::tick);
}

LiveFeed::~LiveFeed() = default;

void LiveFeed::publish(Event event) {
    push(std::move(event));
}

void LiveFeed::rewind(const Replayer::Jump& jump) {
    push(std::make_shared<const Replayer::Jump>(jump));
}

void LiveFeed::push(Item item) {
    m_channel.push(std::move(item));
    // One message into the event loop per quiet time, not one per event.
    if (!m_awake.exchange(true))
        QMetaObject::invokeMethod(
            this, [this] { wake(); }, Qt::QueuedConnection);
}

void LiveFeed::wake() {
    if (!m_timer.isActive()) m_timer.start();
    tick();
}

void LiveFeed::setHidden(bool hidden) {
    m_timer.setInterval(hidden ? kHiddenTickMs : kTickMs);
}

void LiveFeed::forget() {
    m_history = std::make_shared<RunHistory>();
    m_log->clear();
    m_lines.clear();
    m_prepares.reset();
    m_over = true;
    m_batch.clear();
    m_next = 0;
    std::vector<Item> dropped;
    m_channel.drain(dropped);
}

void LiveFeed::tick() {
    if (m_next >= m_batch.size()) {
        m_channel.drain(m_batch);
        m_next = 0;
    }
    if (m_batch.empty()) {
        m_timer.stop();
        m_awake = false;
        // An event pushed between the drain and here saw m_awake still set and woke nobody.
        if (m_channel.size() > 0 && !m_awake.exchange(true)) m_timer.start();
        return;
    }
    QElapsedTimer clock;
    clock.start();
    const bool backlog = m_batch.size() > kBacklog;
    while (m_next < m_batch.size() && (m_next % 64 != 0 || clock.nsecsElapsed() < kTickBudgetNs)) {
        const bool superseded = backlog && isSample(m_next) && isSample(m_next + 1);
        // Taken out first: who is told of it may call forget(), and others are told of it after them.
        const Item now = std::move(m_batch[m_next]);
        if (!superseded) std::visit([this](const auto& item) { take(item); }, now);
        if (m_next >= m_batch.size()) break;  // somebody who was told called forget()
        ++m_next;
    }
    m_log->add(std::exchange(m_lines, {}));
    Q_EMIT grew();
}

bool LiveFeed::isSample(std::size_t place) const {
    const Event* event = place < m_batch.size() ? std::get_if<Event>(&m_batch[place]) : nullptr;
    return event != nullptr && std::holds_alternative<DeviceSample>(*event);
}

void LiveFeed::take(const Rewind& back) {
    m_history->rewind(back->to, back->standing);
    m_log->add(std::exchange(m_lines, {}));
    m_log->rewind(back->to);
    Q_EMIT rewound();
}

void LiveFeed::take(const Event& event) {
    m_history->append(event);
    if (std::holds_alternative<SessionStarted>(event)) {
        // A replay has its log to itself; a new live run continues the window's.
        if (m_history->replay()) {
            m_lines.clear();
            m_log->clear();
        } else {
            for (auto& line : m_lines) line.step = 0;
            m_log->forgetSteps();
        }
    }
    const bool question = isQuestion(event);
    if (auto line = logSentence(event, startOf(event), m_history.get()); line && !question) m_lines.push_back(std::move(*line));
    tell(event);
}

// A run that is refused has no session and so no begin of its own; what it says has nothing to do with the session before it, which is still shown.
std::int64_t LiveFeed::startOf(const Event& event) {
    const std::int64_t now = QDateTime::currentMSecsSinceEpoch();
    if (std::holds_alternative<SessionStarted>(event)) {
        m_prepares.reset();
        m_over = false;
    } else if (const auto* change = std::get_if<StateChanged>(&event)) {
        if (m_over && change->state == RunState::Preparing) m_prepares = now - change->at.ns / 1'000'000;
        m_over = m_over || ended(change->state);
    }
    if (m_prepares) return *m_prepares;
    return m_history->info() ? m_history->info()->startedUnixMs : now;
}

// A measurement that may move the loss is refused until a person agrees: the strip asks, and a warning in the log would tell of a fault.
bool LiveFeed::isQuestion(const Event& event) {
    const auto* line = std::get_if<LogLine>(&event);
    return line != nullptr && line->subject.kind == Subject::Kind::Loss;
}

void LiveFeed::tell(const Event& event) {
    std::visit(Visitor{
                   [this](const SessionStarted&) { Q_EMIT started(); },
                   [](const StepDone&) {},
                   [](const ValidationDone&) {},
                   [this](const SwitchApplied& e) { Q_EMIT switchApplied(e); },
                   [this](const SwitchRefused& e) { Q_EMIT switchRefused(e); },
                   [this](const DeviceSample& e) { Q_EMIT sampled(e); },
                   [this](const LogLine& e) { Q_EMIT logged(e); },
                   [this](const StateChanged& e) { Q_EMIT stateChanged(e); },
                   [this](const CheckpointSaved& e) { Q_EMIT checkpointSaved(e); },
                   [this](const TextGenerated& e) { Q_EMIT textGenerated(e); },
                   [](const Preparing&) {},
                   [](const RecorderWaited&) {},
                   [this](const CaptureDone& e) { Q_EMIT captured(e); },
                   [&](const ExperimentBegan&) { Q_EMIT experimented(event); },
                   [&](const BlockDone&) { Q_EMIT experimented(event); },
                   [&](const ExperimentJudged&) { Q_EMIT experimented(event); },
                   [](const StudyBegan&) {},
                   [](const StudyRow&) {},
               },
               event);
}

}  // namespace stepscope
