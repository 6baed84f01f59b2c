// data-source: where the tokens lie while training. Read by the corpus when a run is prepared.
#include "core/optimizations/Optimization.h"

namespace stepscope {

Optimization dataSource() {
    return {.id = "data-source",
            .title = "Tokens lie in",
            .group = SwitchGroup::Data,
            .why = "\"mmap\" reads tokens through a memory-mapped file, \"ram\" copies them into memory first. The batches are the same for the same seed.",
            .cost = "\"ram\" needs the memory of the whole token file.",
            .reported = "RAM about 2–3× over mmap",
            .values = Choices{{"mmap", "ram"}},
            .byDefault = "mmap",
            .takesEffect = TakesEffect::NewRun,
            .whyNewRun = "the tokens are opened once, before the first step."};
}

}  // namespace stepscope
