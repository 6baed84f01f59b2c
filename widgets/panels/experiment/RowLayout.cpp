#include "widgets/panels/experiment/RowLayout.h"

#include <algorithm>

namespace stepscope {
namespace {

constexpr int kSpacing = 4, kLineGap = 1;
constexpr int kResetWidth = 18;
constexpr int kLeastAside = 40, kLeastEditor = 100;  // in a narrow panel; "every-block" is still read whole
constexpr int kNameWidth = 120;                      // that the name keeps as long as the others can be narrower
constexpr int kNarrow = 320;                         // a panel that is narrower cuts a name with an ellipsis,
constexpr double kRead = 0.7;                        //   as long as so much of it is left

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

int RowLayout::natural(Part part) const {
    return itemAt(part) == nullptr || itemAt(part)->isEmpty() ? 0 : itemAt(part)->sizeHint().width();
}

int RowLayout::signWidth() const {
    return natural(Sign) == 0 ? 0 : natural(Sign) + kSpacing;
}

// Of the width alone, so that all rows of a panel agree. What is missing is taken from what is said beside the editors first.
RowLayout::Columns RowLayout::columnsOf(int width) {
    const int gaps = 2 * kSpacing + kResetWidth;
    const int aside = std::clamp(width - kEditorWidth - gaps - kNameWidth, kLeastAside, kAsideWidth);
    const int editor = std::clamp(width - aside - gaps - kNameWidth, kLeastEditor, kEditorWidth);
    Columns columns{};
    columns.reset = width - kResetWidth;
    columns.asideWidth = aside;
    columns.aside = columns.reset - kSpacing - aside;
    columns.editorWidth = editor;
    columns.editor = columns.aside - kSpacing - editor;
    return columns;
}

// Two long words beside each other may need a little more than the column. Before a panel is laid out a row may be narrower than its column.
int RowLayout::editorNeeds(const Columns& columns) const {
    return std::max(columns.editorWidth, std::min(itemAt(Editor)->minimumSize().width(), columns.reset - kSpacing));
}

bool RowLayout::nameAbove(int width) const {
    const Columns columns = columnsOf(width);
    return (width < kNarrow ? kRead : 1) * natural(Name) > columns.editor - kSpacing ||
           editorNeeds(columns) > columns.editorWidth + columns.asideWidth / 2;
}

int RowLayout::lineHeight() const {
    int height = 0;
    for (const QLayoutItem* item : m_items) height = std::max(height, item->sizeHint().height());
    return height;
}

QSize RowLayout::sizeHint() const {
    return {natural(Name) + kEditorWidth + kAsideWidth + kResetWidth + 3 * kSpacing, lineHeight()};
}

QSize RowLayout::minimumSize() const {
    return {kLeastEditor + kLeastAside + kResetWidth + 2 * kSpacing, lineHeight()};
}

int RowLayout::heightForWidth(int width) const {
    return lineHeight() + (nameAbove(width) ? kLineGap + itemAt(Name)->sizeHint().height() : 0);
}

void RowLayout::setGeometry(const QRect& area) {
    QLayout::setGeometry(area);
    const Columns columns = columnsOf(area.width());
    const bool above = nameAbove(area.width());
    const int nameHeight = itemAt(Name)->sizeHint().height(), height = lineHeight();
    const int top = area.top() + (above ? nameHeight + kLineGap : 0);
    const auto place = [&](Part part, int x, int width) {
        QLayoutItem* item = itemAt(part);
        const int own = std::min(item->sizeHint().height(), height);
        item->setGeometry({area.left() + x, top + (height - own) / 2, width, own});
    };
    if (above)
        itemAt(Name)->setGeometry({area.left(), area.top(), std::min(natural(Name), area.width()), nameHeight});
    else
        place(Name, 0, columns.editor - kSpacing);
    place(Sign, columns.reset - kSpacing - natural(Sign), natural(Sign));
    const int editor = editorNeeds(columns), more = std::min(editor - columns.editorWidth, columns.asideWidth / 2);
    // What is wider than that has the name's place, which is above.
    place(Editor, std::max(0, columns.editor + columns.editorWidth + more - editor), editor);
    for (const Part part : {Remark, Chip}) place(part, columns.aside + more, columns.asideWidth - more - signWidth());
    place(Reset, columns.reset, kResetWidth);
}

}  // namespace stepscope
