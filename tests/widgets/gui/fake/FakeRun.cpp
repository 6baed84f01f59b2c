// What a FakeWorkbench says of a run.
#include "FakeRun.h"

#include <algorithm>
#include <cmath>

#include "FakeWorkbench.h"
#include "core/events/ConfigJson.h"
#include "core/events/Event.h"
#include "core/events/Schedule.h"
#include "core/trace/Note.h"
#include "core/trace/SliceCodec.h"
#include "sessions/record/Recorder.h"

namespace stepscope {
namespace {

// Of each step 40 operations of two layers.
constexpr std::int64_t kFakeStepNs = 4'000'000;

SliceBlock fakeSlices(std::int64_t at, std::int64_t first, std::int64_t steps) {
    SliceBlock block{.thread = {.process = 1, .thread = 2, .number = 1, .name = "trainer"}};
    block.strings = {"",
                     "aten::addmm",
                     "aten::gelu",
                     "aten::_scaled_dot_product_flash_attention_for_cpu_backward",
                     "AddmmBackward0",
                     "forward",
                     "backward",
                     "mlp/up",
                     "mlp/down",
                     "attention/core"};
    block.arguments.push_back({.text = "Float[64] Float[48,16] Float[16,64]", .flops = 15'000'000, .bytes = 200'000});
    block.arguments.push_back({.text = "Float[48,64]", .bytes = 1'400'000});
    block.arguments.push_back({.text = "Float[4,2,12,8]", .flops = 4'000'000, .bytes = 1'600'000});
    for (std::int64_t step = first; step < first + steps; ++step) {
        block.slices.push_back({.start = at, .duration = kFakeStepNs, .kind = SliceKind::Step, .step = step});
        for (std::uint32_t i = 0; i < 40; ++i)
            block.slices.push_back({.start = at + 90'000 * i,
                                    .duration = 80'000 - 1'000 * static_cast<std::int64_t>(i),
                                    .name = 1 + i % 4,
                                    .phase = 5 + (i % 4) / 2,
                                    .role = 7 + i % 3,
                                    .arguments = i % 4 < 3 ? 1 + i % 4 : 0,
                                    .depth = 1,
                                    .layer = static_cast<std::int32_t>(i % 2),
                                    .step = step});
        at += kFakeStepNs;
    }
    return block;
}

constexpr int kFakeBlock = 20, kFakePilotPairs = 2, kFakePairs = 8;  // steps; pairs of blocks

}  // namespace

FakeRun::FakeRun(RunRequest request, std::shared_ptr<const SessionInfo> info, std::unique_ptr<Recorder> recorder, EventSink& sink, double stepMs,
                 std::string refusal)
    : m_request(std::move(request)),
      m_info(std::move(info)),
      m_recorder(std::move(recorder)),
      m_sink(sink),
      m_stepMs(stepMs),
      m_refusal(std::move(refusal)),
      m_config(*m_info->config) {
    m_thread = std::jthread([this] { work(); });
}

FakeRun::~FakeRun() {
    m_commands.push(Stop{});
    if (m_thread.joinable()) m_thread.join();
}

RunSummary FakeRun::wait() {
    if (m_thread.joinable()) m_thread.join();
    RunSummary summary;
    summary.session = m_recorder ? m_recorder->session() : 0;
    summary.state = m_state;
    summary.steps = m_step;
    summary.lossLast = m_loss;
    if (m_step >= 100) summary.validationLoss = m_loss + 0.08;
    summary.msPerStepMedian = m_stepMs;
    summary.tokensPerSecond = 12 * 128 / (m_stepMs / 1000);
    summary.peakMemoryBytes = 412'000'000;
    summary.lostCheckpoints = fakeLosesCheckpoints() ? 1 : 0;
    return summary;
}

void FakeRun::publish(Event event) {
    if (m_recorder) m_recorder->publish(event);
    m_sink.publish(std::move(event));
}

void FakeRun::setState(RunState state, std::string why) {
    m_state = state;
    publish(StateChanged{m_clock.now(), m_step, state, std::move(why)});
}

void FakeRun::sample() {
    DeviceSample sample;
    sample.at = m_clock.now();
    sample.cpuPct = 93 + 5 * std::sin(static_cast<double>(m_step));
    sample.residentBytes = 412'000'000;
    sample.availableBytes = 7'300'000'000;
    publish(sample);
}

void FakeRun::work() {
    if (!m_refusal.empty()) {
        setState(RunState::Preparing);
        publish(Preparing{m_clock.now(), "Reading the text", 0.5});
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        publish(LogLine{m_clock.now(), 0, LogLevel::Error, m_refusal});
        setState(RunState::Failed, m_refusal);
        m_done = true;
        return;
    }
    publish(SessionStarted{m_recorder ? m_recorder->session() : 0, m_info, false});
    setState(RunState::Preparing);
    publish(Preparing{m_clock.now(), "tokenising", 0.5});
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    setState(RunState::Running);
    std::vector<Command> commands;
    while (m_step < m_config.steps) {
        m_commands.drainFor(commands, std::chrono::milliseconds(m_paused ? 50 : 0));
        for (const auto& command : commands)
            if (!obey(command)) {
                setState(RunState::Stopped);
                if (m_recorder) (void)m_recorder->finish();
                m_done = true;
                return;
            }
        if (!m_paused) step();
    }
    setState(RunState::Finished);
    if (m_recorder) (void)m_recorder->finish();
    m_done = true;
}

void FakeRun::step() {
    const bool fast = m_config.has("amp") && m_config.word("amp") != "off";
    const double ms = m_stepMs * (fast ? 0.5 : 1.0) * (1 + 0.08 * std::sin(static_cast<double>(m_step * m_step)));
    std::this_thread::sleep_for(std::chrono::microseconds(static_cast<int>(ms * 1000)));
    ++m_step;
    StepDone done;
    done.step = m_step;
    done.at = m_clock.now();
    done.duration = TimeNs::fromSeconds(ms / 1000);
    m_loss = 1.7 + 3.8 * std::exp(-static_cast<double>(m_step) / 180) + 0.12 * std::sin(static_cast<double>(m_step) * 12.9898);
    done.loss = m_loss;
    done.learningRate = learningRate(m_config, m_step);
    done.gradientNorm = 1 + 0.3 * std::sin(static_cast<double>(m_step) * 0.7);
    done.tokens = 12 * 128;
    const double shares[kPhases] = {0.03, 0.0, 0.34, 0.5, 0.04, 0.08};
    for (std::size_t i = 0; i < kPhases; ++i) done.phaseNs[i] = static_cast<std::int64_t>(ms * 1e6 * shares[i]);
    done.residentBytes = 412'000'000;
    done.allocatedBytes = 96'000'000;
    done.disturbed = m_measured.has_value();
    publish(done);
    for (const Capture& round : m_rounds)
        if (round.firstStep + round.steps - 1 == m_step) capture(round.firstStep, round.steps);
    turn();
    if (m_step % 25 == 1) sample();
    if (m_step % 100 == 0) publish(ValidationDone{m_step, m_clock.now(), TimeNs{40'000'000}, m_loss + 0.08});
}

void FakeRun::capture(std::int64_t firstStep, std::int64_t steps) {
    const TimeNs took{steps * kFakeStepNs};
    const std::int64_t begin = std::max<std::int64_t>(0, m_clock.now().ns - took.ns);
    const auto slices = std::make_shared<const Chunk>(encodeSlices(fakeSlices(begin, firstStep, steps)));
    if (m_recorder) m_recorder->publishChunk(slices);
    if (m_recorder)
        m_recorder->publishChunk(
            noteChunk("Hardware counters: this machine exposes no counters, as most virtual machines do not; times are "
                      "recorded all the same.",
                      m_clock.now(), kCounterNotes));
    m_sink.publishChunk(slices);
    publish(CaptureDone{.step = m_step, .at = m_clock.now(), .duration = took, .firstStep = firstStep, .steps = steps, .operations = 41});
}

// Two steps a block, eight pairs; "bf16" is faster, whatever else there is is not.
void FakeRun::measure(const Measure& asked) {
    const Value from = m_config.switches[asked.id];
    if (asked.id == "amp" && !asked.lossMayMove) {
        publish(SwitchRefused{m_step, m_clock.now(), asked.id, asked.value, "The loss may move.", ErrorCode::BadInput, {Subject::Kind::Loss, {}}});
        return;
    }
    m_measured = asked;
    m_blocks = 0;
    RunConfig other = m_config;
    other.switches[asked.id] = asked.value;
    publish(ExperimentBegan{.step = m_step, .at = m_clock.now(), .configA = configToJson(m_config), .configB = configToJson(other), .delta = 0.01});
}

void FakeRun::judge(bool over, const std::string& outcome) {
    if (!m_measured) return;
    ExperimentJudged judged;
    judged.step = m_step;
    judged.at = m_clock.now();
    judged.over = over;
    judged.pair = m_blocks / 2 - 1;
    judged.pairs = std::max(0, m_blocks / 2 - kFakePilotPairs);
    judged.outcome = outcome;
    const bool slower = outcome == "slower";
    judged.ratio = slower ? 1 / 1.24 : 1.24;
    judged.low = slower ? 1 / 1.28 : 1.2;
    judged.high = slower ? 1 / 1.2 : 1.28;
    judged.floor = 1.01;
    judged.secondsToGo = over ? 0 : 20;
    publish(judged);
    if (!over) return;
    const Measure asked = *std::exchange(m_measured, std::nullopt);
    if (outcome != "faster") return;
    const Value from = m_config.switches[asked.id];
    m_config.switches[asked.id] = asked.value;
    // Not in the words of a real run: nobody may depend on them.
    publish(SwitchApplied{m_step, m_clock.now(), asked.id, from, asked.value, "in other words"});
}

void FakeRun::turn() {
    if (!m_measured || m_step % kFakeBlock != 0) return;
    const Arm arm = m_blocks % 2 == 0 ? Arm::A : Arm::B;
    const bool fast = m_measured->value == Value{std::string("bf16")};  // the value that was asked for
    const int pair = m_blocks / 2 - kFakePilotPairs;
    publish(BlockDone{.step = m_step,
                      .at = m_clock.now(),
                      .duration = TimeNs::fromSeconds(kFakeBlock * ((arm == Arm::B) == fast ? 0.0500 : 0.0620)),
                      .pair = std::max(-1, pair),
                      .arm = arm,
                      .second = arm == Arm::B,
                      .steps = kFakeBlock,
                      .tokens = kFakeBlock * 1536,
                      .peakBytes = (arm == Arm::B) == fast ? 46e6 : 67e6});
    ++m_blocks;
    if (m_blocks % 2 != 0 || pair < 0) return;
    judge(pair + 1 == kFakePairs, pair + 1 < kFakePairs ? "inconclusive" : fast ? "faster" : "slower");
}

bool FakeRun::obey(const Command& command) {
    return std::visit(
        Visitor{
            [this](const Pause&) {
                m_paused = true;
                setState(RunState::Paused);
                return true;
            },
            [this](const Resume&) {
                m_paused = false;
                setState(RunState::Running);
                return true;
            },
            [](const Stop&) { return false; },
            [this](const Flip& flip) {
                const auto* number = std::get_if<std::int64_t>(&flip.value);
                if (flip.value == Value{std::string("fp16")}) {
                    publish(SwitchRefused{m_step, m_clock.now(), flip.id, flip.value, "This CPU has no float16 arithmetic."});
                } else if (flip.id == "batch-size" && number != nullptr && *number > 10'000) {
                    publish(SwitchRefused{m_step, m_clock.now(), flip.id, flip.value, "That takes more memory than there is."});
                } else {
                    const Value from = m_config.switches[flip.id];
                    m_config.switches[flip.id] = flip.value;
                    publish(SwitchApplied{m_step, m_clock.now(), flip.id, from, flip.value, ""});
                }
                return true;
            },
            [this](const Reseed& asked) {
                publish(LogLine{m_clock.now(), m_step, LogLevel::Info, "Batches are drawn with seed " + std::to_string(asked.seed) + "."});
                return true;
            },
            [this](const SaveCheckpoint&) {
                if (std::exchange(m_kept, m_step) == m_step)
                    publish(LogLine{m_clock.now(), m_step, LogLevel::Info, "It is kept already.", {}, {Subject::Kind::Checkpoint, "checkpoint"}});
                else
                    publish(CheckpointSaved{m_step, m_clock.now(), TimeNs{1'000'000}, "checkpoint"});
                return true;
            },
            [this](const ValidateNow&) {
                publish(ValidationDone{m_step, m_clock.now(), TimeNs{40'000'000}, m_loss + 0.08});
                return true;
            },
            [this](const GenerateText& wanted) {
                std::vector<std::string> prompts{wanted.prompt};
                prompts.insert(prompts.end(), wanted.besides.begin(), wanted.besides.end());
                for (const bool complete : {false, true})
                    for (std::size_t place = 0; place < prompts.size(); ++place) {
                        const std::string word = place == 0 ? " word." : " word " + std::to_string(place + 1) + ".";
                        TextGenerated text{m_step, m_clock.now(), prompts[place], complete ? " was the" + word : " was the", complete};
                        text.place = static_cast<std::int64_t>(place);
                        publish(text);
                    }
                return true;
            },
            [this](const Measure& asked) {
                measure(asked);
                return true;
            },
            [this](const StopMeasuring&) {
                judge(true, "inconclusive");
                return true;
            },
            [this](const StopCapture&) {
                m_rounds.clear();
                publish(LogLine{m_clock.now(),
                                m_step,
                                LogLevel::Warning,
                                "Nothing was captured: it was ended before another step.",
                                {},
                                {Subject::Kind::Capture, {}}});
                return true;
            },
            [this](const Capture& wanted) {
                if (wanted.slowest) {
                    publish(LogLine{m_clock.now(), m_step, LogLevel::Info,
                                    *wanted.slowest ? "The slowest are kept." : "The slowest are no longer kept."});
                    return true;
                }
                if (wanted.firstStep > m_step)
                    m_rounds.push_back(wanted);
                else
                    capture(m_step, wanted.steps);
                return true;
            },
        },
        command);
}

}  // namespace stepscope
