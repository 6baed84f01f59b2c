// From what a rule found to the one change that tests it here: a setting, or the switch and value whose plan is as the rule wants it. Found by asking
// the registry, so that no rule names a switch; what cannot be used here is left out. Any thread.
#pragma once
#include <optional>

#include "core/advice/Rules.h"
#include "core/optimizations/registry/Registry.h"

namespace stepscope {

// The first switch, in the registry's order, that has a value with which everything can run here and the plan is as wanted: one change of `config`,
// which is complete. Of numbers the neighbours are tried: twice, half, one more, the default, and `number`. vocabulary: as for Registry::plan.
std::optional<KeyValue> settingFor(const Registry& registry, const RunConfig& config, std::int64_t vocabulary, const WantedPlan& wanted,
                                   std::int64_t number = 0);

// In the order of the rules; a finding none of whose remedies can be tested here is left out.
std::vector<Advice> advise(const Registry& registry, const AdviceFacts& facts);

}  // namespace stepscope
