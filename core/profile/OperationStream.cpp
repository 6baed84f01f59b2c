#include "core/profile/OperationStream.h"

#include <ATen/SequenceNumber.h>
#include <ATen/record_function.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <string_view>
#include <vector>

#include "core/base/Check.h"
#include "core/base/SteadyNow.h"
#include "core/profile/ForwardPlaces.h"
#include "core/profile/OperationNames.h"

namespace stepscope {
namespace {

using Observers = ObserverList<OperationObserver>;
constinit Observers observers;

std::atomic<std::int64_t> idsBegin{0};  // all ids are above it
std::atomic<std::int64_t> nextFree{1};

// Each thread takes some of them at a time.
std::int64_t nextId() {
    constexpr std::int64_t kTaken = 256;
    thread_local std::int64_t next = 0, end = 0;
    if (next == end || next <= idsBegin.load(std::memory_order_relaxed)) {
        next = nextFree.fetch_add(kTaken, std::memory_order_relaxed);
        end = next + kTaken;
    }
    return next++;
}

bool located(const StepPlace& place) {
    return place.layer >= 0 || place.role != Role::None;
}

// An operation of this thread that has begun and not ended.
struct Open {
    const void* key = nullptr;  // its RecordFunction, or the facts of its span
    std::int64_t id = 0;
    const OperationName* name = nullptr;
    Observers::Snapshot heard;  // who hears its end
    StepPlace place;
    std::int64_t step = 0;
    bool ours = false;
    bool backward = false;
    bool inOurs = false;    // part of an operation of our own
    bool launched = false;  // something that it called was a launch
    const OperationArguments* arguments = nullptr;
    std::int64_t sequence = -1;
    std::uint64_t forwardThread = 0;
    std::int64_t forwardBegin = 0;
    std::int64_t begin = 0, called = 0;
};
struct OpenRange {
    const void* key = nullptr;
    Observers::Snapshot heard;
    std::int64_t step = 0;
    std::int64_t begin = 0, called = 0;
};

struct Here {
    std::vector<Open> operations;
    std::vector<OpenRange> ranges;  // around all operations
    StepPlace lastNode;             // of autograd: gradients of parameters are added up behind the node that gives them
    // LibTorch's callbacks have no state of their own, so each thread has one for all that listen on it.
    int listening = 0, askingForArguments = 0;
    bool asks = false;  // what the callback was made with
    at::CallbackHandle callback = 0;
};
thread_local Here t_here;

// Of the step in progress, for threads that do not know theirs: LibTorch's backward pass on a GPU has some of its own.
std::atomic<Activity> activityOfStep{Activity::None};
std::atomic<std::int64_t> stepInProgress{0};
// Observers that ask, of any thread: our own operations run on threads where nobody listens.
std::atomic<int> askingForArguments{0};

// The node that an operation called from within one of our autograd functions belongs to: such a function makes its node and then runs its forward
// pass without grad mode, so the newest node of this thread is its own.
std::int64_t nodeOfFusedFunction(const StepPlace& place) {
    if (c10::GradMode::is_enabled() || (place.activity != Activity::Forward && !place.recomputed)) return -1;
    const auto next = static_cast<std::int64_t>(at::sequence_number::peek());
    return next > 0 ? next - 1 : -1;
}

Open& begins(const void* key, const OperationName& name, bool ours, StepPlace place) {
    Here& here = t_here;
    if (place.activity == Activity::None) place.activity = activityOfStep.load(std::memory_order_relaxed);
    const Open* around = here.operations.empty() ? nullptr : &here.operations.back();
    if (around != nullptr && !located(place)) {
        place.layer = around->place.layer;
        place.role = around->place.role;
    }
    if (!located(place) && (place.activity == Activity::Clip || place.activity == Activity::Optimizer)) place.role = Role::Optimizer;
    const bool inOurs = around != nullptr && (around->ours || around->inOurs);
    here.operations.push_back({.key = key,
                               .id = nextId(),
                               .name = &name,
                               .heard = observers.now(),
                               .place = place,
                               .step = stepInProgress.load(std::memory_order_relaxed),
                               .ours = ours,
                               .inOurs = inOurs,
                               .begin = 0});
    return here.operations.back();
}

// Once its place is known.
void tellBegin(const Open& open, int worker) {
    if (!open.heard) return;
    const OperationBegun begun{.id = open.id, .known = open.name, .ours = open.ours, .worker = worker, .place = open.place, .step = open.step};
    for (const auto& observer : *open.heard) observer->operationBegins(begun);
}

void tellLost(std::int64_t operations) {
    if (const auto heard = observers.now())
        for (const auto& observer : *heard) observer->lost(operations);
}

// worker: of an operation of our own.
void ends(const void* key, int worker) {
    const std::int64_t end = steadyNow();
    auto& all = t_here.operations;
    const auto found = std::ranges::find(all.rbegin(), all.rend(), key, &Open::key);
    if (found == all.rend()) return;
    if (const auto inside = all.end() - found.base(); inside > 0) {  // never: operations of a thread nest
        all.erase(found.base(), all.end());
        tellLost(inside);
    }
    const Open open = std::move(all.back());
    all.pop_back();
    const std::int64_t total = end - open.begin;
    const bool launch = open.name->works && !open.launched && (open.ours || !open.inOurs);
    if (!all.empty()) {
        Open& around = all.back();
        around.called += total;
        around.launched |= launch || open.launched;
        // Autograd's step into a node knows nothing of it; the node in it does.
        if (!located(around.place)) {
            around.place.layer = open.place.layer;
            around.place.role = open.place.role;
        }
    } else if (!t_here.ranges.empty()) {
        t_here.ranges.back().called += total;
    }
    if (!open.heard) return;
    const OperationDone done{
        .id = open.id,
        .name = open.name->text.c_str(),
        .known = open.name,
        .ours = open.ours,
        .backward = open.backward,
        .worker = worker,
        .place = open.place,
        .step = open.step,
        .launch = launch && worker == 0,
        .works = open.name->works,
        .inItself = std::ranges::any_of(all, [&](const Open& around) { return around.name == open.name || around.name->text == open.name->text; }),
        .totalNs = total,
        .selfNs = std::max<std::int64_t>(0, total - open.called),
        .beginNs = open.begin,
        .depth = static_cast<int>(all.size() + t_here.ranges.size()),
        .arguments = open.arguments,
        .sequence = open.sequence,
        .forwardThread = open.forwardThread,
        .forwardBeginNs = open.forwardBegin};
    for (const auto& observer : *open.heard) observer->operationEnds(done);
}

void beginsNode(const at::RecordFunction& operation, Open& open) {
    open.backward = true;
    open.sequence = operation.seqNr();
    open.forwardThread = operation.forwardThreadId();
    StepPlace& last = t_here.lastNode;
    if (const auto origin = forward_places::find(open.forwardThread, open.sequence)) {
        open.place.layer = origin->place.layer;
        open.place.role = origin->place.role;
        open.forwardBegin = origin->beginNs;
        last = open.place;
    } else if (open.name->text.find("AccumulateGrad") != std::string::npos) {
        open.place.layer = last.layer;
        open.place.role = last.role;
    }
}

std::unique_ptr<at::ObserverContext> torchBegins(const at::RecordFunction& operation) {
    const OperationName& name = nameOf(operation);
    Open& open = begins(&operation, name, false, placeHere());
    if (t_here.asks) open.arguments = argumentsOf(operation, name);
    open.begin = steadyNow();
    if (operation.scope() == at::RecordScope::BACKWARD_FUNCTION) {
        beginsNode(operation, open);
        tellBegin(open, 0);
        return nullptr;
    }
    open.sequence = operation.seqNr();
    const std::int64_t node = open.sequence >= 0 ? open.sequence : nodeOfFusedFunction(open.place);
    if (node >= 0) forward_places::note(node, open.place, open.begin);
    tellBegin(open, 0);
    return nullptr;
}
void torchEnds(const at::RecordFunction& operation, at::ObserverContext*) {
    ends(&operation, 0);
}

// Our own operations and the ranges join the stream.
class OwnOperations final : public StepObserver {
    void spanBegins(const SpanFacts& span) noexcept override {
        if (span.place.activity == Activity::Text) return;
        Open& open = begins(&span, ownName(span.name), true, span.place);
        if (askingForArguments.load(std::memory_order_relaxed) > 0) open.arguments = ownArguments(*open.name, span.work);
        open.begin = steadyNow();
        open.sequence = nodeOfFusedFunction(open.place);
        if (open.sequence >= 0) forward_places::note(open.sequence, open.place, open.begin);
        tellBegin(open, span.worker);
    }
    void spanEnds(const SpanFacts& span) noexcept override {
        if (span.place.activity != Activity::Text) ends(&span, span.worker);
    }
    void rangeBegins(const RangeFacts& range) noexcept override {
        if (range.kind == RangeFacts::Kind::Step)
            stepInProgress.store(range.step, std::memory_order_relaxed);
        else
            activityOfStep.store(range.activity, std::memory_order_relaxed);
        const std::int64_t step = range.step != 0 ? range.step : stepInProgress.load(std::memory_order_relaxed);
        t_here.ranges.push_back({&range, observers.now(), step, steadyNow()});
    }
    void rangeEnds(const RangeFacts& range) noexcept override {
        const std::int64_t end = steadyNow();
        if (range.kind == RangeFacts::Kind::Step)
            stepInProgress.store(0, std::memory_order_relaxed);
        else
            activityOfStep.store(Activity::None, std::memory_order_relaxed);
        auto& all = t_here.ranges;
        const auto found = std::ranges::find(all.rbegin(), all.rend(), &range, &OpenRange::key);
        if (found == all.rend()) return;
        if (const auto inside = all.end() - found.base(); inside > 0) {
            all.erase(found.base(), all.end());
            tellLost(inside);
        }
        const OpenRange open = std::move(all.back());
        all.pop_back();
        const std::int64_t total = end - open.begin;
        if (!all.empty()) all.back().called += total;
        if (!open.heard) return;
        const RangeDone done{.facts = range,
                             .step = open.step,
                             .beginNs = open.begin,
                             .totalNs = total,
                             .selfNs = std::max<std::int64_t>(0, total - open.called),
                             .depth = static_cast<int>(all.size())};
        for (const auto& observer : *open.heard) observer->rangeDone(done);
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

// As those who listen on this thread want it now.
void renewCallback() {
    Here& here = t_here;
    const bool asks = here.askingForArguments > 0;
    if (here.callback != 0 && here.listening > 0 && here.asks == asks) return;
    if (here.callback != 0) at::removeCallback(here.callback);
    here.callback = 0;
    here.asks = asks;
    if (here.listening == 0) return;
    here.callback = at::addThreadLocalCallback(
        at::RecordFunctionCallback(torchBegins, torchEnds).needsInputs(asks).scopes({at::RecordScope::FUNCTION, at::RecordScope::BACKWARD_FUNCTION}));
}

}  // namespace

void numberOperationsFrom(std::int64_t first) {
    std::int64_t free = nextFree.load(std::memory_order_relaxed);
    while (free <= first && !nextFree.compare_exchange_weak(free, first + 1, std::memory_order_relaxed)) {
    }
    std::int64_t begin = idsBegin.load(std::memory_order_relaxed);
    while (begin < first && !idsBegin.compare_exchange_weak(begin, first, std::memory_order_relaxed)) {
    }
}

std::int64_t operationsNumberedFrom() {
    return idsBegin.load(std::memory_order_relaxed);
}

OperationListening::OperationListening(std::shared_ptr<OperationObserver> observer, Arguments arguments)
    : m_observer(observer.get()), m_arguments(arguments) {
    observers.add(std::move(observer));
    Joined& all = joined();
    {
        const std::lock_guard lock(all.mutex);
        if (all.listening++ == 0) stepObservers.add(all.own);
    }
    t_here.listening += 1;
    t_here.askingForArguments += arguments == Arguments::Yes ? 1 : 0;
    askingForArguments += arguments == Arguments::Yes ? 1 : 0;
    renewCallback();
}

OperationListening::~OperationListening() {
    SS_CHECK(t_here.listening > 0);
    t_here.listening -= 1;
    t_here.askingForArguments -= m_arguments == Arguments::Yes ? 1 : 0;
    askingForArguments -= m_arguments == Arguments::Yes ? 1 : 0;
    renewCallback();
    Joined& all = joined();
    {
        const std::lock_guard lock(all.mutex);
        if (--all.listening == 0) stepObservers.remove(all.own.get());
    }
    observers.remove(m_observer);
}

}  // namespace stepscope
