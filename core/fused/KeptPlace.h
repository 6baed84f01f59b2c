// Layer and role of a fused operation's forward pass, for the spans of its backward pass, which autograd runs outside of the model's scopes. Kept
// only while somebody listens; else backward knows its role where the operation has but one. Included by core/fused/*.cpp only.
#pragma once
#include <torch/csrc/autograd/custom_function.h>

#include "core/base/OperationSpan.h"

namespace stepscope::fused {

constexpr const char* kPlaceKey = "place";

// As a number, for an operation that keeps a list of numbers anyway.
inline std::int64_t placeCode() {
    const StepPlace& here = placeHere();
    return (static_cast<std::int64_t>(here.layer) + 1) * kRoles + static_cast<std::int64_t>(here.role);
}
inline PlaceScope placeOf(std::int64_t code) {
    return PlaceScope(code / kRoles - 1, static_cast<Role>(code % kRoles));
}

inline void keepPlace(torch::autograd::AutogradContext* ctx) {
    if (!stepObservers.empty()) ctx->saved_data[kPlaceKey] = placeCode();
}

// For backward. role: where nothing was kept.
inline PlaceScope keptPlace(torch::autograd::AutogradContext* ctx, Role role) {
    if (stepObservers.empty()) return PlaceScope(placeHere());
    const auto kept = ctx->saved_data.find(kPlaceKey);
    return kept == ctx->saved_data.end() || !kept->second.isInt() ? PlaceScope(role) : placeOf(kept->second.toInt());
}

}  // namespace stepscope::fused
