// The fields of what is said beside events when an engine runs apart (Frame.h): who it is, which session shall be kept, and why something cannot be.
// The same list writes them and reads them. Included by sessions/wire and app/workbench/engine.
#pragma once
#include "core/events/SessionInfo.h"
#include "sessions/EventFields.h"

namespace stepscope {

void fields(auto& io, Like<SessionInfo> auto& i) {
    io("kind", i.kind);
    io("name", i.name);
    io("notes", i.notes);
    io("tags", i.tags);
    io("started_unix_ms", i.startedUnixMs);
    io("config", i.config);
    io("machine", i.machine);
    io("vocabulary", i.vocabulary);
    io("parameters", i.parameters);
    io("train_tokens", i.trainTokens);
    io("validation_tokens", i.validationTokens);
    io("first_step", i.firstStep);
    io("resumed_from", i.resumedFrom);
    io("goes_on_with", i.goesOnWith);
    io("workers", i.workers);
    io("link", i.link);
    io("predicted_bytes", i.predictedBytes);
}

void fields(auto& io, Like<Error> auto& e) {
    io("code", e.code);
    io("sentence", e.sentence);
    io("cause", e.cause);
    io("subject_kind", e.subject.kind);
    io("subject", e.subject.name);
}

}  // namespace stepscope
