// What a FakeWorkbench says of a search.
#include "FakeTune.h"

#include <chrono>
#include <thread>

#include "core/analysis/StudyHistory.h"
#include "core/events/Event.h"

namespace stepscope {
namespace {

constexpr int kRounds = 6;

}  // namespace

FakeTune::FakeTune(TuneRequest request, const Machine& machine, ExperimentStart start, EventSink& sink)
    : LiveStudy({.kind = SessionKind::Tune,
                 .name = "what is best here",
                 .notes = {},
                 .database = request.database,
                 .goesOnWith = 0,
                 .tags = {},
                 .record = request.record,
                 .config = request.config,
                 .machine = machine},
                std::move(start), sink),
      m_request(std::move(request)) {}

StudyBegan FakeTune::began() const {
    return {.kind = "tune",
            .title = "what is best here",
            .config = configToJson(m_request.config),
            .question = tuneQuestion(m_request, session().machine),
            .budgetSeconds = m_request.budgetSeconds,
            .delta = m_request.delta,
            .seed = m_request.seed,
            .legs = 1};
}

LiveStudy::Outcome FakeTune::study() {
    if (auto done = open({}); !done) return {RunState::Failed, done.error()};
    publish(StateChanged{clock().now(), 0, RunState::Running, {}});
    const std::vector<std::pair<std::string, double>> all{{"", 1}, {"amp=bf16", 1.3}, {"attention=manual", 0.8}};
    for (int round = 1; round <= kRounds && !stopAsked(); ++round)
        for (std::size_t i = 0; i < all.size(); ++i) {
            std::this_thread::sleep_for(std::chrono::milliseconds(4));
            StudyRow row{.at = clock().now(),
                         .row = static_cast<std::int64_t>(i),
                         .role = study::kCandidate,
                         .state = study::kRunning,
                         .name = i == 0 ? "the present settings" : all[i].first,
                         .settings = all[i].first,
                         .msPerStep = 60 / all[i].second,
                         .pairs = round};
            if (i > 0) row.ratio = all[i].second, row.low = row.ratio * 0.97, row.high = row.ratio * 1.03;
            if (i > 0) row.total = row.ratio, row.totalLow = row.low, row.totalHigh = row.high;
            if (round == kRounds) {
                row.state = i == 1 ? study::kChosen : study::kRejected;
                row.why = i == 1 ? "" : "30.0 % more time a token than amp=bf16, for sure after 6 rounds.";
            }
            publish(std::move(row));
        }
    if (stopAsked()) return {RunState::Stopped, {}};
    publish(StudyRow{
        .at = clock().now(), .row = 3, .role = study::kValue, .state = study::kRejected, .name = "amp", .settings = "amp=fp16", .why = "Slow here."});
    RunConfig winner = m_request.config;
    winner.switches["amp"] = std::string("bf16");
    ExperimentHistory history;
    StudyRow last{.row = 4, .role = study::kFinal, .state = study::kRunning, .name = "amp=bf16", .settings = "amp=bf16"};
    const auto note = [&] {
        if (!history.newest()) return;
        last.at = clock().now();
        last.outcome = history.newest()->outcome;
        last.ratio = history.newest()->ratio;
        last.low = history.newest()->low;
        last.high = history.newest()->high;
        last.pairs = history.newest()->pairs;
        last.loss = history.lossDifference();
        publish(last);
    };
    const auto outcome = measure({.a = m_request.config, .b = winner, .budgetSeconds = 20}, history, note);
    last.state = outcome.state == RunState::Finished ? study::kChosen : study::kRunning;
    last.arithmetic = study::kOther;
    last.why = kOtherArithmetic;
    note();
    return outcome;
}

}  // namespace stepscope
