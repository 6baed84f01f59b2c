// What a FakeWorkbench says of an experiment.
#include "FakeExperiment.h"

#include <chrono>
#include <cmath>

#include "app/workbench/experiments/ExperimentQuestion.h"
#include "core/events/Event.h"
#include "core/trace/SliceCodec.h"
#include "sessions/record/Recorder.h"

namespace stepscope {
namespace {

constexpr int kPilotPairs = 3, kPairsARebuild = 4, kFewest = 8;
constexpr double kStepMs = 60;

}  // namespace

FakeExperiment::FakeExperiment(ExperimentRequest request, FakeExperimentPlan plan, std::shared_ptr<const SessionInfo> info,
                               std::unique_ptr<Recorder> recorder, EventSink& sink)
    : m_request(std::move(request)), m_plan(std::move(plan)), m_info(std::move(info)), m_recorder(std::move(recorder)), m_sink(sink) {
    m_thread = std::jthread([this] { work(); });
}

FakeExperiment::~FakeExperiment() {
    m_stop = true;
    if (m_thread.joinable()) m_thread.join();
}

void FakeExperiment::send(Command command) {
    if (std::holds_alternative<Stop>(command)) m_stop = true;
}

RunSummary FakeExperiment::wait() {
    if (m_thread.joinable()) m_thread.join();
    RunSummary summary;
    summary.session = m_recorder ? m_recorder->session() : 0;
    summary.state = m_state;
    summary.why = m_why;
    return summary;
}

void FakeExperiment::publish(Event event) {
    if (m_recorder) m_recorder->publish(event);
    m_sink.publish(std::move(event));
}

void FakeExperiment::end(RunState state, const std::string& why) {
    m_state = state;
    m_why = why;
    publish(StateChanged{m_clock.now(), 0, state, why});
    if (m_recorder) (void)m_recorder->finish();
    m_done = true;
}

void FakeExperiment::work() {
    publish(StateChanged{m_clock.now(), 0, RunState::Preparing, {}});
    publish(Preparing{m_clock.now(), "reading the text", 0.5});
    if (!m_plan.failure.empty()) return end(RunState::Failed, m_plan.failure);
    publish(SessionStarted{m_recorder ? m_recorder->session() : 0, m_info, false});
    publish(
        ExperimentBegan{.at = m_clock.now(),
                        .configA = configToJson(m_request.a),
                        .configB = configToJson(m_request.b),
                        .question = questionKey(m_request.a, m_request.b, m_request.same, m_info->machine.value(), m_request.from, m_request.init),
                        .same = m_request.same,
                        .seed = m_request.seed,
                        .budgetSeconds = m_request.budgetSeconds,
                        .delta = m_request.delta,
                        .comparison = comparisonNotes(m_request.a, m_request.b),
                        .from = m_request.from,
                        .init = m_request.init});
    publish(StateChanged{m_clock.now(), 0, RunState::Running, {}});
    pilot();
    while (m_pairs + m_left < m_plan.pairs && !m_stop) {
        const int number = m_pairs + m_left;
        const Subject about{Subject::Kind::Database, m_request.database};
        if (number == m_plan.fullFrom)
            m_sink.publish(LogLine{m_clock.now(), 0, LogLevel::Error, "The disk is full; free some room.", ErrorCode::Io, about});
        if (number == m_plan.fullTo) m_sink.publish(LogLine{m_clock.now(), 0, LogLevel::Info, "Storing works again.", {}, about});
        pair(number);
    }
    if (!m_stop && m_pairs > 0)
        for (const Arm arm : {Arm::A, Arm::B}) capture(arm);
    publish(judge(true));
    end(m_stop ? RunState::Stopped : RunState::Finished);
}

// B's step differs in its pointwise work and its head, and by as much as the blocks say.
void FakeExperiment::capture(Arm arm) {
    SliceBlock block{
        .thread = {.process = 1, .thread = 2, .number = 1, .name = "trainer", .lane = arm == Arm::B ? 3 : 0, .rank = arm == Arm::B ? 1 : 0}};
    const double step = kStepMs * (arm == Arm::B ? 1 / m_plan.ratio : 1), saved = kStepMs - kStepMs / m_plan.ratio;
    struct Work {
        const char *name, *phase, *role;
        double ms;
    };
    const double less = arm == Arm::B ? saved : 0;
    const std::vector<Work> works{{"aten::addmm", "forward", "mlp/up", 12},
                                  {"aten::mm", "backward", "mlp/down", 14},
                                  {"aten::gelu", "forward", "mlp/up", 8 - 0.6 * less},
                                  {"aten::native_layer_norm", "forward", "norm1", 3},
                                  {"attention", "forward", "attention/core", 5},
                                  {"aten::mm", "backward", "head/loss", 9 - 0.4 * less},
                                  {"aten::_fused_adamw_", "optimizer", "optimizer", 2}};
    for (const Work& work : works)
        for (const char* text : {work.name, work.phase, work.role}) block.strings.emplace_back(text);
    std::int64_t at = m_clock.now().ns;
    for (std::int64_t number = 1; number <= 6; ++number) {
        const auto whole = static_cast<std::int64_t>(step * 1e6 * (1 + 0.01 * static_cast<double>(number % 3)));
        block.slices.push_back({.start = at, .duration = whole, .called = 0, .kind = SliceKind::Step, .step = number});
        const std::size_t mine = block.slices.size() - 1;
        std::int64_t inside = at;
        for (std::uint32_t i = 0; i < works.size(); ++i) {
            const auto ns = static_cast<std::int64_t>(works[i].ms * 1e6 * (1 + 0.02 * static_cast<double>((number + i) % 3)));
            block.slices.push_back(
                {.start = inside, .duration = ns, .name = 1 + 3 * i, .phase = 2 + 3 * i, .role = 3 + 3 * i, .depth = 1, .layer = 0, .step = number});
            inside += ns;
        }
        block.slices[mine].called = std::min(whole, inside - at);
        at += std::max(whole, inside - at);
    }
    const auto chunk = std::make_shared<const Chunk>(encodeSlices(block));
    if (m_recorder) m_recorder->publishChunk(chunk);
    m_sink.publishChunk(chunk);
}

void FakeExperiment::pilot() {
    for (int i = 0; i < 2 * kPilotPairs && !m_stop; ++i) block(-1, i % 2 == 1, i % 2 == 0 ? Arm::A : Arm::B);
}

void FakeExperiment::block(int pair, bool second, Arm arm) {
    std::this_thread::sleep_for(std::chrono::microseconds(m_plan.usAPair / 2));
    const double ms = kStepMs * (arm == Arm::B ? 1 / m_plan.ratio : 1);
    BlockDone done;
    done.step = 8 * (std::max(pair, 0) + 1);
    done.at = m_clock.now();
    done.steps = 8;
    done.tokens = 8 * 1536;
    done.duration = TimeNs::fromSeconds(8 * ms / 1e3);
    done.median = TimeNs::fromSeconds(ms / 1e3);
    done.slowest = TimeNs::fromSeconds(1.3 * ms / 1e3);
    done.pair = pair;
    done.arm = arm;
    done.second = second;
    done.rebuild = std::max(pair, 0) / kPairsARebuild;
    done.loss = 4.1 + (arm == Arm::B ? 0.002 : 0);
    done.pageFaults = arm == Arm::A ? 80 : 8;
    done.peakBytes = arm == Arm::A ? 67e6 : 46e6;
    done.operations = arm == Arm::A ? 412 : 388;
    publish(done);
}

void FakeExperiment::pair(int number) {
    const bool bFirst = number % 3 == 1, left = m_plan.leavesOut && number % 7 == 5;
    block(number, false, bFirst ? Arm::B : Arm::A);
    block(number, true, bFirst ? Arm::A : Arm::B);
    ++(left ? m_left : m_pairs);
    ExperimentJudged judged = judge(false);
    judged.pair = number;
    judged.rebuild = number / kPairsARebuild;
    judged.discarded = left;
    judged.difference = std::log(m_plan.ratio) + m_plan.scatter * std::sin(12.9898 * (number + 1)) + (left ? 4 * m_plan.scatter : 0);
    publish(judged);
}

ExperimentJudged FakeExperiment::judge(bool over) const {
    ExperimentJudged judged;
    judged.at = m_clock.now();
    judged.over = over;
    judged.pairs = m_pairs;
    judged.left = m_left;
    judged.rebuilds = m_pairs / kPairsARebuild + 1;
    judged.seconds = m_clock.now().seconds();
    judged.outcome = "inconclusive";
    judged.reason = "too-few-pairs";
    judged.high = std::numeric_limits<double>::infinity();
    judged.low = 0;
    if (m_pairs > 0) judged.ratio = m_plan.ratio;
    if (m_pairs >= 4) {
        const double half = 4 * m_plan.scatter / std::sqrt(m_pairs);
        judged.low = m_plan.ratio * std::exp(-half);
        judged.high = m_plan.ratio * std::exp(half);
        judged.floor = 1 + half / 2;
    }
    if (m_pairs < kFewest) {
        judged.secondsToGo = 20;
        if (over) judged.why = "It was stopped after " + std::to_string(m_pairs) + " pairs, too few to say anything.";
        return judged;
    }
    judged.outcome = m_plan.outcome;
    judged.reason = m_plan.reason;
    judged.why = m_plan.why;
    return judged;
}

}  // namespace stepscope
