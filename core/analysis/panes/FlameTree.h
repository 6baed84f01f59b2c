// FlameTree: what called what for how long, the same calls of the same callers as one: what a flame graph draws. A lane, its slices nested
// (LaneNest.h), is a child of the root. Top-down it starts at the lanes, bottom-up at what takes the time. Any thread, one at a time.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "core/analysis/panes/LaneNest.h"
#include "core/base/KeyedHash.h"

namespace stepscope {

struct FlameNode {
    std::uint32_t text = 0;  // a place in FlameTree::texts()
    std::uint32_t parent = 0;
    std::int32_t depth = 0;
    SliceKind kind = SliceKind::Other;
    std::int64_t total = 0, self = 0;  // ns
    std::int64_t calls = 0;
    std::int64_t first = 0;  // ns: when the first of them began
    std::vector<std::uint32_t> children;
};

class FlameTree {
public:
    static constexpr std::size_t kMostNodes = 200'000;

    FlameTree();
    // `texts`: of NestedSlice::text. `lane`: what it is called. What would make more nodes than there may be counts as its caller's own time.
    void add(const std::string& lane, const std::vector<NestedSlice>& slices, const std::vector<std::string>& texts);

    bool empty() const { return m_nodes.size() == 1; }
    bool full() const { return m_full; }
    // The first is the root: all lanes together.
    const std::vector<FlameNode>& nodes() const { return m_nodes; }
    const std::vector<std::string>& texts() const { return m_texts; }
    const std::string& name(std::uint32_t node) const { return m_texts[m_nodes[node].text]; }
    // What takes the time first, below it who called it; lanes last.
    FlameTree bottomUp() const;

private:
    std::uint32_t textOf(const std::string& text);
    std::uint32_t childOf(std::uint32_t parent, std::uint32_t text, SliceKind kind, std::int64_t start);  // `parent` itself where it is full

    std::vector<std::string> m_texts;
    KeyedMap<std::string, std::uint32_t> m_textPlaces;
    std::vector<FlameNode> m_nodes;
    KeyedMap<std::uint64_t, std::uint32_t> m_places;  // by parent and text
    bool m_full = false;
};

enum class FlameOrder { Time, Heaviest };  // of those beside each other: what began first, or what took most

struct FlameBox {
    std::uint32_t node = 0;
    std::int32_t row = 0;
    double left = 0, right = 0;  // 0..1 of the width there is
};
// What is seen where `shown` has all the width: it and its callers, full width each, then what it called. Boxes narrower than `least` are left out.
std::vector<FlameBox> flameBoxes(const FlameTree& tree, std::uint32_t shown, FlameOrder order, double least);

}  // namespace stepscope
