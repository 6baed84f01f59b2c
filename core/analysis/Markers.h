// Markers: what happened at single places of a run (flips, checkpoints, validations …), in order of place, for charts and the scrub bar. A stranger's
// session may hold a million: what is drawn of them is asked for by pixel and costs what there are pixels, not markers. Owned by RunHistory and by a
// run that is laid over others; not synchronised.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/analysis/RunPlace.h"
#include "core/base/Units.h"

namespace stepscope {

struct Marker {
    enum class Kind { Switch, Checkpoint, Validation, Suggestion, Measured };
    Kind kind = Kind::Switch;
    RunPlace place;
    std::string label;     // "bf16 on", "checkpoint": fits beside a line
    std::string detail;    // "Checkpoint after step 611: …"; of a run's flip empty, RunHistory::detailOf() says it
    std::size_t flip = 0;  // of a Switch: its place in RunHistory::flips()
    TimeNs at;
};

class Markers {
public:
    static constexpr std::size_t kKinds = 5;

    // Behind those that are there: places may stand still, never go back under any axis, and a number that is none stands where the one before does.
    void add(Marker marker);
    // Where its step belongs. Costs as many as are behind it.
    void insert(Marker marker);
    void eraseIf(const std::function<bool(const Marker&)>& isErased);

    bool empty() const { return m_all.empty(); }
    std::size_t size() const { return m_all.size(); }
    const Marker& operator[](std::size_t index) const { return m_all[index]; }
    auto begin() const { return m_all.begin(); }
    auto end() const { return m_all.end(); }

    std::size_t count(Marker::Kind kind) const { return before(kind, size()); }
    std::size_t before(Marker::Kind kind, std::size_t index) const;  // how many of this kind among the first `index`
    std::size_t nth(Marker::Kind kind, std::size_t number) const;    // the index of that one, counted from 0

private:
    using Counts = std::array<std::uint32_t, kKinds>;

    void count(std::size_t from);  // anew, from this index on

    std::vector<Marker> m_all;
    std::vector<Counts> m_counts;  // of each kind, up to each marker and with it
};

// Markers of one kind that fall onto one pixel.
struct FoldedMarker {
    double x = 0;  // whole pixels from the left
    Marker::Kind kind = Marker::Kind::Switch;
    std::size_t index = 0;            // the first of them, in Markers
    std::size_t first = 0, last = 0;  // their numbers among all of their kind, counted from 0
    std::size_t count() const { return last - first + 1; }
};

// Those with a share from 0 to 1 of `width` pixels, in order of place: at most one a kind and pixel, and none left out. shareOf: rises with the place
// along the axis; where it is no number nothing is seen. Costs what pixels there are, times the logarithm of the markers.
std::vector<FoldedMarker> foldMarkers(const Markers& markers, XAxis axis, const std::function<double(double place)>& shareOf, double width);

// Indices of the markers with a share between the two.
struct MarkerRange {
    std::size_t begin = 0, end = 0;
};
MarkerRange markersBetween(const Markers& markers, XAxis axis, const std::function<double(double place)>& shareOf, double from, double to);

}  // namespace stepscope
