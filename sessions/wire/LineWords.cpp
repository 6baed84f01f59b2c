#include "sessions/wire/LineWords.h"

#include "sessions/EventFields.h"
#include "sessions/wire/LayoutWords.h"
#include "sessions/wire/WireIo.h"

namespace stepscope {

void fields(auto& io, Like<Attach> auto& a) {
    io("number", a.number);
    io("anew", a.anew);
}
void fields(auto& io, Like<Attached> auto& a) {
    io("commands", a.commands);
    io("behind", a.behind);
}
void fields(auto& io, Like<Safe> auto& s) {
    io("number", s.number);
    io("all", s.all);
}

FrameBytes attachToBytes(const Attach& attach) {
    return payloadOf(attach);
}
Result<Attach> attachFromBytes(const FrameBytes& payload) {
    return payloadAs<Attach>(payload, "What was heard of a run");
}

FrameBytes attachedToBytes(const Attached& attached) {
    return payloadOf(attached);
}
Result<Attached> attachedFromBytes(const FrameBytes& payload) {
    return payloadAs<Attached>(payload, "Which commands were heard");
}

FrameBytes safeToBytes(const Safe& safe) {
    return payloadOf(safe);
}
Result<Safe> safeFromBytes(const FrameBytes& payload) {
    return payloadAs<Safe>(payload, "What is stored of a run");
}

void addLineLayout(LayoutWords& layout) {
    const auto add = [&](const auto&... one) { (fields(layout, one), ...); };
    add(Attach{}, Attached{}, Safe{});
}

}  // namespace stepscope
