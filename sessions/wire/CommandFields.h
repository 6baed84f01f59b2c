// The fields of every Command, once, as EventFields.h has those of events: the same list writes a command on the line and reads it. Whoever adds a
// command adds it here; a missing one does not compile.
#pragma once
#include "core/events/Command.h"
#include "sessions/EventFields.h"

namespace stepscope {

void fields(auto&, Like<Pause> auto&) {}
void fields(auto&, Like<Resume> auto&) {}
void fields(auto&, Like<Stop> auto&) {}
void fields(auto& io, Like<Flip> auto& c) {
    io("id", c.id);
    io("value", c.value);
}
void fields(auto& io, Like<Reseed> auto& c) {
    io("seed", c.seed);
}
void fields(auto& io, Like<SaveCheckpoint> auto& c) {
    io("path", c.path);
}
void fields(auto&, Like<ValidateNow> auto&) {}
void fields(auto& io, Like<GenerateText> auto& c) {
    io("prompt", c.prompt);
    io("tokens", c.tokens);
    io("temperature", c.temperature);
    io("top_k", c.topK);
    io("top_p", c.topP);
    io("seed", c.seed);
    io("stop", c.stop);
    io("repetition_penalty", c.repetitionPenalty);
    io("frequency_penalty", c.frequencyPenalty);
    io("presence_penalty", c.presencePenalty);
    io("besides", c.besides);
}
void fields(auto& io, Like<Capture> auto& c) {
    io("steps", c.steps);
    io("first_step", c.firstStep);
    io("warm_up", c.warmUp);
    io("slowest", c.slowest);
}
void fields(auto& io, Like<Measure> auto& c) {
    io("id", c.id);
    io("value", c.value);
    io("budget_s", c.budgetSeconds);
    io("delta", c.delta);
    io("seed", c.seed);
    io("loss_may_move", c.lossMayMove);
}
void fields(auto&, Like<StopMeasuring> auto&) {}
void fields(auto&, Like<StopCapture> auto&) {}

}  // namespace stepscope
