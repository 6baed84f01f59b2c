#include "app/workbench/experiments/LiveTune.h"

#include <ATen/Parallel.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ranges>

#include "app/workbench/MemoryNeed.h"
#include "app/workbench/StartingState.h"
#include "app/workbench/diagnose/OpenBatches.h"
#include "core/analysis/JudgedSentence.h"
#include "core/analysis/StudyHistory.h"
#include "core/base/Format.h"
#include "core/events/ConfigJson.h"
#include "core/events/ConfigKeys.h"
#include "core/events/Event.h"
#include "core/experiment/StudyRows.h"
#include "core/memory/HostAllocator.h"
#include "core/train/RaceRunner.h"

namespace stepscope {
namespace {

constexpr double kProofShare = 0.2;       // of the budget: the fresh experiment at the end
constexpr double kSlowProofShare = 0.32;  //   where a step takes so long that an interval needs more of it
constexpr double kProofAtMost = 0.4;      // where steps are so slow that it would have no interval: what is not bounded is no answer

constexpr std::int64_t kRoundsThatSay = 3;  // fewer compare nothing

struct RaceCounts {
    std::int64_t raced = 0, all = 0;
};
// Of the other settings that can be used: how many were compared, and how many there are.
RaceCounts raceCounts(const Race& race) {
    RaceCounts counts;
    for (const RaceCandidate& candidate : race.candidates() | std::views::drop(1)) {
        if (candidate.unusable) continue;
        ++counts.all;
        if (candidate.sure || candidate.rounds >= kRoundsThatSay) ++counts.raced;
    }
    return counts;
}

// As `tune` reads them.
std::string optionsOf(const TuneRequest& request) {
    std::string words = request.sizes ? "--sizes" : "";
    if (request.memory) words += fmt::format("{}--memory {:g}", words.empty() ? "" : " ", static_cast<double>(request.memory->count) / 1e9);
    return words;
}

const char* wordOf(const RaceCandidate& candidate) {
    if (candidate.unusable) return study::kSkipped;
    if (candidate.state == RaceState::Waiting) return study::kWaiting;
    return candidate.state == RaceState::Racing ? study::kRunning : candidate.state == RaceState::Chosen ? study::kChosen : study::kRejected;
}

}  // namespace

LiveTune::LiveTune(TuneRequest request, std::shared_ptr<const Registry> registry, ExperimentStart start, EventSink& sink)
    : LiveStudy({.kind = SessionKind::Tune,
                 .name = request.name.empty() ? "what is best here" : request.name,
                 .notes = request.notes,
                 .database = request.database,
                 .goesOnWith = 0,
                 .tags = request.tags,
                 .record = request.record,
                 .config = request.config,
                 .machine = registry->machine()},
                std::move(start), sink),
      m_request(std::move(request)),
      m_registry(std::move(registry)) {}

StudyBegan LiveTune::began() const {
    return {.kind = "tune",
            .title = "what is best here",
            .source = optionsOf(m_request),
            .unit = {},
            .config = configToJson(m_request.config),
            .question = tuneQuestion(m_request, m_registry->machine()),
            .budgetSeconds = m_request.budgetSeconds,
            .delta = m_request.delta,
            .alpha = 0.05,
            .seed = m_request.seed,
            .legs = 1};
}

Status LiveTune::prepare() {
    const RunConfig& config = m_request.config;
    const std::int64_t threads = config.threads > 0 ? config.threads : m_registry->machine().cores;
    at::set_num_threads(static_cast<int>(threads));
    const auto plan = m_registry->plan(config);
    if (!plan) return plan.error();
    const LookProgress progress = [this](const std::string& what) { publish(Preparing{clock().now(), what, kUnknown}); };
    auto batches = openBatches(*plan, progress, stop());
    if (!batches) return batches.error();
    m_batches = std::move(*batches);
    host_memory::refreshBudget();
    const Corpus& corpus = m_batches->corpus();
    m_catalogue = m_registry->catalogue(config, corpus.vocabulary);
    m_knobs = raceKnobs(m_catalogue, config, m_request.sizes);
    m_like.vocabulary = corpus.vocabulary;
    m_like.trainTokens = corpus.trainTokens;
    m_like.validationTokens = corpus.validationTokens();
    const auto exact = m_registry->plan(config, corpus.vocabulary);
    if (!exact) return exact.error();
    const auto needed = estimateMemory(*m_registry, *exact, {corpus.vocabulary, corpus.tokens->size()});
    m_like.parameters = needed.parameters;
    m_present = *exact;
    if (auto fits = checkMemory(*exact, needed); !fits) return fits;
    // They race beside every other, and would be what is recommended where nothing else fits.
    if (m_request.memory && needed.total > *m_request.memory)
        return makeError(ErrorCode::BadInput,
                         fmt::format("The present settings are predicted to take {}, more than the {} that are allowed; allow more, or lower "
                                     "batch-size, context or the model's size.",
                                     format::bytes(needed.total), format::bytes(*m_request.memory)));
    return {};
}

Result<RunConfig> LiveTune::configOf(const RaceChoice& choice) const {
    RunConfig config = m_request.config;
    for (std::size_t i = 0; i < choice.size(); ++i) {
        const RaceKnob& knob = m_knobs[i];
        if (choice[i] == knob.present) continue;
        if (auto done = setKey(config, m_catalogue, knob.key, knob.values[choice[i]]); !done) return done.error();
    }
    return m_registry->complete(std::move(config));
}

std::string LiveTune::settingsOf(const RaceChoice& choice, const RaceChoice& beside) const {
    std::string words;
    for (std::size_t i = 0; i < choice.size(); ++i)
        if (choice[i] != beside[i]) words += fmt::format("{}{}={}", words.empty() ? "" : " ", m_knobs[i].key, m_knobs[i].values[choice[i]]);
    return words;
}

// Asked for each candidate once, while the race looks for whom to let in.
RaceVerdict LiveTune::verdict(const RaceChoice& choice) {
    const auto config = configOf(choice);
    if (!config) return {config.error().sentence, {}};
    const std::int64_t vocabulary = m_batches->corpus().vocabulary;
    auto plan = m_registry->plan(*config, vocabulary);
    if (!plan) return {plan.error().sentence, {}};
    if (const std::string why = whyLearnsOtherwise(*plan, m_present, m_request.sizes); !why.empty()) return {why, {}};
    // What a switch's own file says of such a value: that another one runs, that it changes nothing here, or is dear on this machine.
    const SwitchCatalogue catalogue = m_registry->catalogue(*config, vocabulary);
    for (std::size_t i = 0; i < choice.size(); ++i) {
        const RaceKnob& knob = m_knobs[i];
        if (choice[i] == knob.present) continue;
        const auto info = std::ranges::find(catalogue, knob.key, &SwitchInfo::id);
        if (info == catalogue.end()) continue;
        if (!info->fallback.empty()) return {info->fallback, {}};
        if (!info->note.empty()) return {info->note, {}};
    }
    if (auto good = m_batches->accepts(*plan); !good) return {good.error().sentence, {}};
    const auto needed = estimateMemory(*m_registry, *plan, {vocabulary, m_batches->corpus().tokens->size()});
    if (auto fits = checkMemory(*plan, needed); !fits) return {fits.error().sentence, {}};
    if (m_request.memory && needed.total > *m_request.memory)
        return {
            fmt::format("It would take about {}, more than the {} that were allowed.", format::bytes(needed.total), format::bytes(*m_request.memory)),
            {}};
    RunPlan bare = std::move(*plan);
    bare.config = m_request.config;
    bare.notes.clear();
    const auto known = std::ranges::find(m_plans, bare);
    const auto number = known - m_plans.begin();
    if (known == m_plans.end()) m_plans.push_back(std::move(bare));
    return {{}, std::to_string(number)};
}

void LiveTune::publishRows() {
    const RaceChoice& present = m_race->candidates().front().choice;
    for (const std::size_t number : m_race->takeChanged()) {
        const RaceCandidate& candidate = m_race->candidates()[number];
        m_seen.resize(std::max(m_seen.size(), number + 1));
        StudyRow row{.at = clock().now(),
                     .row = static_cast<std::int64_t>(number),
                     .role = study::kCandidate,
                     .state = wordOf(candidate),
                     .settings = settingsOf(candidate.choice, present),
                     .why = candidate.why,
                     .tokensPerSecond = m_seen[number].tokensPerSecond,
                     .peakBytes = m_seen[number].peakBytes,
                     .pairs = candidate.rounds,
                     .seconds = m_seen[number].seconds};
        row.name = row.settings.empty() ? "the present settings" : row.settings;
        if (candidate.msPerStep > 0) row.msPerStep = candidate.msPerStep;
        if (candidate.ratio > 0) {
            row.ratio = candidate.ratio;
            row.low = candidate.low;
            row.high = candidate.high;
        }
        if (number > 0 && candidate.total > 0) {
            row.total = candidate.total;
            row.totalLow = candidate.totalLow;
            row.totalHigh = candidate.totalHigh;
        }
        publish(std::move(row));
    }
}

LiveStudy::Outcome LiveTune::race() {
    if (auto ready = prepare(); !ready) return {ready.error().code == ErrorCode::Cancelled ? RunState::Stopped : RunState::Failed, ready.error()};
    if (auto done = open(m_like); !done) return {RunState::Failed, done.error()};
    publish(StateChanged{clock().now(), 0, RunState::Running, {}});
    const Corpus& corpus = m_batches->corpus();
    say(LogLevel::Info, corpus.description);
    const RunConfig& config = m_request.config;
    const auto present = m_registry->plan(config, corpus.vocabulary);
    if (!present) return {RunState::Failed, present.error()};
    const std::int64_t threads = config.threads > 0 ? config.threads : m_registry->machine().cores;
    auto start = startingState({.config = config}, m_registry->modelShape(*present, corpus.vocabulary), corpus, threads);
    if (!start) return {RunState::Failed, start.error()};
    RaceRunner runner({.batches = m_batches,
                       .start = std::make_shared<const TrainState>(std::move(start->state)),
                       .factory = m_registry.get(),
                       .clock = &clock(),
                       .stop = &stop()});
    const RaceRules rules{.seed = static_cast<std::uint64_t>(m_request.seed),
                          .budgetSeconds = std::max(1.0, (1 - kProofShare) * m_request.budgetSeconds - elapsed()),
                          .slowSeconds = std::max(1.0, (1 - kSlowProofShare) * m_request.budgetSeconds - elapsed())};
    m_race.emplace(rules, m_knobs, [this](const RaceChoice& choice) { return verdict(choice); });
    publishRows();
    while (const auto order = m_race->next()) {
        const auto candidate = configOf(m_race->candidates()[order->candidate].choice);
        const auto plan = candidate ? m_registry->plan(*candidate, corpus.vocabulary) : Result<RunPlan>(candidate.error());
        if (!plan) return {RunState::Failed, plan.error()};
        const RaceBlock block = runner.run(*candidate, *plan, *order);
        if (block.stopped) return {RunState::Stopped, {}};
        m_seen.resize(std::max(m_seen.size(), order->candidate + 1));
        Seen& seen = m_seen[order->candidate];
        seen.seconds += block.times.seconds;
        if (std::isfinite(block.tokensPerSecond)) seen.tokensPerSecond = block.tokensPerSecond;
        if (std::isfinite(block.peakBytes)) seen.peakBytes = block.peakBytes;
        m_race->done(block.times);
        publishRows();
    }
    publishRows();
    if (const auto& first = m_race->candidates().front(); m_race->candidates().size() == 1 && !first.why.empty())
        return {RunState::Failed, makeError(ErrorCode::Training, "The present settings cannot be timed: " + first.why)};
    return {};
}

// What won beside what is set, measured anew: the race chose it for being fast there, partly by luck.
LiveStudy::Outcome LiveTune::proof() {
    const RaceChoice& present = m_race->candidates().front().choice;
    auto number = static_cast<std::int64_t>(m_race->candidates().size());
    for (const auto& [key, value, why] : m_race->rejected())
        publish(StudyRow{.at = clock().now(),
                         .row = number++,
                         .role = study::kValue,
                         .state = study::kRejected,
                         .name = key,
                         .settings = key + "=" + value,
                         .why = why});
    StudyRow row{.row = number, .role = study::kFinal, .state = study::kRunning, .settings = settingsOf(m_race->best(), present)};
    row.name = row.settings.empty() ? "the present settings" : row.settings;
    const auto tell = [&] {
        row.at = clock().now();
        publish(row);
    };
    if (row.settings.empty()) {
        row.state = study::kChosen;
        const auto [raced, all] = raceCounts(*m_race);
        row.outcome = toString(2 * raced >= all ? PairedOutcome::Equivalent : PairedOutcome::Inconclusive);
        row.why =
            2 * raced >= all
                ? std::string("Nothing that raced is faster than the present settings.")
                : fmt::format("Too little time to say: {} of {} other settings took part in {} rounds or left before for sure; give it more minutes.",
                              raced, all, kRoundsThatSay);
        tell();
        return {};
    }
    const auto winner = configOf(m_race->best());
    if (!winner) return {RunState::Failed, winner.error()};
    ExperimentHistory history;
    const auto note = [&] {
        const auto& judged = history.newest();
        if (!judged) return;
        fillJudged(row, *judged);
        fillSide(row, history.facts(Arm::B));
        row.loss = history.lossDifference();
        tell();
    };
    const auto outcome = measure({.a = m_request.config,
                                  .b = *winner,
                                  .budgetSeconds = std::max(kShortestBudget, m_request.budgetSeconds - elapsed()),
                                  .mostSeconds = kProofAtMost * m_request.budgetSeconds,
                                  .delta = m_request.delta,
                                  .seed = m_request.seed + 1},
                                 history, note);
    note();
    if (outcome.state == RunState::Finished) {
        // What is not borne out for sure is recommended only where the fresh pairs have an interval and lean the same way; and it says so.
        const bool bounded = std::isfinite(row.low) && row.low > 0 && std::isfinite(row.high);
        const bool open = row.outcome == toString(PairedOutcome::Inconclusive), leans = open && bounded && row.ratio > 1 + m_request.delta;
        const bool worth = row.outcome == toString(PairedOutcome::Faster) || leans;
        row.state = worth ? study::kChosen : study::kRejected;
        if (leans)
            row.why = "It won the race, and measuring it anew did not confirm that for sure. " + row.why;
        else if (open)
            row.why = "It won the race, and measuring it anew did not bear that out. " + row.why;
        else if (!worth)
            row.why = "Measured anew, it is not faster than the present settings. " + row.why;
        if (const auto plan = m_registry->plan(*winner, m_like.vocabulary); worth && plan) {
            if (!row.why.empty() && !row.why.ends_with(' ')) row.why += ' ';
            const bool same = sameArithmetic(*plan, m_present);
            row.arithmetic = same ? study::kSame : study::kOther;
            row.why += same ? kSameArithmetic : kOtherArithmetic;
        }
        if (const std::string beyond = beyondBound(row.peakBytes, m_request.memory); worth && !beyond.empty())
            row.why += (row.why.empty() || row.why.ends_with(' ') ? "" : " ") + beyond;
    } else {
        row.state = outcome.state == RunState::Failed ? study::kFailed : study::kWaiting;
        row.why = outcome.state == RunState::Failed ? outcome.error.sentence
                                                    : "It won the race; measuring it anew was ended before it said anything for sure.";
    }
    tell();
    return outcome;
}

std::string beyondBound(double peakBytes, const std::optional<Bytes>& bound) {
    if (!bound || !(peakBytes > static_cast<double>(bound->count))) return {};
    return fmt::format("Its tensors took {} at their most, above the {} that were allowed: less had been predicted.", format::bytes(peakBytes),
                       format::bytes(*bound));
}

LiveStudy::Outcome LiveTune::study() {
    Outcome outcome = race();
    // Memory comes back before the experiment asks for its own.
    m_batches.reset();
    if (outcome.state != RunState::Finished) return outcome;
    outcome = proof();
    if (stopAsked()) outcome = {RunState::Stopped, {}};
    return outcome;
}

}  // namespace stepscope
