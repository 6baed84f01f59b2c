// loader-prefetch: how many batches the loader's threads keep ready.
#include "core/optimizations/Optimization.h"

namespace stepscope {

Optimization loaderPrefetch() {
    return {.id = "loader-prefetch",
            .title = "Batches ahead",
            .group = SwitchGroup::Data,
            .why = "How many batches the loader's threads make ahead of the step. More of them bridge a slow read; two are enough when each takes about as long.",
            .cost = "16 bytes a token and batch. Without effect while loader-workers is 0: then each batch is cut when it is needed.",
            .reported = "1.1–1.2×, with the threads",
            .values = IntegerRange{1, 1024},
            .byDefault = std::int64_t{2},
            .install = [](ProgramBuilder& builder, const Value& value) { builder.setLoaderPrefetch(integer(value)); }};
}

}  // namespace stepscope
