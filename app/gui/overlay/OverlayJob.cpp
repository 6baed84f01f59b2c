#include "app/gui/overlay/OverlayJob.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "app/gui/process/Application.h"
#include "core/analysis/overlay/RunsOverlay.h"

namespace stepscope {
namespace {

constexpr int kWatchMs = 100;
constexpr unsigned kMostThreads = 4;
constexpr std::size_t kSketchPlaces = 800;     // steps of a sketch: about one for two pixels
constexpr std::size_t kRowsInAll = 3'000'000;  // about 90 bytes each: twenty runs of 150 000 steps are kept step by step
constexpr std::size_t kMostFacts = 100'000;    // of a kind and a run of several: any two may have to be compared

// Of very long runs some of the values, evenly over all: their median hardly differs.
void thin(std::vector<double>& values) {
    const std::size_t every = (values.size() + kMostFacts - 1) / kMostFacts;
    if (every <= 1) return;
    std::vector<double> kept;
    kept.reserve(values.size() / every + 1);
    for (std::size_t at = 0; at < values.size(); at += every) kept.push_back(values[at]);
    values = std::move(kept);
}

void thin(StoredRun& facts) {
    for (auto* values :
         {&facts.steadyMs, &facts.steadyMsPerToken, &facts.othersPct, &facts.stealPct, &facts.throttledPct, &facts.gpuClockMhz, &facts.cpuClockMhz})
        thin(*values);
}

struct Compared {
    QString sentence, more;
};

Compared comparedOf(const std::map<std::int64_t, StoredRun>& facts, std::int64_t a, std::int64_t b) {
    const auto ofA = facts.find(a), ofB = facts.find(b);
    if (ofA == facts.end() || ofB == facts.end()) return {};
    return {QString::fromStdString(sentenceOf(comparabilityOf(ofA->second, ofB->second))),
            QString::fromStdString(ratioSentence(ofA->second, ofB->second))};
}

}  // namespace

// Shared with the threads that read; outlives the job's interest in it.
struct OverlayJob::State {
    std::vector<std::int64_t> sessions;
    std::atomic<std::size_t> next = 0, nextSketch = 0;
    std::vector<std::atomic<double>> shares;
    std::atomic<bool> stop = false;
    std::mutex mutex;
    std::map<std::int64_t, StoredRun> facts;

    explicit State(std::vector<std::int64_t> chosen) : sessions(std::move(chosen)), shares(sessions.size()) {}
    double share() const {
        double sum = 0;
        for (const auto& one : shares) sum += one;
        return shares.empty() ? 1 : sum / static_cast<double>(shares.size());
    }
};

OverlayJob::OverlayJob(std::string database, QObject* parent) : QObject(parent), m_database(std::move(database)) {
    m_watch.setInterval(kWatchMs);
    connect(&m_watch, &QTimer::timeout, this, [this] {
        if (m_state) Q_EMIT progressed(std::min(0.999, m_state->share()));
    });
}

OverlayJob::~OverlayJob() {
    cancel();
}

void OverlayJob::begin(const std::vector<std::int64_t>& sessions) {
    cancel();
    m_state = std::make_shared<State>(sessions);
    m_watch.start();
    m_thread.post([this, state = m_state] {
        const unsigned threads =
            std::min({kMostThreads, std::max(1U, std::thread::hardware_concurrency()), static_cast<unsigned>(state->sessions.size())});
        {
            std::vector<std::jthread> others;
            for (unsigned i = 1; i < threads; ++i) others.emplace_back([this, state] { work(state); });
            work(state);
        }
        finish(state);
    });
}

void OverlayJob::cancel() {
    m_watch.stop();
    if (m_state) m_state->stop = true;
    m_state.reset();
    if (m_kept) release(std::exchange(m_kept, nullptr));
}

void OverlayJob::compare(std::int64_t a, std::int64_t b) {
    if (!m_kept) return;
    m_thread.post([this, kept = m_kept, a, b] {
        const Compared said = comparedOf(kept->facts, a, b);
        if (said.sentence.isEmpty()) return;
        answer(this, [this, kept, a, b, said] {
            if (m_kept == kept) Q_EMIT compared(a, b, said.sentence, said.more);
        });
    });
}

void OverlayJob::release(std::shared_ptr<void> held) {
    m_thread.post([held = std::move(held)]() mutable { held.reset(); });
}

// Any thread. What it found is told only as long as somebody still wants this set.
void OverlayJob::work(const std::shared_ptr<State>& state) {
    try {
        // All lines are seen at once, roughly; then one after the other as they are.
        if (state->sessions.size() > 1)
            for (std::size_t at = state->nextSketch++; at < state->sessions.size() && !state->stop; at = state->nextSketch++) {
                auto sketch = sketchOverlaid(m_database, state->sessions[at], kSketchPlaces);
                if (!sketch || *sketch == nullptr) continue;  // what is wrong with it says whoever reads all of it
                answer(this, [this, state, run = std::move(*sketch)] {
                    if (m_state == state) Q_EMIT this->read(run);
                });
            }
        for (std::size_t at = state->next++; at < state->sessions.size() && !state->stop; at = state->next++) {
            const std::int64_t session = state->sessions[at];
            auto read = readOverlaid(m_database, session, kRowsInAll / state->sessions.size(), [&](double share) {
                state->shares[at] = share;
                return !state->stop;
            });
            state->shares[at] = 1;
            if (state->stop) return;
            if (!read) {
                answer(this, [this, state, session, sentence = QString::fromStdString(read.error().sentence)] {
                    if (m_state == state) Q_EMIT failed(session, sentence);
                });
                continue;
            }
            if (state->sessions.size() > RunsOverlay::kFewest) thin(read->facts);
            {
                std::lock_guard lock(state->mutex);
                state->facts.emplace(session, std::move(read->facts));
            }
            answer(this, [this, state, run = std::move(read->run)] {
                if (m_state == state) Q_EMIT this->read(run);
            });
        }
    } catch (const std::exception& thrown) {
        Application::report(thrown);
    }
}

void OverlayJob::finish(const std::shared_ptr<State>& state) {
    Compared said;
    if (!state->stop && state->sessions.size() == RunsOverlay::kFewest) said = comparedOf(state->facts, state->sessions[0], state->sessions[1]);
    answer(this, [this, state, said] {
        if (m_state != state) return;
        m_kept = std::exchange(m_state, nullptr);
        m_watch.stop();
        Q_EMIT finished(said.sentence, said.more);
    });
}

}  // namespace stepscope
