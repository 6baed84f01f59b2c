// What operations are called and what they are called with, each kept once for the whole process: an operation that runs again costs a look into a
// table of its thread, no copy of a schema and no text. Used by OperationStream on the threads that do the work. What is kept is never given up; a
// process has some hundreds of it, and beyond a bound everything new is one thing.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/OperationSpan.h"

namespace at {
struct RecordFunction;
}

namespace stepscope {

struct OperationName {
    std::string text;
    bool works = false;  // does work itself, where nothing that it calls does: not a view, not making room, not a question
};

// The sizes and types that an operation was called with, and what that comes to.
struct OperationArguments {
    std::string text;  // as core/trace/Slice.h has it
    std::int64_t flops = 0, bytes = 0;
};

constexpr std::size_t kMostOperationNames = 1 << 16;
constexpr std::size_t kMostOperationArguments = 1 << 16;

// Never null and valid for ever. Of LibTorch's operation that begins or ends:
const OperationName& nameOf(const at::RecordFunction& operation);
// of one of our own:
const OperationName& ownName(const char* name);
// Of one of our own, which says what it computes and moves; null: nothing, or there are too many kinds.
const OperationArguments* ownArguments(const OperationName& name, const OperationWork& work);
// Of LibTorch's operation that begins, and only then; null: it has none, or there are too many kinds. Asked for with needsInputs.
const OperationArguments* argumentsOf(const at::RecordFunction& operation, const OperationName& name);

}  // namespace stepscope
