#include "core/analysis/panes/FlameTree.h"

#include <algorithm>
#include <limits>

namespace stepscope {

FlameTree::FlameTree() : m_texts{std::string()}, m_textPlaces{{std::string(), 0}}, m_nodes(1) {
    m_nodes[0].first = std::numeric_limits<std::int64_t>::max();
}

std::uint32_t FlameTree::textOf(const std::string& text) {
    const auto [found, added] = m_textPlaces.try_emplace(text, static_cast<std::uint32_t>(m_texts.size()));
    if (added) m_texts.push_back(text);
    return found->second;
}

std::uint32_t FlameTree::childOf(std::uint32_t parent, std::uint32_t text, SliceKind kind, std::int64_t start) {
    const std::uint64_t key = static_cast<std::uint64_t>(parent) << 32 | text;
    if (const auto found = m_places.find(key); found != m_places.end()) {
        m_nodes[found->second].first = std::min(m_nodes[found->second].first, start);
        return found->second;
    }
    if (m_nodes.size() >= kMostNodes) {
        m_full = true;
        return parent;
    }
    const auto place = static_cast<std::uint32_t>(m_nodes.size());
    m_places.emplace(key, place);
    m_nodes.push_back({.text = text, .parent = parent, .depth = m_nodes[parent].depth + 1, .kind = kind, .first = start});
    m_nodes[parent].children.push_back(place);
    return place;
}

void FlameTree::add(const std::string& lane, const std::vector<NestedSlice>& slices, const std::vector<std::string>& texts) {
    if (slices.empty()) return;
    const std::uint32_t top = childOf(0, textOf(lane), SliceKind::Other, slices.front().start);
    std::unordered_map<std::uint32_t, std::uint32_t> known;
    std::vector<std::uint32_t> nodes(slices.size(), top);
    for (std::size_t i = 0; i < slices.size(); ++i) {
        const NestedSlice& one = slices[i];
        const auto [found, added] = known.try_emplace(one.text, 0);
        if (added) found->second = textOf(texts[one.text]);
        const std::uint32_t caller = one.parent < 0 ? top : nodes[static_cast<std::size_t>(one.parent)];
        const std::uint32_t node = childOf(caller, found->second, one.kind, one.start);
        nodes[i] = node;
        m_nodes[node].self += one.self;
        if (node == caller) continue;  // no room for it: its own time is its caller's
        m_nodes[node].calls += 1;
    }
    // From the leaves up: a node is behind its parent.
    for (FlameNode& node : m_nodes) node.total = node.self;
    for (std::size_t i = m_nodes.size(); i-- > 1;) m_nodes[m_nodes[i].parent].total += m_nodes[i].total;
    m_nodes[0].first = std::min(m_nodes[0].first, slices.front().start);
}

FlameTree FlameTree::bottomUp() const {
    FlameTree turned;
    turned.m_nodes[0].first = m_nodes[0].first;
    // The texts are the same: their numbers stay.
    turned.m_texts = m_texts;
    turned.m_textPlaces = m_textPlaces;
    for (std::uint32_t i = 1; i < m_nodes.size(); ++i) {
        const FlameNode& leaf = m_nodes[i];
        if (leaf.self <= 0) continue;
        std::uint32_t into = 0, at = i;
        for (; at != 0; at = m_nodes[at].parent) {
            const std::uint32_t next = turned.childOf(into, m_nodes[at].text, m_nodes[at].kind, m_nodes[at].first);
            if (next == into) break;
            into = next;
            turned.m_nodes[into].total += leaf.self;
            turned.m_nodes[into].calls += leaf.calls;
            if (at == i) turned.m_nodes[into].self += leaf.self;
        }
        turned.m_nodes[0].total += leaf.self;
    }
    turned.m_full = turned.m_full || m_full;
    return turned;
}

std::vector<FlameBox> flameBoxes(const FlameTree& tree, std::uint32_t shown, FlameOrder order, double least) {
    const auto& nodes = tree.nodes();
    std::vector<FlameBox> boxes;
    if (shown >= nodes.size() || nodes[shown].total <= 0) return boxes;
    for (std::uint32_t at = shown;; at = nodes[at].parent) {
        boxes.push_back({at, nodes[at].depth, 0, 1});
        if (at == 0) break;
    }
    std::ranges::reverse(boxes);
    const double scale = 1 / static_cast<double>(nodes[shown].total);
    // Breadth first; the list itself is the queue.
    for (std::size_t next = boxes.size() - 1; next < boxes.size(); ++next) {
        const FlameBox outer = boxes[next];
        std::vector<std::uint32_t> children = nodes[outer.node].children;
        std::ranges::stable_sort(children, [&](std::uint32_t a, std::uint32_t b) {
            return order == FlameOrder::Time ? nodes[a].first < nodes[b].first : nodes[a].total > nodes[b].total;
        });
        double left = outer.left;
        for (const std::uint32_t child : children) {
            const double wide = static_cast<double>(nodes[child].total) * scale;
            if (wide >= least && wide > 0) boxes.push_back({child, nodes[child].depth, left, left + wide});
            left += wide;
        }
    }
    return boxes;
}

}  // namespace stepscope
