#include "core/train/SlowestCapture.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <mutex>
#include <utility>

#include "core/base/Format.h"
#include "core/events/Event.h"

namespace stepscope {

// What the source hands on comes from several threads.
class SlowestCapture::Holding final : public EventSink {
public:
    void publish(Event) override {}
    void publishChunk(ChunkPtr chunk) override {
        const std::lock_guard lock(m_mutex);
        m_chunks.push_back(std::move(chunk));
    }
    std::vector<ChunkPtr> take() {
        const std::lock_guard lock(m_mutex);
        return std::exchange(m_chunks, {});
    }

private:
    std::mutex m_mutex;
    std::vector<ChunkPtr> m_chunks;
};

SlowestCapture::SlowestCapture(const CaptureOutlet& outlet) : m_outlet(outlet), m_holding(std::make_unique<Holding>()) {}
SlowestCapture::~SlowestCapture() = default;

void SlowestCapture::before(std::int64_t step, std::int64_t stepsOfProgram) {
    m_active = stepsOfProgram >= 0;
    if (!m_active) return rest();
    if (stepsOfProgram <= m_lastOfProgram) m_slow.renew();
    m_lastOfProgram = stepsOfProgram;
    if (!m_slow.observes()) return rest();
    if (m_source) return;
    if (!std::exchange(m_told, true))
        say(step - 1,
            fmt::format("Every step is observed from step {} on, and the slowest are kept; that costs what a capture costs, and no comparison uses "
                        "these steps.",
                        format::count(step)));
    CaptureOutlet outlet = m_outlet;
    outlet.sink = m_holding.get();
    outlet.gpu = false;
    m_source = std::make_unique<OperationSource>(outlet);
}

void SlowestCapture::after(std::int64_t step, TimeNs begin, TimeNs end, bool disturbed) {
    if (!m_active) return;
    const TimeNs took = end - begin, threshold = m_slow.threshold();
    if (m_source) {
        m_source->handOnAll();
        m_held[step] = {begin, end, m_holding->take()};
        m_observed += 1;
    }
    if (disturbed)
        m_slow.pass();
    else if (m_slow.add(took))
        keep({step, took, threshold});
    forget(step);
}

void SlowestCapture::rest() {
    m_source.reset();
    (void)m_holding->take();
}

void SlowestCapture::keep(const Kept& one) {
    m_stoodOut += 1;
    m_kept.push_back(one);
    if (m_kept.size() > kMostKept) m_kept.erase(std::ranges::min_element(m_kept, {}, &Kept::took));
}

bool SlowestCapture::wanted(std::int64_t step) const {
    return std::ranges::any_of(m_kept, [&](const Kept& one) { return std::abs(one.step - step) <= 1; });
}

std::size_t SlowestCapture::bytes() const {
    std::size_t sum = 0;
    for (const auto& [step, held] : m_held)
        for (const auto& chunk : held.chunks) sum += chunk->bytes.size();
    return sum;
}

// The newest may turn out to be the neighbour of the next.
void SlowestCapture::forget(std::int64_t newest) {
    const auto drop = [&] { std::erase_if(m_held, [&](const auto& one) { return one.first != newest && !wanted(one.first); }); };
    drop();
    while (m_kept.size() > 1 && bytes() > kMostBytes) {
        m_kept.erase(std::ranges::min_element(m_kept, {}, &Kept::took));
        drop();
    }
}

void SlowestCapture::makeFit(std::int64_t step) {
    if (m_outlet.cap <= 0 || !m_outlet.stored) return;
    const std::int64_t stored = m_outlet.stored();
    std::size_t leftOut = 0;
    while (!m_kept.empty() && stored + static_cast<std::int64_t>(bytes()) > m_outlet.cap) {
        m_kept.erase(std::ranges::min_element(m_kept, {}, &Kept::took));
        std::erase_if(m_held, [&](const auto& one) { return !wanted(one.first); });
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
    std::erase_if(m_held, [&](const auto& one) { return !wanted(one.first); });
    makeFit(step);
    const RecordingCosts always = m_outlet.recording ? m_outlet.recording() : RecordingCosts{};
    // Steps that follow each other are one capture.
    for (auto at = m_held.begin(); at != m_held.end();) {
        CaptureDone done{.firstStep = at->first, .always = always};
        do {
            for (auto& chunk : at->second.chunks) m_outlet.sink->publishChunk(std::move(chunk));
            done.step = at->first;
            done.at = at->second.end;
            done.duration += at->second.end - at->second.begin;
            done.steps += 1;
            ++at;
        } while (at != m_held.end() && at->first == done.step + 1);
        m_outlet.sink->publish(done);
    }
    std::ranges::sort(m_kept, {}, &Kept::step);
    for (const Kept& one : m_kept)
        say(step, fmt::format("Step {} took {}, beyond the p99 of its Program ({}); it is kept with its neighbours.", format::count(one.step),
                              format::milliseconds(one.took.milliseconds()), format::milliseconds(one.threshold.milliseconds())));
    std::string text = m_observed == 0 ? std::string("No step was observed to keep the slowest: the first 25 of a Program are not.")
                                       : fmt::format("{} steps were observed to keep the slowest; {} stood out and {} are kept.",
                                                     format::count(m_observed), format::count(m_stoodOut), m_kept.size());
    if (const double cost = m_slow.cost(); std::isfinite(cost))
        text += fmt::format(" While observed, the median step took {:.1f} % {} than the {} before.", 100 * std::abs(cost), cost < 0 ? "less" : "more",
                            SlowSteps::kUnobserved);
    say(step, std::move(text));
    m_held.clear();
    m_kept.clear();
}

void SlowestCapture::say(std::int64_t step, std::string text, LogLevel level) const {
    m_outlet.sink->publish(LogLine{m_outlet.clock->now(), step, level, std::move(text)});
}

}  // namespace stepscope
