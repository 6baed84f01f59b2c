// OpenedTrace: what one session captured, opened for the thread that reads it; the timeline has one, the locked timelines of Compare another, two
// captures side by side one each. ToldTiles: what such a thread found of the tiles that a view asked for.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/trace/RowPicture.h"
#include "core/trace/TraceIndex.h"
#include "sessions/SessionTrace.h"

namespace stepscope {

class TimelineView;

struct OpenedTrace {
    std::uint64_t number = 0;  // of the reading; another is wanted meanwhile where its owner's is higher
    std::unique_ptr<SessionTrace> trace;
    std::unique_ptr<TraceIndex> index;  // null until it is open

    // Its lanes. Errors: those of SessionTrace and TraceIndex; ErrorCode::Cancelled where `goesOn` is false.
    Result<TraceLanes> open(const std::string& database, std::int64_t session, const std::function<bool()>& goesOn) {
        auto opened = SessionTrace::open(database, session);
        if (!opened) return opened.error();
        trace = std::move(*opened);
        if (auto whole = trace->complete(goesOn); !whole) return whole.error();
        index = std::make_unique<TraceIndex>(*trace, goesOn);
        return index->lanes();
    }
};

struct ToldTiles {
    std::vector<LodTilePtr> tiles;
    std::size_t known = 0;         // styles that the view had when it asked
    std::vector<LodStyle> styles;  // those behind them
    std::string problem;           // empty: none
};
ToldTiles readTiles(TraceIndex& index, const std::vector<TilePlace>& places, std::size_t known);  // on the reader's thread
void showTiles(TimelineView& view, const ToldTiles& told);                                        // GUI thread

}  // namespace stepscope
