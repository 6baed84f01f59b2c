#include "core/profile/OperationStream.h"

#include <ATen/core/function_schema.h>
#include <ATen/record_function.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <string_view>
#include <vector>

#include "core/base/Check.h"
#include "core/base/OperationSpan.h"

namespace stepscope {
namespace {

using Observers = ObserverList<OperationObserver>;
constinit Observers observers;

std::int64_t now() {
    return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}

// An operation of this thread that has begun and not ended.
struct Open {
    const void* key = nullptr;  // its RecordFunction, or the facts of its span
    Observers::Snapshot heard;  // who hears its end
    StepPlace place;
    std::int64_t step = 0;
    bool ours = false;
    bool inOurs = false;    // part of an operation of our own
    bool launched = false;  // something that it called was a launch
    std::int64_t begin = 0, called = 0;
};
thread_local std::vector<Open> t_open;

// Of the step in progress, for threads that do not know theirs: LibTorch's backward pass on a GPU has some of its own.
std::atomic<Activity> activityOfStep{Activity::None};
std::atomic<std::int64_t> stepInProgress{0};

void begins(const void* key, bool ours, StepPlace place) {
    if (place.activity == Activity::None) place.activity = activityOfStep.load(std::memory_order_relaxed);
    const bool inOurs = !t_open.empty() && (t_open.back().ours || t_open.back().inOurs);
    t_open.push_back({.key = key,
                      .heard = observers.now(),
                      .place = place,
                      .step = stepInProgress.load(std::memory_order_relaxed),
                      .ours = ours,
                      .inOurs = inOurs,
                      .begin = now()});
}

// works: it is work itself, if nothing that it called was.
void ends(const void* key, const char* name, int worker, bool works) {
    const std::int64_t end = now();
    const auto found = std::ranges::find(t_open.rbegin(), t_open.rend(), key, &Open::key);
    if (found == t_open.rend()) return;
    t_open.erase(found.base(), t_open.end());  // never any: operations of a thread nest
    const Open open = std::move(t_open.back());
    t_open.pop_back();
    const std::int64_t total = end - open.begin;
    const bool launch = works && !open.launched && (open.ours || !open.inOurs);
    if (!t_open.empty()) {
        t_open.back().called += total;
        t_open.back().launched |= launch || open.launched;
    }
    if (!open.heard) return;
    const OperationDone done{.name = name,
                             .ours = open.ours,
                             .worker = worker,
                             .place = open.place,
                             .step = open.step,
                             .launch = launch && worker == 0,
                             .works = works,
                             .totalNs = total,
                             .selfNs = std::max<std::int64_t>(0, total - open.called)};
    for (const auto& observer : *open.heard) observer->operationEnds(done);
}

bool givesTensors(const c10::FunctionSchema& schema) {
    return std::ranges::any_of(schema.returns(), [](const c10::Argument& returned) {
        return returned.type()->isSubtypeOf(*c10::TensorType::get()) || returned.type()->isSubtypeOf(*c10::ListType::ofTensors()) ||
               returned.type()->isSubtypeOf(*c10::OptionalType::ofTensor());
    });
}

bool works(const at::RecordFunction& operation) {
    const std::string_view name = operation.name();
    for (const char* nothing : {"aten::empty", "aten::item", "aten::_local_scalar_dense", "aten::_unsafe_view", "aten::resize_"})
        if (name.starts_with(nothing)) return false;
    const auto schema = operation.operator_schema();
    if (!schema) return false;                   // no operator: a step on the way into one
    if (schema->returns().empty()) return true;  // writes into its arguments
    if (!givesTensors(*schema)) return false;    // a size, a type, a yes or no
    const auto* alias = schema->returns()[0].alias_info();
    return alias == nullptr || alias->isWrite();  // else a view, or the argument itself
}

std::unique_ptr<at::ObserverContext> torchBegins(const at::RecordFunction& operation) {
    begins(&operation, false, placeHere());
    return nullptr;
}
void torchEnds(const at::RecordFunction& operation, at::ObserverContext*) {
    ends(&operation, operation.name(), 0, works(operation));
}

// Our own operations join the stream.
class OwnOperations final : public StepObserver {
    void spanBegins(const SpanFacts& span) noexcept override {
        if (span.place.activity != Activity::Text) begins(&span, true, span.place);
    }
    void spanEnds(const SpanFacts& span) noexcept override {
        if (span.place.activity != Activity::Text) ends(&span, span.name, span.worker, true);
    }
    void rangeBegins(const RangeFacts& range) noexcept override {
        if (range.kind == RangeFacts::Kind::Step)
            stepInProgress.store(range.step, std::memory_order_relaxed);
        else
            activityOfStep.store(range.activity, std::memory_order_relaxed);
    }
    void rangeEnds(const RangeFacts& range) noexcept override {
        if (range.kind == RangeFacts::Kind::Step)
            stepInProgress.store(0, std::memory_order_relaxed);
        else
            activityOfStep.store(Activity::None, std::memory_order_relaxed);
    }
};

// One for the whole process while anybody listens, on whatever threads.
struct Joined {
    std::mutex mutex;
    int listening = 0;
    std::shared_ptr<StepObserver> own = std::make_shared<OwnOperations>();
};
Joined& joined() {
    static Joined one;
    return one;
}

// LibTorch's callbacks have no state of their own, so each thread has one for all that listen on it.
thread_local int t_listening = 0;
thread_local at::CallbackHandle t_callback = 0;

}  // namespace

OperationListening::OperationListening(std::shared_ptr<OperationObserver> observer) : m_observer(observer.get()) {
    observers.add(std::move(observer));
    Joined& all = joined();
    {
        const std::lock_guard lock(all.mutex);
        if (all.listening++ == 0) stepObservers.add(all.own);
    }
    if (t_listening++ == 0)
        t_callback = at::addThreadLocalCallback(at::RecordFunctionCallback(torchBegins, torchEnds).scopes({at::RecordScope::FUNCTION}));
}

OperationListening::~OperationListening() {
    SS_CHECK(t_listening > 0);
    if (--t_listening == 0) at::removeCallback(t_callback);
    Joined& all = joined();
    {
        const std::lock_guard lock(all.mutex);
        if (--all.listening == 0) stepObservers.remove(all.own.get());
    }
    observers.remove(m_observer);
}

}  // namespace stepscope
