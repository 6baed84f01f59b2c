// Programs that a test interferes with, by the value of `fusion` that they were built for: steps that break, dawdle or are left out, validations that
// take memory, Programs that hold some. Between a real ProgramFactory and whoever asks it; it remembers what it was asked for.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/program/ProgramFactory.h"

namespace stepscope::testing {

struct Interference {
    using Step = std::function<StepResult(const std::function<StepResult()>& real)>;
    std::map<std::string, Step> step;                           // in the place of a step, which it may make
    std::function<void()> validation = [] {};                   // before one
    std::map<std::string, std::function<at::Tensor()>> memory;  // that a Program holds as long as it lives
};

class PlayedProgram final : public StepProgram {
public:
    PlayedProgram(std::unique_ptr<StepProgram> real, std::string value, const Interference& by)
        : m_real(std::move(real)), m_value(std::move(value)), m_by(by) {
        if (const auto found = by.memory.find(m_value); found != by.memory.end()) m_held = found->second();
    }
    void prepare(const TrainState& state) override { m_real->prepare(state); }
    StepResult step(TrainState& state, const BatchSource& batches, double rate) override {
        const auto make = [&] { return m_real->step(state, batches, rate); };
        const auto found = m_by.step.find(m_value);
        return found == m_by.step.end() ? make() : found->second(make);
    }
    double evaluate(const TrainState& state, const BatchSource& batches, std::int64_t tokens, const Ended& ended) override {
        m_by.validation();
        return m_real->evaluate(state, batches, tokens, ended);
    }
    void shareWith(DataParallel* others) override { m_real->shareWith(others); }
    void subscribe(GradientSubscriber* subscriber) override { m_real->subscribe(subscriber); }
    const ProgramReport& report() const override { return m_real->report(); }

private:
    std::unique_ptr<StepProgram> m_real;
    std::string m_value;
    const Interference& m_by;
    at::Tensor m_held;
};

class PlayedFactory final : public ProgramFactory {
public:
    // Both outlive it.
    PlayedFactory(const ProgramFactory& real, const Interference& by) : m_real(real), m_by(by) {}
    Result<RunConfig> flipped(const RunConfig& config, const std::string& id, const Value& value) const override {
        return m_real.flipped(config, id, value);
    }
    Result<RunPlan> plan(const RunConfig& config, std::int64_t vocabulary) const override { return m_real.plan(config, vocabulary); }
    StateForm formOf(const RunPlan& plan, const TrainState& state) const override { return m_real.formOf(plan, state); }
    std::unique_ptr<StepProgram> build(const RunPlan& plan) const override {
        m_built.push_back(std::get<std::string>(plan.config.switches.at("fusion")));
        return std::make_unique<PlayedProgram>(m_real.build(plan), m_built.back(), m_by);
    }
    const std::vector<std::string>& built() const { return m_built; }  // the values, in their order

private:
    const ProgramFactory& m_real;
    const Interference& m_by;
    mutable std::vector<std::string> m_built;
};

// The real step, of which every second one says that fp16 left its update out.
inline Interference::Step everySecondLeftOut() {
    return [number = std::make_shared<int>(0)](const std::function<StepResult()>& real) {
        StepResult result = real();
        result.skipped = ++*number % 2 == 0;
        return result;
    };
}

}  // namespace stepscope::testing
