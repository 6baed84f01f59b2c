#include "core/train/SlowestCapture.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <mutex>
#include <utility>

#include "core/base/Format.h"
#include "core/events/Event.h"
#include "core/trace/Note.h"
#include "core/trace/SampleCodec.h"
#include "core/trace/SliceCodec.h"

namespace stepscope {

// What sources hand on comes from several threads, and is taken behind each step: one step alone may have more than there is room for.
class SlowestCapture::Holding final : public EventSink {
public:
    explicit Holding(std::size_t most) : m_most(most) {}
    void publish(Event) override {}
    void publishChunk(ChunkPtr chunk) override {
        const std::lock_guard lock(m_mutex);
        if (m_bytes + chunk->bytes.size() > m_most) chunk = onlyLost(*chunk);
        if (!chunk) return;
        m_bytes += chunk->bytes.size();
        m_chunks.push_back(std::move(chunk));
    }
    std::vector<ChunkPtr> take() {
        const std::lock_guard lock(m_mutex);
        m_bytes = 0;
        return std::exchange(m_chunks, {});
    }

private:
    const std::size_t m_most;
    std::mutex m_mutex;
    std::size_t m_bytes = 0;
    std::vector<ChunkPtr> m_chunks;
};

SlowestCapture::SlowestCapture(const CaptureOutlet& outlet, std::size_t mostBytes)
    : m_outlet(outlet), m_most(mostBytes), m_holding(std::make_unique<Holding>(mostBytes)), m_late(std::make_unique<Holding>(mostBytes)) {}
SlowestCapture::~SlowestCapture() = default;

void SlowestCapture::before(std::int64_t step, std::int64_t stepsOfProgram, bool onGpu) {
    m_active = stepsOfProgram >= 0;
    if (!m_active) return rest();
    if (stepsOfProgram <= m_lastOfProgram) m_slow.renew();
    m_lastOfProgram = stepsOfProgram;
    if (!m_slow.observes()) return rest();
    if (!observing()) observe(step, onGpu);
    for (const auto& source : m_sources) source->stepBegins();
}

void SlowestCapture::observe(std::int64_t step, bool onGpu) {
    if (!std::exchange(m_told, true))
        say(step - 1,
            fmt::format("Every step is observed from step {} on, and the slowest are kept; that costs what a capture costs, and no comparison uses "
                        "these steps.",
                        format::count(step)));
    CaptureOutlet outlet = m_outlet;
    outlet.sink = m_holding.get();
    outlet.late = m_late.get();
    outlet.gpu = onGpu;
    m_seen = {.step = step - 1, .at = m_outlet.clock->now(), .firstStep = step};
    m_sources = captureSources(Capture{.slowest = true}, outlet);
    // Why one of them cannot be had is known by now, and is not the end's to say, which may be hours away.
    takeLate();
    for (const std::string& note : m_notes) sayOnce(step - 1, note);
}

void SlowestCapture::after(std::int64_t step, TimeNs begin, TimeNs end, bool disturbed) {
    if (!m_active) return;
    const TimeNs took = end - begin, threshold = m_slow.threshold();
    if (observing()) {
        for (const auto& source : m_sources) source->stepEnds(end);
        m_held.add(step, {begin, end, m_holding->take()});
        m_observed += 1;
        m_seen.step = step;
        m_seen.at = end;
        m_seen.duration += end - begin;
        m_seen.steps += 1;
    }
    if (disturbed)
        m_slow.pass();
    else if (m_slow.add(took))
        keep({step, took, threshold});
    m_held.drop([this](std::int64_t one) { return wanted(one); }, true);
    takeLate();
    m_held.sortIn(false);
    forget(true);
}

// What comes with the end of the sources is of steps that have been told of, or of none.
void SlowestCapture::rest() {
    if (!observing()) return;
    for (const auto& source : m_sources)
        if (const std::string loss = source->finish(m_seen); !loss.empty()) sayOnce(m_seen.step, loss);
    m_sources.clear();
    (void)m_holding->take();
    takeLate();
    m_held.sortIn(true);
}

void SlowestCapture::takeLate() {
    for (ChunkPtr& chunk : m_late->take()) {
        if (isSlices(chunk->kind) || chunk->kind == kSamples) {
            m_held.addLate(std::move(chunk));
        } else if (chunk->kind != kNote) {
            const std::pair key(chunk->kind, chunk->lane);
            m_facts[key] = std::move(chunk);
        } else if (chunk->lane == kCounterNotes) {
            m_counterNote = noteOf(*chunk);
        } else if (std::string note = noteOf(*chunk); std::ranges::find(m_notes, note) == m_notes.end()) {
            m_notes.push_back(std::move(note));
        }
    }
}

void SlowestCapture::keep(const Kept& one) {
    m_stoodOut += 1;
    m_kept.push_back(one);
    if (m_kept.size() > kMostKept) dropFastest();
}

void SlowestCapture::dropFastest() {
    m_kept.erase(std::ranges::min_element(m_kept, {}, &Kept::took));
}

bool SlowestCapture::wanted(std::int64_t step) const {
    return std::ranges::any_of(m_kept, [&](const Kept& one) { return std::abs(one.step - step) <= 1; });
}

void SlowestCapture::forget(bool andNewest) {
    const auto drop = [&] { m_held.drop([this](std::int64_t step) { return wanted(step); }, andNewest); };
    drop();
    while (m_kept.size() > 1 && m_held.bytes() > m_most) {
        dropFastest();
        drop();
    }
}

void SlowestCapture::makeFit(std::int64_t step) {
    if (m_outlet.cap <= 0 || !m_outlet.stored) return;
    const std::int64_t stored = m_outlet.stored();
    std::size_t leftOut = 0;
    while (!m_kept.empty() && stored + static_cast<std::int64_t>(m_held.bytes()) > m_outlet.cap) {
        dropFastest();
        forget(false);
        ++leftOut;
    }
    if (leftOut > 0)
        say(step,
            fmt::format("{} of the slowest steps are left out: the session's captures take {} on the disk, and {} is the most for a session "
                        "(--capture-cap).",
                        leftOut, format::bytes({stored}), format::bytes({m_outlet.cap})),
            LogLevel::Warning);
}

void SlowestCapture::finish(std::int64_t step) {
    rest();
    forget(false);
    makeFit(step);
    const RecordingCosts always = m_outlet.recording ? m_outlet.recording() : RecordingCosts{};
    auto held = m_held.take();
    if (!held.empty()) {
        const TimeNs first = held.begin()->second.begin;
        for (const auto& [key, facts] : m_facts) m_outlet.sink->publishChunk(facts);
        for (const std::string& note : m_notes) m_outlet.sink->publishChunk(noteChunk(note, first));
        if (!m_counterNote.empty()) m_outlet.sink->publishChunk(noteChunk(m_counterNote, first, kCounterNotes));
    }
    // Steps that follow each other are one capture.
    for (auto at = held.begin(); at != held.end();) {
        CaptureDone done{.firstStep = at->first, .always = always};
        do {
            done.step = at->first;
            done.at = std::max(done.at, at->second.end);
            // A capture's blocks are told from those of the next one by when they begin, and a GPU may have been at the last of them when the step
            // ended.
            for (auto& chunk : at->second.chunks) {
                done.at = std::max(done.at, chunk->begin);
                m_outlet.sink->publishChunk(std::move(chunk));
            }
            done.duration += at->second.end - at->second.begin;
            done.steps += 1;
            ++at;
        } while (at != held.end() && at->first == done.step + 1);
        m_outlet.sink->publish(done);
    }
    std::ranges::sort(m_kept, {}, &Kept::step);
    for (const Kept& one : m_kept)
        say(step,
            fmt::format("Step {} took {}, beyond the 99th percentile of steps with these switches ({}); it is kept with its neighbours.",
                        format::count(one.step), format::milliseconds(one.took.milliseconds()), format::milliseconds(one.threshold.milliseconds())));
    std::string text = m_observed == 0 ? std::string("No step was observed to keep the slowest: the first 25 are not, nor the first 25 after a flip.")
                                       : fmt::format("{} steps were observed to keep the slowest; {} stood out and {} are kept.",
                                                     format::count(m_observed), format::count(m_stoodOut), m_kept.size());
    if (const double cost = m_slow.cost(); std::isfinite(cost))
        text += fmt::format(" While observed, the median step took {:.1f} % {} than the {} before.", 100 * std::abs(cost), cost < 0 ? "less" : "more",
                            SlowSteps::kUnobserved);
    say(step, std::move(text));
    m_kept.clear();
}

void SlowestCapture::say(std::int64_t step, std::string text, LogLevel level) const {
    m_outlet.sink->publish(LogLine{m_outlet.clock->now(), step, level, std::move(text)});
}

// Sources are made anew for each Program, and would say it each time.
void SlowestCapture::sayOnce(std::int64_t step, const std::string& text) {
    if (m_said.insert(text).second) say(step, text, LogLevel::Warning);
}

}  // namespace stepscope
