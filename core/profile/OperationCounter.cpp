#include "core/profile/OperationCounter.h"

#include <ATen/core/function_schema.h>
#include <ATen/record_function.h>

#include <atomic>
#include <string_view>

#include "core/base/Check.h"

namespace stepscope {
namespace {

// The callbacks are plain functions, and backward may run on threads of LibTorch's own, which take over this thread's observers.
std::atomic<std::int64_t> operations{0};
std::atomic<bool> counting{false};

struct Running final : at::ObserverContext {
    Running* outer = nullptr;
    bool counted = false;  // what it calls, in part or all
};
thread_local Running* innermost = nullptr;

std::unique_ptr<at::ObserverContext> begun(const at::RecordFunction&) {
    auto running = std::make_unique<Running>();
    running->outer = innermost;
    innermost = running.get();
    return running;
}

bool worksOnNothing(const at::RecordFunction& operation) {
    const std::string_view name = operation.name();
    for (const char* nothing : {"aten::empty", "aten::item", "aten::_local_scalar_dense"})
        if (name.starts_with(nothing)) return true;
    const auto schema = operation.operator_schema();
    if (!schema) return true;  // no operator: a step on the way into one
    if (schema->returns().empty()) return false;
    const auto* alias = schema->returns()[0].alias_info();
    return alias != nullptr && !alias->isWrite();  // a view, or the argument itself
}

void ended(const at::RecordFunction& operation, at::ObserverContext* context) {
    const auto* running = static_cast<Running*>(context);
    innermost = running->outer;
    const bool counts = !running->counted && !worksOnNothing(operation);
    if (counts) operations.fetch_add(1, std::memory_order_relaxed);
    if (innermost != nullptr && (counts || running->counted)) innermost->counted = true;
}

}  // namespace

OperationCounter::OperationCounter() {
    SS_CHECK(!counting.exchange(true));
    operations = 0;
    m_callback = at::addThreadLocalCallback(at::RecordFunctionCallback(begun, ended).scopes({at::RecordScope::FUNCTION}));
    operationListener() = this;
}

OperationCounter::~OperationCounter() {
    operationListener() = nullptr;
    at::removeCallback(m_callback);
    counting = false;
}

std::int64_t OperationCounter::count() const {
    return operations + m_own;
}

void OperationCounter::begin(const char*, int member) {
    if (member == 0) m_own.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace stepscope
