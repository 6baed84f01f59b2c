#include "core/train/CaptureWindow.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/base/Format.h"
#include "core/cuda/loader/CudaPlugin.h"
#include "core/events/Event.h"
#include "core/events/ProfileSchedule.h"

namespace stepscope {
namespace {

// What is seen while a capture warms up.
class Nowhere final : public EventSink {
    void publish(Event) override {}
};
Nowhere nowhere;

}  // namespace

std::vector<LastingMemory> lastingMemory(const TrainState& state) {
    std::vector<LastingMemory> all;
    const auto add = [&](MemoryKind kind, const at::Tensor& tensor) {
        if (tensor.defined() && tensor.nbytes() > 0)
            all.push_back({kind, tensor.data_ptr(), static_cast<std::int64_t>(tensor.nbytes()), tensor.is_cpu() ? -1 : tensor.device().index()});
    };
    add(MemoryKind::Weights, state.weights);
    for (const at::Tensor* moment : {&state.firstMoment, &state.secondMoment, &state.firstScales, &state.secondScales})
        add(MemoryKind::Moments, *moment);
    return all;
}

Status CaptureWindow::askSlowest(bool on) {
    if (on == (m_slowest != nullptr)) return {};
    if (m_outlet.sink == nullptr || m_outlet.clock == nullptr)
        return makeError(ErrorCode::Unsupported, "The slowest steps cannot be kept here: there is nothing to keep them in.");
    if (on)
        m_slowest = std::make_unique<SlowestCapture>(m_outlet);
    else
        std::exchange(m_slowest, nullptr)->finish(m_newest);
    return {};
}

Status CaptureWindow::ask(const Capture& wanted) {
    if (wanted.slowest) return askSlowest(*wanted.slowest);
    if (wanted.steps < 1 || wanted.steps > kMostCapturedSteps)
        return makeError(ErrorCode::BadInput, fmt::format("A capture is of 1 to {} steps, not of {}.", kMostCapturedSteps, wanted.steps));
    if (wanted.firstStep < 0) return makeError(ErrorCode::BadInput, fmt::format("A capture cannot begin at step {}.", wanted.firstStep));
    if (wanted.warmUp < 0 || wanted.warmUp > kMostCapturedSteps)
        return makeError(ErrorCode::BadInput, fmt::format("A capture warms up for at most {} steps, not for {}.", kMostCapturedSteps, wanted.warmUp));
    if (m_asked && wanted.firstStep - wanted.warmUp >= endOfAsked()) {
        if (m_later.size() >= kMostCaptureRounds)
            return makeError(ErrorCode::BadInput, fmt::format("At most {} captures wait for their steps.", kMostCaptureRounds));
        m_later.push_back(wanted);
        return {};
    }
    if (m_asked)
        return makeError(ErrorCode::BadInput, capturing()
                                                  ? "Steps are being captured at the moment; ask again when that is done."
                                                  : fmt::format("A capture is to begin at step {}; ask again when it is done.", m_asked->firstStep));
    if (const std::string full = fullWords(); !full.empty())
        return makeError(ErrorCode::BadInput, fmt::format("Nothing more is captured in this session: {}.", full));
    m_asked = wanted;
    return {};
}

// The step behind all that is asked for.
std::int64_t CaptureWindow::endOfAsked() const {
    if (!m_later.empty()) return m_later.back().firstStep + m_later.back().steps;
    return (capturing() && !m_warming ? m_done.firstStep : std::max(m_asked->firstStep, m_newest + 1)) + m_asked->steps;
}

// As far as it is stored, and what other workers hold of the capture that goes on, before it is packed: what the recorder has in hand still comes on
// top.
std::string CaptureWindow::fullWords() const {
    if (m_outlet.cap <= 0 || !m_outlet.stored) return {};
    const std::int64_t stored = m_outlet.stored(), held = capturing() && !m_warming && m_heldByOthers ? m_heldByOthers() : 0;
    if (stored < m_outlet.cap - held) return {};
    const std::string others = held > 0 ? fmt::format(" and {} with the other workers", format::bytes({held})) : std::string();
    return fmt::format("its captures take {} on the disk{}, and {} is the most for a session (--capture-cap)", format::bytes({stored}), others,
                       format::bytes({m_outlet.cap}));
}

void CaptureWindow::before(std::int64_t step, bool onGpu, std::int64_t stepsOfProgram) {
    const bool due = m_asked && step >= m_asked->firstStep - m_asked->warmUp;
    if (m_slowest) m_slowest->before(step, due ? -1 : stepsOfProgram, onGpu || cudaPlugin().onHost);
    if (!due) return;
    const bool warming = step < m_asked->firstStep;
    if (capturing() && warming == m_warming) return;
    m_warming = warming;
    m_done = {.firstStep = step};
    m_outlet.gpu = onGpu || cudaPlugin().onHost;
    m_sources.clear();
    CaptureOutlet outlet = m_outlet;
    if (warming) outlet.sink = &nowhere;
    m_sources = captureSources(*m_asked, outlet);
}

std::optional<CaptureDone> CaptureWindow::after(std::int64_t step, TimeNs begin, TimeNs end, bool disturbed) {
    m_newest = step;
    if (m_slowest && !capturing()) m_slowest->after(step, begin, end, disturbed);
    if (!capturing()) return std::nullopt;
    for (const auto& source : m_sources) source->stepDone();
    if (m_warming) return std::nullopt;
    m_done.step = step;
    m_done.at = end;
    m_done.duration += end - begin;
    m_done.steps += 1;
    if (m_done.steps < m_asked->steps) {
        const std::string full = m_together ? std::string() : fullWords();
        if (full.empty()) return std::nullopt;
        if (m_outlet.sink != nullptr)
            m_outlet.sink->publish(
                LogLine{m_done.at, m_done.step, LogLevel::Warning,
                        fmt::format("The capture ends after {} of {} steps: {}. What was captured is kept.", m_done.steps, m_asked->steps, full)});
    }
    return finish();
}

std::optional<CaptureDone> CaptureWindow::cut() {
    m_later.clear();  // none of them comes any more
    if (capturing() && m_done.steps > 0) return finish();
    m_sources.clear();
    m_asked.reset();
    return std::nullopt;
}

std::optional<CaptureWindow::Ending> CaptureWindow::end(std::int64_t step) {
    if (auto slowest = std::exchange(m_slowest, nullptr)) slowest->finish(step);
    return endOfAll(step, "the run has ended");
}

CaptureWindow::Ending CaptureWindow::stop(std::int64_t step, const std::string& why) {
    if (auto ended = endOfAll(step, why)) return *ended;
    return {"No capture is asked for that could be ended.", std::nullopt};
}

std::optional<CaptureWindow::Ending> CaptureWindow::endOfAll(std::int64_t step, const std::string& why) {
    const auto wanted = asked();
    if (!wanted) return std::nullopt;
    const std::string rest = m_later.empty()       ? std::string(".")
                             : m_later.size() == 1 ? std::string(", and so before one more round.")
                                                   : fmt::format(", and so before {} more rounds.", m_later.size());
    if (auto done = cut()) return Ending{fmt::format("The capture has {} of {} steps: {}{}", done->steps, wanted->steps, why, rest), std::move(done)};
    return Ending{wanted->firstStep > step ? fmt::format("Nothing was captured: {} before step {}{}", why, wanted->firstStep, rest)
                                           : fmt::format("Nothing was captured: {} before another step{}", why, rest),
                  std::nullopt};
}

CaptureDone CaptureWindow::finish() {
    for (const auto& source : m_sources)
        if (auto loss = source->finish(m_done); !loss.empty() && m_outlet.sink != nullptr)
            m_outlet.sink->publish(LogLine{m_done.at, m_done.step, LogLevel::Warning, std::move(loss)});
    m_sources.clear();
    if (m_outlet.recording) m_done.always = m_outlet.recording();
    takeNext();
    return std::exchange(m_done, {});
}

void CaptureWindow::takeNext() {
    m_asked.reset();
    if (m_later.empty()) return;
    if (const std::string full = m_together ? std::string() : fullWords(); !full.empty()) {
        if (m_outlet.sink != nullptr)
            m_outlet.sink->publish(LogLine{m_done.at,
                                           m_done.step,
                                           LogLevel::Warning,
                                           fmt::format("{} more captures that were asked for are not made: {}.", m_later.size(), full),
                                           std::nullopt,
                                           {Subject::Kind::Capture, {}}});
        return m_later.clear();
    }
    m_asked = m_later.front();
    m_later.pop_front();
}

}  // namespace stepscope
