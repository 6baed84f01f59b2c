#include "app/workbench/experiments/ExperimentRoom.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/Format.h"

namespace stepscope {
namespace {

Status hostHas(Bytes needed, const ExperimentNeed& need, const char* what) {
    if (needed <= need.hostAvailable) return {};
    return makeError(ErrorCode::OutOfMemory, fmt::format("{} needs about {} of this machine's memory, and {} are available; close other programs, or "
                                                         "lower the model's size of both.",
                                                         what, format::bytes(needed), format::bytes(need.hostAvailable)));
}

}  // namespace

Bytes startBytes(std::int64_t parameters) {
    constexpr std::int64_t kBuffers = 3, kBytes = 4;
    return {kBuffers * kBytes * parameters};
}

Result<bool> mustSwap(const ExperimentNeed& need) {
    const auto& [a, b] = need.sides;
    const Bytes starts{need.starts * need.start.count};
    if (a.gpu != b.gpu) {
        const Bytes onHost = (a.gpu ? Bytes{} : a.tensors) + (b.gpu ? Bytes{} : b.tensors);
        if (auto room = hostHas(starts + onHost, need, "What both sides keep in the host's memory"); !room) return room.error();
        return false;
    }
    const Bytes both = a.tensors + b.tensors, available{std::min(a.available.count, b.available.count)};
    if (!a.gpu) {
        // What both begin with lies beside theirs.
        if (both + starts <= available) return false;
    } else if (both <= available) {
        if (auto room = hostHas(starts, need, "What both sides begin with"); !room) return room.error();
        return false;
    } else if (both.count - std::max(a.state.count, b.state.count) <= available.count) {
        // Each side's own lies there too, as it begins or as it was when the other one's turn came.
        const Bytes waiting{2 * need.start.count};
        if (auto room = hostHas(starts + waiting, need, "Both States do not fit the device at a time, and keeping them in the host's memory"); !room)
            return room.error();
        return true;
    }
    return makeError(ErrorCode::OutOfMemory,
                     fmt::format("Both sides at a time need about {}, and {} are available; lower batch-size, context or the model's size of both.",
                                 format::bytes(both + (a.gpu ? Bytes{} : starts)), format::bytes(available)));
}

}  // namespace stepscope
