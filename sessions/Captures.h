// The captures of a stored session by themselves: what each takes on the disk, and one of them removed while everything else stays. Called by the
// command line and the window's reader; removing opens a short writing connection.
#pragma once
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "core/analysis/captures/CaptureSentence.h"
#include "core/analysis/captures/LevelCosts.h"
#include "core/base/Result.h"
#include "core/base/Units.h"

namespace stepscope {

struct StoredCapture {
    std::int64_t number = 0;                // from 1, in order of time, as the column `capture` of queries counts them
    std::int64_t firstStep = 0, steps = 0;  // 0: not told, as of an imported trace or one that a kill cut short
    TimeNs end;                             // of its last step; of one that is not told its last record
    std::int64_t records = 0;               // slices, samples, allocations; of these
    std::int64_t slices = 0;                //   what had a begin and an end: operations, kernels, ranges; none: only its sums are stored
    TimeNs from, until;                     //   where those lie, half-open
    std::int64_t bytes = 0;                 // on the disk, with its share of no other; the level of detail is counted apart
    // How much longer its steps took than those around it that nothing disturbed (CaptureCost): 0.04 is 4 %. Unknown: too few of them, a switch was
    // flipped among its steps, or it is not among the newest kMostCosted.
    double cost = kUnknown, costLow = kUnknown, costHigh = kUnknown;  // with 95 % confidence between the last two
    bool ofSlowest = false;  // kept because its steps were slow, or from before that was told: its cost is not what capturing costs
};
constexpr std::size_t kMostCosted = 1000;
struct StoredCaptures {
    std::vector<StoredCapture> captures;
    std::int64_t detailBytes = 0;  // of the level of detail of all of them, which is made again when it is missing
    LevelCosts levels;             // of all of them together
};
Result<StoredCaptures> storedCaptures(const std::string& path, std::int64_t session);

// Of those that reach into [from, to): whether steps that were kept as the slowest, with their operations alone, are all there is. None: also where
// there is no capture.
SlowestSteps slowestAmong(const std::vector<StoredCapture>& captures, std::int64_t from = std::numeric_limits<std::int64_t>::min(),
                          std::int64_t to = std::numeric_limits<std::int64_t>::max());

// Removes it for good and gives its room back to the disk. NotFound names how many there are; a running session's are not removed. Those behind it
// have a number less from then on.
Status deleteCapture(const std::string& path, std::int64_t session, std::int64_t number);

// Gives free pages of the file back to the disk. A file that was made without room for that (by another program) is rebuilt once where it is small
// enough to do so at once; else it says what to do.
Status giveRoomBack(const std::string& path);

}  // namespace stepscope
