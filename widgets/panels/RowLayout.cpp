#include "widgets/panels/RowLayout.h"

#include <algorithm>

namespace stepscope {
namespace {

constexpr int kSpacing = 4, kLineGap = 1;
constexpr int kIndent = 2;  // of a chip below a name: where the name's letters begin

}  // namespace

RowLayout::~RowLayout() {
    for (QLayoutItem* item : m_items) delete item;
}

QLayoutItem* RowLayout::itemAt(int index) const {
    return index >= 0 && index < count() ? m_items[static_cast<std::size_t>(index)] : nullptr;
}

QLayoutItem* RowLayout::takeAt(int index) {
    QLayoutItem* taken = itemAt(index);
    if (taken != nullptr) m_items.erase(m_items.begin() + index);
    return taken;
}

bool RowLayout::shown(Part part) const {
    return itemAt(part) != nullptr && !itemAt(part)->isEmpty();
}

int RowLayout::natural(Part part) const {
    if (!shown(part)) return 0;
    return part == Editor ? itemAt(part)->maximumSize().width() : itemAt(part)->sizeHint().width();
}

int RowLayout::least(Part part) const {
    return shown(part) ? itemAt(part)->minimumSize().width() : 0;
}

int RowLayout::taken(Part part) const {
    return shown(part) ? kSpacing + natural(part) : 0;
}

RowLayout::Lines RowLayout::split(int width) const {
    Lines lines;
    const int beside = width - natural(Name) - taken(Sign) - kSpacing;  // the editor's room beside the name
    const bool editorBelow = least(Editor) > beside;
    const int room = editorBelow ? width - taken(Sign) - taken(Reset) - (shown(Chip) ? kIndent + least(Chip) + kSpacing : 0) : beside;
    lines.editorWidth = std::max(least(Editor), std::min(natural(Editor), room));
    int left = editorBelow ? width - natural(Name) : beside - lines.editorWidth;
    const bool resetBelow = taken(Reset) > left;
    if (!resetBelow) left -= taken(Reset);
    const bool chipBelow = editorBelow || kSpacing + least(Chip) > left;
    lines.chipWidth = chipBelow ? natural(Chip) : std::min(natural(Chip), left - kSpacing);

    lines.above.push_back(Name);
    (chipBelow ? lines.below : lines.above).push_back(Chip);
    (resetBelow ? lines.below : lines.above).push_back(Reset);
    for (const Part part : {Sign, Editor}) (editorBelow ? lines.below : lines.above).push_back(part);
    for (auto* line : {&lines.above, &lines.below}) {
        std::erase_if(*line, [this](Part part) { return !shown(part); });
        std::ranges::sort(*line, {}, [&](Part part) { return line == &lines.below && part == Chip ? -1 : static_cast<int>(part); });
    }
    return lines;
}

int RowLayout::widthOf(Part part, const Lines& lines) const {
    return part == Editor ? lines.editorWidth : part == Chip ? lines.chipWidth : natural(part);
}

int RowLayout::heightOf(const std::vector<Part>& line) const {
    int height = 0;
    for (const Part part : line) height = std::max(height, itemAt(part)->sizeHint().height());
    return height;
}

QSize RowLayout::sizeHint() const {
    return {natural(Name) + taken(Reset) + taken(Chip) + taken(Sign) + taken(Editor), heightOf(split(QLAYOUTSIZE_MAX).above)};
}

// With all but the name on the second line.
QSize RowLayout::minimumSize() const {
    const int chip = shown(Chip) ? kIndent + least(Chip) + kSpacing : 0;
    return {std::max(least(Name), chip + taken(Reset) + taken(Sign) + least(Editor)), sizeHint().height()};
}

int RowLayout::heightForWidth(int width) const {
    const Lines lines = split(width);
    return heightOf(lines.above) + (lines.below.empty() ? 0 : kLineGap + heightOf(lines.below));
}

void RowLayout::setGeometry(const QRect& area) {
    QLayout::setGeometry(area);
    const Lines lines = split(area.width());
    const QRect above(area.left(), area.top(), area.width(), heightOf(lines.above));
    place(lines.above, above, lines);
    place(lines.below, {area.left(), above.bottom() + 1 + kLineGap, area.width(), heightOf(lines.below)}, lines);
}

// The name or, on the second line, the chip stands left; the rest ends at the right edge.
void RowLayout::place(const std::vector<Part>& line, const QRect& area, const Lines& lines) {
    int right = area.right() + 1;
    for (auto part = line.rbegin(); part != line.rend(); ++part) {
        QLayoutItem* item = itemAt(*part);
        const int height = item->sizeHint().height();
        QRect at(0, area.top() + (area.height() - height) / 2, widthOf(*part, lines), height);
        at.moveRight(right - 1);
        if (*part == Name) at.setLeft(area.left());
        if (*part == Chip && part + 1 == line.rend()) {
            at.moveLeft(area.left() + kIndent);
            at.setRight(std::min(at.right(), right - 1));
        }
        item->setGeometry(at);
        right -= at.width() + kSpacing;
    }
}

}  // namespace stepscope
