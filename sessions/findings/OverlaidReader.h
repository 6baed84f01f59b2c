// OverlaidReader: reads of one stored run what charts of several runs show, and nothing else: the columns of its steps that are drawn, device
// samples, flips, the last validation. Each call opens a connection of its own, so that several sessions are read at once; any thread but the GUI's.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "core/analysis/overlay/OverlaidRun.h"
#include "core/base/Result.h"

namespace stepscope {

struct OverlaidRead {
    std::shared_ptr<const OverlaidRun> run;  // has at least one row
    StoredRun facts;                         // what RunComparison looks at, without values by step
};

// Steps are kept one a row up to `mostRows` (at least 1000), and of a longer run several together. `goOn` is asked every few thousand steps, with the
// share that is read (0 to 1); where it says no, the error is Cancelled.
// Errors, each one sentence that names the session: not there (or deleted), no run, without steps, rows that mean nothing.
Result<OverlaidRead> readOverlaid(const std::string& path, std::int64_t session, std::size_t mostRows, const std::function<bool(double share)>& goOn);

// A sketch of the same, to be seen until all of it is read: about `places` of its steps, evenly over its time, the first and the last among them.
// Null where the run is so short that it is read as soon. Errors: as above.
Result<std::shared_ptr<const OverlaidRun>> sketchOverlaid(const std::string& path, std::int64_t session, std::size_t places);

}  // namespace stepscope
