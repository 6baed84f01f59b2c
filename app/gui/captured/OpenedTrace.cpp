#include "app/gui/captured/OpenedTrace.h"

#include <algorithm>

#include "widgets/timeline/TimelineView.h"

namespace stepscope {

ToldTiles readTiles(TraceIndex& index, const std::vector<TilePlace>& places, std::size_t known) {
    ToldTiles told{.tiles = {}, .known = known, .styles = {}, .problem = {}};
    for (const TilePlace& place : places) {
        auto read = index.tiles(place.lane, place.level, place.index, place.index);
        if (read)
            told.tiles.insert(told.tiles.end(), read->begin(), read->end());
        else if (read.error().code != ErrorCode::Cancelled)
            told.problem = read.error().sentence;
    }
    told.styles = index.stylesFrom(known);
    return told;
}

void showTiles(TimelineView& view, const ToldTiles& told) {
    // Another answer may have told some of them meanwhile.
    const std::size_t had = std::min(view.styles() - std::min(view.styles(), told.known), told.styles.size());
    view.addStyles({told.styles.begin() + static_cast<std::ptrdiff_t>(had), told.styles.end()});
    view.addTiles(told.tiles);
}

}  // namespace stepscope
