// LiveTune: the search for the fastest settings: a Race among the values of all switches that compute the same, then a fresh experiment of what won
// beside the present settings, whose interval alone is shown. Stored as a session of its own kind.
#pragma once
#include "app/workbench/experiments/LiveStudy.h"
#include "app/workbench/experiments/StudyRequests.h"
#include "core/data/BatchSource.h"
#include "core/events/Study.h"
#include "core/experiment/Race.h"
#include "core/optimizations/registry/Registry.h"

namespace stepscope {

class LiveTune final : public LiveStudy {
public:
    // The request's configuration is complete.
    LiveTune(TuneRequest request, std::shared_ptr<const Registry> registry, ExperimentStart start, EventSink& sink);
    ~LiveTune() override { end(); }

private:
    Outcome study() override;
    StudyBegan began() const override;
    Status prepare();
    Outcome race();
    Outcome proof();
    Result<RunConfig> configOf(const RaceChoice& choice) const;
    RaceVerdict verdict(const RaceChoice& choice);
    std::string settingsOf(const RaceChoice& choice, const RaceChoice& beside) const;
    void publishRows();

    TuneRequest m_request;
    std::shared_ptr<const Registry> m_registry;
    SwitchCatalogue m_catalogue;
    std::vector<RaceKnob> m_knobs;  // in the race's order
    std::shared_ptr<BatchSource> m_batches;
    RunPlan m_present;             // of what is set
    std::vector<RunPlan> m_plans;  // that ran or may run, by their identity
    std::optional<Race> m_race;
    struct Seen {
        double tokensPerSecond = kUnknown, peakBytes = kUnknown, seconds = 0;
    };
    std::vector<Seen> m_seen;  // by candidate
    SessionInfo m_like;
};

// The switches that a search turns, each with the values that it tries and which one is set; the present one is among them. sizes: batch size and
// context too.
std::vector<RaceKnob> raceKnobs(const SwitchCatalogue& catalogue, const RunConfig& config, bool sizes);

// Why a value takes no part: it would change what is learnt, and not only how that is computed. Empty: it computes the same up to rounding; the bits
// in which products are computed may be fewer (mixed precision), which is said beside what wins. sizes: so may batch size and context.
std::string whyLearnsOtherwise(const RunPlan& plan, const RunPlan& present, bool sizes);

// Who may race was foretold to be within the bound. What is said where tensors were measured to take more all the same; empty where they were not, or
// nothing bounds them.
std::string beyondBound(double peakBytes, const std::optional<Bytes>& bound);

}  // namespace stepscope
