// data-source: where the tokens lie that batches are cut from. The ids are the same everywhere.
#include "core/optimizations/registry/Switch.h"

namespace stepscope {
namespace {

Verdict dataSourceUsable(const Machine& machine, const RunConfig& config, const Value& value) {
    const std::string& name = word(value);
    if (name == "device" && config.word("device") == "cpu") return onlyOnGpus(machine, "the device is the CPU, whose memory is the RAM; choose ram.");
    if (name == "device" && config.data == "random")
        return Verdict::no("random ids are computed where they are needed and lie nowhere; choose mmap.");
    if (name == "text" && config.data == "random") return Verdict::no("random ids come from no text, so there is nothing to tokenise; choose mmap.");
    if (name == "text" && config.data.ends_with(".bin"))
        return Verdict::no("the data are tokens already, so there is no text to tokenise; choose mmap, ram or device.");
    return Verdict::yes();
}

TokenPlace placeOf(const std::string& name) {
    return name == "text" ? TokenPlace::Text : name == "ram" ? TokenPlace::Ram : name == "device" ? TokenPlace::Device : TokenPlace::Mapped;
}

}  // namespace

Switch dataSource() {
    return {
        .id = "data-source",
        .title = "Tokens lie in",
        .group = SwitchGroup::Data,
        .why =
            "\"text\" tokenises each batch anew, as training without prepared tokens does; \"mmap\" reads tokens made once through a memory-mapped "
            "file, "
            "\"ram\" copies that file into memory, \"device\" into the GPU's. The batches are the same for the same seed.",
        .cost =
            "\"ram\" and \"device\" need the memory of all tokens, and the first step with them copies them. A small file is in the system's cache "
            "anyway, and then \"mmap\" is as fast as \"ram\".",
        .reported = "pre-tokenising about 2×; RAM about 2–3× over mmap",
        .values = Choices{{"text", "mmap", "ram", "device"}},
        .byDefault = "mmap",
        .applicable = dataSourceUsable,
        .resolve = [](PlanDraft& draft, const Value& value) { draft.plan.feed.place = placeOf(word(value)); },
        .racing = {.promise = 35}};
}

}  // namespace stepscope
