#include "core/profile/OperationTable.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "core/profile/OperationNames.h"

namespace stepscope {
namespace {

constexpr std::size_t kMostKinds = 8192;  // kept apart meanwhile; a step has some hundreds
constexpr const char* kOfLaterKinds = "operations of more kinds than 8192: the later ones together";

struct Word {
    const char* part;  // of the name
    OperationKind kind;
};
// The first that fits. Names are LibTorch's ("aten::native_layer_norm_backward") and our own ("MLP + projection backward").
constexpr Word kWords[] = {
    {"cross_entropy", OperationKind::Loss},
    {"cross-entropy", OperationKind::Loss},
    {"nll_loss", OperationKind::Loss},
    {"log_softmax", OperationKind::Loss},
    {"attention", OperationKind::Attention},
    {"softmax", OperationKind::Attention},
    {"QKV bias", OperationKind::Pointwise},
    {"merge QKV", OperationKind::Memory},
    {"QKV", OperationKind::MatrixProduct},
    {"MLP", OperationKind::MatrixProduct},
    {"weight gradient", OperationKind::MatrixProduct},
    {"pack", OperationKind::Memory},
    {"::linalg_vector_norm", OperationKind::Pointwise},
    {"::norm", OperationKind::Pointwise},
    {"norm", OperationKind::Norm},
    {"::linear", OperationKind::MatrixProduct},
    {"::matmul", OperationKind::MatrixProduct},
    {"mm", OperationKind::MatrixProduct},
    {"::mv", OperationKind::MatrixProduct},
    {"embedding", OperationKind::Embedding},
    {"index_select", OperationKind::Embedding},
    {"::copy_", OperationKind::Memory},
    {"::_to_copy", OperationKind::Memory},
    {"::to", OperationKind::Memory},
    {"::clone", OperationKind::Memory},
    {"::contiguous", OperationKind::Memory},
    {"::cat", OperationKind::Memory},
    {"::zero", OperationKind::Memory},
    {"::fill_", OperationKind::Memory},
    {"::full", OperationKind::Memory},
    {"::ones", OperationKind::Memory},
    {"::empty", OperationKind::Other},
    {"CUDA graph", OperationKind::Other},
};

// Kept apart in a table: without layers, whose number has no bound worth storing. The kind follows from it.
struct Cell {
    const OperationName* name;
    Activity activity;
    Role role;
    bool ours;
    bool backward;
    bool operator==(const Cell&) const = default;
};
struct HashOfCell {
    std::size_t operator()(const Cell& cell) const {
        const auto place = static_cast<std::size_t>(cell.activity) << 8 | static_cast<std::size_t>(cell.role) << 16 |
                           static_cast<std::size_t>(cell.ours) << 24 | static_cast<std::size_t>(cell.backward) << 25;
        return (reinterpret_cast<std::uintptr_t>(cell.name) ^ place) * 0x9E3779B97F4A7C15ULL >> 16;
    }
};
// As rows are told: several overloads have one name.
struct Key {
    std::string name;
    OperationKind kind;
    Activity activity;
    Role role;
    bool ours;
    auto operator<=>(const Key&) const = default;
};

struct Sum {
    OperationKind kind = OperationKind::Other;
    std::int64_t runs = 0, launches = 0, totalNs = 0, selfNs = 0;
};

}  // namespace

const char* toString(OperationKind kind) {
    constexpr const char* words[kOperationKinds] = {"matrix product", "attention", "norm", "pointwise", "loss",
                                                    "embedding",      "optimizer", "data", "memory",    "other"};
    return words[static_cast<std::size_t>(kind)];
}

OperationKind kindOf(const OperationDone& operation) {
    if (operation.place.role == Role::Communication) return OperationKind::Other;  // it computes next to nothing
    const Activity activity = operation.place.activity;
    if (activity == Activity::Batch || activity == Activity::Copy) return OperationKind::Data;
    if (activity == Activity::Clip || activity == Activity::Optimizer) return OperationKind::Optimizer;
    if (operation.backward) return OperationKind::Other;  // it calls what does the work
    const std::string_view name = operation.name;
    if (name.starts_with("autograd::")) return OperationKind::Other;  // the way into an operation
    for (const auto& [part, kind] : kWords)
        if (name.find(part) != std::string_view::npos) return kind;
    return operation.launch || operation.works || operation.ours ? OperationKind::Pointwise : OperationKind::Other;
}

class OperationTable::Sums final : public OperationObserver {
public:
    void operationEnds(const OperationDone& operation) noexcept override {
        const Cell cell{operation.known, operation.place.activity, operation.place.role, operation.ours, operation.backward};
        const std::lock_guard lock(m_mutex);
        // Those of the steps, not of what is done between them.
        m_launches += operation.launch && operation.step != 0 ? 1 : 0;
        auto found = m_sums.find(cell);
        if (found == m_sums.end()) {
            if (m_sums.size() < kMostKinds) found = m_sums.emplace(cell, Sum{.kind = kindOf(operation)}).first;
        }
        Sum& sum = found == m_sums.end() ? m_later : found->second;
        sum.runs += operation.worker == 0 ? 1 : 0;
        sum.launches += operation.launch ? 1 : 0;
        if (!operation.inItself) sum.totalNs += operation.totalNs;
        sum.selfNs += operation.selfNs;
    }

    void addTo(CaptureDone& done) const {
        const std::lock_guard lock(m_mutex);
        std::map<Key, Sum> merged;
        for (const auto& [cell, sum] : m_sums) {
            Sum& into = merged[{cell.name->text.substr(0, kLongestOperationName), sum.kind, cell.activity, cell.role, cell.ours}];
            into.runs += sum.runs;
            into.launches += sum.launches;
            into.totalNs += sum.totalNs;
            into.selfNs += sum.selfNs;
        }
        // They may call each other, so only their own time can be added up.
        if (m_later.runs > 0 || m_later.selfNs > 0) {
            Sum& into = merged[{kOfLaterKinds, m_later.kind, Activity::None, Role::None, false}];
            into = m_later;
            into.totalNs = m_later.selfNs;
        }
        auto rows = std::make_shared<std::vector<CapturedOperation>>();
        for (const auto& [key, sum] : merged)
            rows->push_back({.name = key.name,
                             .kind = toString(key.kind),
                             .phase = toString(key.activity),
                             .role = toString(key.role),
                             .ours = key.ours,
                             .runs = sum.runs,
                             .launches = sum.launches,
                             .total = {sum.totalNs},
                             .self = {sum.selfNs}});
        std::ranges::stable_sort(*rows, [](const auto& a, const auto& b) { return a.self > b.self; });
        if (rows->size() > kMostCapturedOperations) {
            done.leftOut = static_cast<std::int64_t>(rows->size() - kMostCapturedOperations);
            rows->resize(kMostCapturedOperations);
        }
        done.rows = std::move(rows);
        if (done.steps > 0) done.operations = static_cast<double>(m_launches) / static_cast<double>(done.steps);
    }

private:
    mutable std::mutex m_mutex;
    std::unordered_map<Cell, Sum, HashOfCell> m_sums;
    Sum m_later;  // of kinds that came when there was no room for more
    std::int64_t m_launches = 0;
};

OperationTable::OperationTable() : m_sums(std::make_shared<Sums>()), m_listening(m_sums) {}
OperationTable::~OperationTable() = default;

std::string OperationTable::finish(CaptureDone& into) {
    m_sums->addTo(into);
    return {};
}

}  // namespace stepscope
