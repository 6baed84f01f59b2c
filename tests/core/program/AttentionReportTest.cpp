// That a Program reports the attention which really runs: the operations that LibTorch executes during a step are heard (RecordFunction) and
// compared with ProgramReport::attention, in float32 and under autocast. On the CPU. CTest.
#include <ATen/Parallel.h>
#include <ATen/record_function.h>
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <tuple>

#include "TinyTraining.h"
#include "core/program/ProgramBuilder.h"

namespace stepscope {
namespace {

thread_local std::set<std::string>* t_heard = nullptr;

std::unique_ptr<at::ObserverContext> hear(const at::RecordFunction& function) {
    if (t_heard != nullptr) t_heard->insert(function.name());
    return nullptr;
}

// Names of the operations of this thread while it exists.
class Heard {
public:
    Heard() : m_callback(at::addThreadLocalCallback(at::RecordFunctionCallback(&hear).scopes({at::RecordScope::FUNCTION}))) { t_heard = &m_names; }
    ~Heard() {
        at::removeCallback(m_callback);
        t_heard = nullptr;
    }
    Heard(const Heard&) = delete;
    Heard& operator=(const Heard&) = delete;

    // The attentions that ran, as a report words them; manual is the one whose softmax is an operation outside of SDPA.
    std::set<std::string> attentions() const {
        std::set<std::string> ran;
        if (m_names.contains("aten::_scaled_dot_product_attention_math")) ran.insert("sdpa-math");
        if (m_names.contains("aten::_scaled_dot_product_flash_attention_for_cpu")) ran.insert("sdpa-flash");
        if (ran.empty() && m_names.contains("aten::softmax")) ran.insert("manual");
        return ran;
    }
    bool heard(const std::string& name) const { return m_names.contains(name); }

private:
    std::set<std::string> m_names;
    at::CallbackHandle m_callback;
};

class ReportedAttention : public ::testing::TestWithParam<std::tuple<std::string, std::string>> {};

TEST_P(ReportedAttention, IsTheOneWhoseOperationsRan) {
    at::set_num_threads(1);
    const Registry registry(testing::plainCpu());
    RunConfig config = testing::tinyConfig(registry);
    const auto& [attention, amp] = GetParam();
    config.switches["fusion"] = std::string("off");
    config.switches["attention"] = attention;
    config.switches["amp"] = amp;
    TrainState state = TrainState::initialise(registry.modelShape(config, 61), 1);
    const auto program = testing::programOver(state, registry, config);
    const Heard during;
    program->step(state, *testing::tinyBatches(), 1e-3);
    const std::string reported = program->report().attention;
    EXPECT_EQ(during.attentions(), std::set<std::string>{reported});
    EXPECT_EQ(during.heard("aten::scaled_dot_product_attention"), reported != "manual");
    if (attention != "auto") {
        EXPECT_EQ(reported, attention);
    }
}

INSTANTIATE_TEST_SUITE_P(OnTheCpu, ReportedAttention,
                         ::testing::Combine(::testing::Values("manual", "sdpa-math", "sdpa-flash", "auto"), ::testing::Values("off", "bf16")),
                         [](const auto& info) {
                             std::string name = std::get<0>(info.param) + "_amp_" + std::get<1>(info.param);
                             for (char& c : name)
                                 if (c == '-') c = '_';
                             return name;
                         });

}  // namespace
}  // namespace stepscope
