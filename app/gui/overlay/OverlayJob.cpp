#include "app/gui/overlay/OverlayJob.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <thread>

#include "app/gui/process/Application.h"
#include "core/analysis/overlay/RunsOverlay.h"

namespace stepscope {
namespace {

constexpr int kWatchMs = 100;
constexpr unsigned kMostThreads = 4;
constexpr std::size_t kSketchPlaces = 800;     // steps of a sketch: about one for two pixels
constexpr std::size_t kRowsInAll = 3'000'000;  // about 90 bytes each: twenty runs of 150 000 steps are kept step by step

}  // namespace

// Shared with the threads that read; outlives the job's interest in it.
struct OverlayJob::State {
    std::vector<std::int64_t> sessions;
    std::atomic<std::size_t> next = 0, nextSketch = 0;
    std::vector<std::atomic<double>> shares;
    std::atomic<bool> stop = false;
    std::mutex mutex;
    std::map<std::int64_t, StoredRun> facts;  // of two

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
            if (state->sessions.size() == RunsOverlay::kFewest) {
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
    QString sentence, more;
    if (!state->stop && state->sessions.size() == 2 && state->facts.size() == 2) {
        const StoredRun &a = state->facts.at(state->sessions[0]), &b = state->facts.at(state->sessions[1]);
        sentence = QString::fromStdString(sentenceOf(comparabilityOf(a, b)));
        more = QString::fromStdString(ratioSentence(a, b));
    }
    answer(this, [this, state, sentence, more] {
        if (m_state != state) return;
        m_state.reset();
        m_watch.stop();
        Q_EMIT finished(sentence, more);
    });
}

}  // namespace stepscope
