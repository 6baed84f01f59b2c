#include "core/base/StepPlace.h"

namespace stepscope {

const char* toString(Activity activity) {
    constexpr const char* words[kActivities] = {"", "batch", "copy", "forward", "backward", "clip", "optimizer", "waiting", "evaluation", "text"};
    return words[static_cast<std::size_t>(activity)];
}

const char* toString(Role role) {
    constexpr const char* words[kRoles] = {"",
                                           "embedding",
                                           "norm1",
                                           "attention/qkv",
                                           "attention/core",
                                           "attention/out",
                                           "norm2",
                                           "mlp/up",
                                           "mlp/down",
                                           "last norm",
                                           "head/loss",
                                           "optimizer",
                                           "norm1 + attention/qkv",
                                           "attention/out + norm2 + mlp",
                                           "weights of the block",
                                           "communication"};
    return words[static_cast<std::size_t>(role)];
}

}  // namespace stepscope
