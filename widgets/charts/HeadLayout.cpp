#include "widgets/charts/HeadLayout.h"

#include <algorithm>
#include <utility>

namespace stepscope {
namespace {

// A number that gains a digit must not send an item to the other row: each is given the room of four characters at least.
double roomOf(const std::vector<LegendItem>& items, const TextWidth& width) {
    double room = legendWidth(items, width);
    for (const LegendItem& item : items)
        if (!item.value.isEmpty()) room += std::max(0.0, width(QStringLiteral("0.00")) - width(item.value));
    return room;
}

void shorten(std::vector<LegendItem>& items) {
    for (LegendItem& item : items) {
        if (!item.shortName.isEmpty()) item.name = item.shortName;
        if (!item.shortValue.isEmpty()) item.value = item.shortValue;
    }
}

void dropNumbers(std::vector<LegendItem>& items, double room, const TextWidth& width) {
    for (auto item = items.rbegin(); item != items.rend() && legendWidth(items, width) > room; ++item) item->value.clear();
}

}  // namespace

double itemWidth(const LegendItem& item, const TextWidth& width) {
    const double swatch = item.mark == LegendItem::Mark::None ? 0 : kSwatch + kSwatchGap;
    const double value = item.value.isEmpty() ? 0 : width(item.value) + kSwatchGap;
    return swatch + width(item.name) + value;
}

double legendWidth(const std::vector<LegendItem>& items, const TextWidth& width) {
    double all = 0;
    for (const LegendItem& item : items) all += itemWidth(item, width) + kItemGap;
    return std::max(0.0, all - kItemGap);
}

HeadRows layHead(std::vector<LegendItem> items, double titleRoom, double belowRoom, const TextWidth& width) {
    HeadRows rows;
    if (belowRoom <= 0) {
        rows.title = std::move(items);
        if (legendWidth(rows.title, width) > titleRoom) shorten(rows.title);
    } else {
        // Numbers about the whole chart stand beside its title, the series below.
        for (LegendItem& item : items) (item.mark == LegendItem::Mark::None ? rows.title : rows.below).push_back(std::move(item));
        if (legendWidth(rows.below, width) > belowRoom) {
            shorten(rows.below);
            auto wider = rows.title;
            while (rows.below.size() > 1 && roomOf(rows.below, width) > belowRoom) {
                wider.insert(wider.begin(), rows.below.back());
                if (roomOf(wider, width) > titleRoom) break;
                rows.title = wider;
                rows.below.pop_back();
            }
        }
    }
    dropNumbers(rows.title, titleRoom, width);
    dropNumbers(rows.below, belowRoom, width);
    return rows;
}

}  // namespace stepscope
