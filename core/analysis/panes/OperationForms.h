// OperationForms: in which number format operations computed, and how many threads shared one: what a roof is chosen by (Roofline.h). Blocks are
// added in any order. The panes and `profile` read it. Any thread, one at a time.
#pragma once
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>

#include "core/trace/Slice.h"

namespace stepscope {

class OperationForms {
public:
    void add(const SliceBlock& block);
    // Of its first tensor, as LibTorch names it, where most of its own time went; empty: unknown.
    std::string typeOf(const std::string& operation) const;
    // All of them with their share of its own time, the most first: "BFloat16 92 %, Float 8 %"; of one its name alone. Under autocast this says what
    // stayed in float32. Empty: unknown.
    std::string formatsOf(const std::string& operation) const;
    // Of our own operations each thread has a slice, so that the time by the clock is a part of its own time. The most of any one step: a Program
    // that is built anew has other threads.
    std::int64_t threadsOf(const std::string& operation) const;

private:
    std::map<std::string, std::map<std::string, std::int64_t>> m_types;                               // own time by operation and type
    std::map<std::string, std::set<std::tuple<std::int64_t, std::int64_t, std::int64_t>>> m_sharing;  // rank, step and lane of our own operations
};

}  // namespace stepscope
