// StepPlace: where in a training step a thread is at work: for which phase, in which layer, on which part of the model. Set by scopes around the work
// (PhaseClock, the model's forward pass, the stages of a planned step) whether or not anybody asks; operations are attributed by it.
#pragma once
#include <cstdint>

namespace stepscope {

// What the thread is doing for the run: a phase of a step (core/events' Phase), or something beside the steps. Waiting: for other workers.
enum class Activity : std::uint8_t { None, Batch, Copy, Forward, Backward, Clip, Optimizer, Waiting, Evaluation, Text };
constexpr int kActivities = 10;
const char* toString(Activity activity);  // "batch", ..., "waiting", "evaluation", "text"; None is empty

// Part of the model. The three behind the optimizer are what one stage of a planned step does at once; communication is what workers do together.
enum class Role : std::uint8_t {
    None,
    Embedding,
    Norm1,
    AttentionQkv,
    AttentionCore,
    AttentionOut,
    Norm2,
    MlpUp,
    MlpDown,
    LastNorm,
    HeadLoss,
    Optimizer,
    Norm1AndQkv,
    OutAndMlp,
    BlockWeights,
    Communication,
};
constexpr int kRoles = 16;
const char* toString(Role role);  // "embedding", "attention/qkv", ...; None is empty

struct StepPlace {
    std::int32_t layer = -1;  // -1: in none
    Role role = Role::None;
    Activity activity = Activity::None;
    bool recomputed = false;  // the forward pass of a part, run again within the backward pass

    bool operator==(const StepPlace&) const = default;
};

// Of the calling thread.
inline StepPlace& placeHere() {
    constinit static thread_local StepPlace place;
    return place;
}

// The thread works there until the scope ends. What is not named stays as it was.
class PlaceScope {
public:
    explicit PlaceScope(const StepPlace& place) : m_former(placeHere()) { placeHere() = place; }
    explicit PlaceScope(Activity activity) : m_former(placeHere()) { placeHere().activity = activity; }
    explicit PlaceScope(Role role) : m_former(placeHere()) { placeHere().role = role; }
    PlaceScope(std::int64_t layer, Role role) : m_former(placeHere()) {
        placeHere().layer = static_cast<std::int32_t>(layer);
        placeHere().role = role;
    }
    ~PlaceScope() { placeHere() = m_former; }
    PlaceScope(const PlaceScope&) = delete;
    PlaceScope& operator=(const PlaceScope&) = delete;

private:
    StepPlace m_former;
};

}  // namespace stepscope
