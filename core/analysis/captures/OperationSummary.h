// OperationSummary: what captured slices (core/trace/Slice.h) come to, added up by operation, layer or role. The one place for it: `profile`, the
// page Operations and whatever explains a difference read this. Blocks are added in any order and however they were cut; the same slices give the
// same rows.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/base/KeyedHash.h"
#include "core/base/Result.h"
#include "core/base/Units.h"
#include "core/trace/OutermostCalls.h"
#include "core/trace/Slice.h"

namespace stepscope {

enum class SummaryBy { Operation, Kernel, Layer, Role };
enum class SummarySort { Self, Total, Memory };
Result<SummaryBy> summaryBy(const std::string& word);      // "op", "kernel", "layer", "role"
Result<SummarySort> summarySort(const std::string& word);  // "self", "total", "memory"

struct SummaryRow {
    std::string name;  // of the operation; of a layer layerName()
    std::int64_t calls = 0;
    TimeNs self;  // of all threads, without what was called
    // With it; a call within one of its own name counts once. Of a layer or role the same as self, as its operations call each other.
    TimeNs total;
    TimeNs spent;              // of all calls together, those within one of its own name too: what `mean` is of
    TimeNs shortest, longest;  // call
    // Where most of its own time was spent: the layer, the part of the model and the phase. Of a layer or role: that one.
    std::int32_t layer = -1;
    std::string role, phase;
    std::int64_t places = 0;            // layers and parts of the model that it ran in
    std::int64_t recomputed = 0;        // calls that were forward work run again in the backward pass
    std::int64_t flops = 0, bytes = 0;  // of all calls, where they are known
    bool own = false;                   // of our own kernels

    TimeNs mean() const { return {calls == 0 ? 0 : spent.ns / calls}; }
};

struct SummaryTotals {
    std::int64_t operations = 0;  // slices that are operations
    std::int64_t slices = 0;      // all
    std::int64_t lost = 0, invalid = 0;
    std::int64_t steps = 0;     // whole ones among the slices
    TimeNs stepTime;            // of them together
    std::int64_t lastStep = 0;  // the highest number among them
    TimeNs self;                // of all operations on all threads
    std::int64_t kernels = 0;   // kernels, copies and memsets on GPUs
    TimeNs deviceTime;          // of them together
    // Own time of the operations of the backward pass, and of those of them that have a place in the model.
    TimeNs backward, backwardPlaced;
};

// "layer 3", or for what lies outside of the blocks its role; "none" where neither is known.
std::string layerName(std::int32_t layer, const std::string& role);

class OperationSummary {
public:
    // Outermost calls that are remembered to tell those within them; of more than so many, calls within each other are counted as if they were not.
    static constexpr std::size_t kMostOutermost = 4'000'000;

    void add(const SliceBlock& block);
    // limit: 0 = all. Where rows are of a device: what ran on GPUs, kernels, copies and memsets; self and total are the same there.
    std::vector<SummaryRow> rows(SummaryBy by, SummarySort sort, std::size_t limit = 0) const;
    // By kernel; by layer and role too where places of what ran on GPUs are known: operations of such a run only launch it, or replay a graph of it.
    bool ofDevice(SummaryBy by) const;
    // What shares of the rows are of: time of operations on threads, or time on GPUs.
    TimeNs whole(SummaryBy by) const { return ofDevice(by) ? m_totals.deviceTime : m_totals.self; }
    const SummaryTotals& totals() const { return m_totals; }

private:
    struct Place {
        std::uint32_t name = 0, phase = 0, role = 0;
        std::int32_t layer = -1;
        bool own = false;
        bool operator==(const Place&) const = default;
    };
    struct Hash {
        std::size_t operator()(const Place& place) const;
    };
    struct Sum {
        std::int64_t calls = 0, self = 0, total = 0, spent = 0, shortest = 0, longest = 0, recomputed = 0, flops = 0, bytes = 0;
    };
    static void count(Sum& sum, const Slice& slice, const SliceArguments& arguments, std::int64_t total);
    std::uint32_t textOf(const std::string& text);

    std::vector<std::string> m_texts;
    KeyedMap<std::string, std::uint32_t> m_textPlaces;
    std::unordered_map<Place, Sum, Hash> m_sums, m_kernels;                               // of operations, of what ran on GPUs
    std::map<std::tuple<std::int64_t, std::uint32_t, bool>, OutermostCalls> m_outermost;  // by lane, name and whether it is of our own
    std::size_t m_remembered = 0;
    SummaryTotals m_totals;
};

}  // namespace stepscope
