#include "core/optimizations/registry/PlanDraft.h"

#include <fmt/format.h>

namespace stepscope {

void PlanDraft::claim(const std::string& what) {
    const auto [held, fresh] = m_claims.emplace(what, m_owner);
    if (!fresh && held->second != m_owner && !m_conflict)
        m_conflict =
            makeError(ErrorCode::BadInput, fmt::format("{} and {} both decide the {}; switch one of them off.", held->second, m_owner, what));
}

}  // namespace stepscope
