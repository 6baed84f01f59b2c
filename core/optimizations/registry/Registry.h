// Registry: the one wrapper that checks, installs and publishes every switch. Implements the loop's ProgramFactory and makes
// the torch-free catalogue for everybody else. Immutable after construction; any thread.
#pragma once
#include "core/optimizations/registry/Switch.h"
#include "core/program/ProgramFactory.h"

namespace stepscope {

class Registry final : public ProgramFactory {
public:
    // workers: that make a run's steps together, at least 1; beforeHere: so many of them that run on this machine come before this one.
    explicit Registry(Machine machine, int workers = 1, int beforeHere = 0);

    const Machine& machine() const { return m_machine; }
    // Every switch with its verdict for this machine and this configuration. vocabulary: ids that can occur; 0 = not known yet.
    SwitchCatalogue catalogue(const RunConfig& config, std::int64_t vocabulary = 0) const;
    // Fills absent switches with their defaults, then checks every value, and that no two switches decide the same thing. The error names the
    // switch, the value and the reason, or both switches.
    Result<RunConfig> complete(RunConfig config) const;

    Result<RunConfig> flipped(const RunConfig& config, const std::string& id, const Value& value) const override;
    Result<RunPlan> plan(const RunConfig& config, std::int64_t vocabulary = 0) const override;
    StateForm formOf(const RunPlan& plan, const TrainState& state) const override;
    std::unique_ptr<StepProgram> build(const RunPlan& plan) const override;
    // Of a complete configuration that can run.
    Result<std::unique_ptr<StepProgram>> build(const RunConfig& config) const;

    // The configuration that really runs: where a switch cannot run as it was chosen, the value that takes its place. `why` gets the sentences.
    RunConfig running(const RunConfig& config, std::string* why = nullptr) const;

    // Rows of the embedding and positions that a plan, or a complete configuration, asks for. vocabulary: ids that can occur.
    GptConfig modelShape(const RunPlan& plan, std::int64_t vocabulary) const;
    GptConfig modelShape(const RunConfig& config, std::int64_t vocabulary) const;

private:
    const Switch* find(const std::string& id) const;
    std::optional<Fallback> fallbackOf(const Switch& entry, const RunConfig& config) const;
    SwitchNote noteOf(const Switch& entry, const PlanDraft& draft) const;
    // Every switch resolved. config: complete; inUse: what running() made of it.
    PlanDraft drafted(const RunConfig& config, RunConfig inUse, std::int64_t vocabulary) const;
    Status checkGpu(const RunPlan& plan) const;
    Verdict verdict(const Switch& entry, const RunConfig& config, const Value& value) const;

    Machine m_machine;
    int m_workers, m_beforeHere;
    std::vector<Switch> m_entries;
};

}  // namespace stepscope
