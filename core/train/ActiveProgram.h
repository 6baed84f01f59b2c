// ActiveProgram: the Program that trains, with what is known of it: the steps that it made, how many operations one of them launches, and what of its
// own choices was told already. Trainer thread only.
#pragma once
#include <functional>
#include <memory>
#include <string>

#include "core/base/Units.h"
#include "core/program/StepProgram.h"

namespace stepscope {

class ActiveProgram {
public:
    void replace(std::unique_ptr<StepProgram> program);  // counting begins anew
    void release() { m_program.reset(); }
    StepProgram& operator*() const { return *m_program; }
    explicit operator bool() const { return m_program != nullptr; }

    StepResult step(TrainState& state, const BatchSource& batches, double rate);
    std::int64_t steps() const { return m_steps; }  // that it made
    // That a step launches; unknown until one was counted.
    double operations() const { return m_operations; }

    // What the Program chose by itself (attention's form, how it was prepared), each as one line, once until it is another.
    void tellChoices(const std::function<void(std::string)>& say);
    void tellChoicesAgain();

private:
    std::unique_ptr<StepProgram> m_program;
    std::int64_t m_steps = 0;
    double m_operations = kUnknown;
    std::string m_attentionTold, m_preparationTold;
};

// One step of any Program, as a range that captures see.
StepResult stepAsRange(StepProgram& program, TrainState& state, const BatchSource& batches, double rate);

}  // namespace stepscope
