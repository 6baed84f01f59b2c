// A timeline over a trace in memory, without a window around it: the tiles that it wants are there as soon as it asks, as if a reader took no time.
#pragma once
#include <gtest/gtest.h>

#include <QColor>
#include <QCoreApplication>
#include <QImage>
#include <QPixmap>
#include <set>

#include "core/base/StepPlace.h"
#include "core/trace/SliceCodec.h"
#include "tests/core/trace/MemoryTrace.h"
#include "widgets/timeline/TimelineView.h"

namespace stepscope {

constexpr qint64 kTrainerLane = 10, kStreamLane = 77;
constexpr qint64 millisecondsNs(double ms) {
    return static_cast<qint64>(ms * 1e6);
}

// A step of 30 ms with two operations, one of which calls a third; and a kernel.
inline std::vector<SliceBlock> stepAndKernel() {
    SliceBlock host, stream;
    host.thread = {.process = 1, .thread = 10, .name = "trainer", .lane = kTrainerLane};
    host.strings = {"", "step 1", "aten::linear", "aten::gelu", "aten::mm", toString(Role::AttentionQkv), toString(Role::MlpUp)};
    const auto slice = [](double from, double to, std::uint32_t name, std::uint32_t role, std::int32_t depth, SliceKind kind) {
        Slice made;
        made.start = millisecondsNs(from);
        made.duration = millisecondsNs(to - from);
        made.name = name;
        made.role = role;
        made.depth = depth;
        made.kind = kind;
        return made;
    };
    host.slices = {slice(0, 30, 1, 0, 0, SliceKind::Step), slice(1, 10, 2, 5, 1, SliceKind::Operation), slice(2, 6, 4, 5, 2, SliceKind::Operation),
                   slice(11, 20, 3, 6, 1, SliceKind::Operation)};
    host.slices[0].called = millisecondsNs(18);
    host.slices[1].called = millisecondsNs(4);
    stream.thread = {.thread = 7, .lane = kStreamLane, .device = 0};
    stream.strings = {"", "gemm"};
    stream.slices = {slice(12, 18, 1, 0, 0, SliceKind::Kernel)};
    return {host, stream};
}

template <class View>
struct TimelineOver {
    MemoryTrace trace;
    TraceIndex index{trace};
    View view;
    std::set<TilePlace> asked;

    explicit TimelineOver(const std::vector<SliceBlock>& blocks = stepAndKernel(), QSize size = {900, 300}) {
        for (const SliceBlock& block : blocks) trace.add(encodeSlices(block));
        trace.finish();
        QObject::connect(&view, &TimelineView::tilesWanted, &view, [this](const std::vector<TilePlace>& places) {
            std::vector<LodTilePtr> tiles;
            for (const TilePlace& place : places) {
                asked.insert(place);
                auto some = index.tiles(place.lane, place.level, place.index, place.index);
                if (some) tiles.insert(tiles.end(), some->begin(), some->end());
            }
            view.addStyles(index.stylesFrom(view.styles()));
            view.addTiles(tiles);
        });
        view.resize(size);
        view.setContent(content());
        settle();
    }
    TimelineContent content(qint64 session = 1) {
        TimelineContent made;
        made.session = session;
        auto lanes = index.lanes();
        if (lanes) made.lanes = std::move(*lanes);
        return made;
    }
    // Everything that it asks for has come and is drawn.
    void settle() {
        for (int i = 0; i < 20; ++i) {
            view.grab();
            if (view.sharp()) return;
            QCoreApplication::processEvents();
        }
        ADD_FAILURE() << "it goes on asking";
    }
    QImage picture() { return view.grab().toImage(); }
    // At the upper edge of a row, above the letters.
    QColor colourAt(double ms, qint64 lane, int depth) {
        return QColor(picture().pixel(static_cast<int>(view.xOf(millisecondsNs(ms))), view.yOf(lane, depth) - TimelineLayout::kBar / 2 + 1));
    }
};
using ShownTimeline = TimelineOver<TimelineView>;

}  // namespace stepscope
