#include "core/train/ActiveProgram.h"

#include <fmt/format.h>

#include "core/base/OperationSpan.h"
#include "core/profile/OperationCounter.h"

namespace stepscope {

StepResult stepAsRange(StepProgram& program, TrainState& state, const BatchSource& batches, double rate) {
    const StepRange range({.kind = RangeFacts::Kind::Step, .step = state.updates + 1});
    return program.step(state, batches, rate);
}

void ActiveProgram::replace(std::unique_ptr<StepProgram> program) {
    m_program = std::move(program);
    m_steps = 0;
    m_operations = kUnknown;
}

StepResult ActiveProgram::step(TrainState& state, const BatchSource& batches, double rate) {
    // The first step of a Program still prepares: back-ends are asked for, weights packed. One that captures its step has done so by the fifth; those
    // after it are compared with the ones before a flip, and counting costs time.
    ++m_steps;
    if (m_steps != 2 && m_steps != 5) return stepAsRange(*m_program, state, batches, rate);
    const OperationCounter counter;
    const StepResult result = stepAsRange(*m_program, state, batches, rate);
    m_operations = static_cast<double>(counter.count());
    return result;
}

void ActiveProgram::tellChoices(const std::function<void(std::string)>& say) {
    const auto& report = m_program->report();
    if (m_attentionTold != report.attention) {
        m_attentionTold = report.attention;
        say(fmt::format("Attention that runs: {}.", m_attentionTold));
    }
    if (m_preparationTold != report.preparation) {
        m_preparationTold = report.preparation;
        say(m_preparationTold);
    }
}

void ActiveProgram::tellChoicesAgain() {
    m_attentionTold.clear();
    m_preparationTold.clear();
}

}  // namespace stepscope
