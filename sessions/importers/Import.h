// import(): traces and logs that other programs wrote become a session of their own, of which what was imported can be browsed, compared and exported
// like what was recorded here; the sessions of another file of Stepscope's become sessions here. Called by the command line and by the window's
// importing thread; waits for the disk.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/base/Result.h"

namespace stepscope {

struct ImportRequest {
    std::string database;
    std::vector<std::string> files;  // together one session: the traces of several workers, each with a rank of its own
    std::string name;                // of the session; empty: after the first file, or as it is called in a file of sessions
    // Told now and then how far it is, 0 to 1, and with which file; false stops it, and nothing is stored.
    std::function<bool(double share, const std::string& file)> progress;
};

struct ImportSummary {
    std::int64_t session = 0;   // the newest where there are several
    std::int64_t sessions = 0;  // that another file of Stepscope's held; 0: what came in is a trace or a log
    std::int64_t steps = 0, operations = 0, kernels = 0;
    std::int64_t copies = 0, memsets = 0;  // on a device
    // Nsight Systems has both in one list: of its files all are the first.
    std::int64_t runtimeCalls = 0, driverCalls = 0, synchronisations = 0, annotations = 0, python = 0, others = 0;
    std::int64_t samples = 0, allocations = 0;
    std::int64_t flows = 0;                       // arrows of which both ends are there
    std::int64_t skipped = 0;                     // events that could not be kept
    std::map<std::string, std::int64_t> reasons;  // why, with how many; and what was left out of kept ones
    std::vector<std::string> notes;               // sentences about what was assumed
    double seconds = 0;
};

// What is wrong is one sentence that names the file, the byte where there is one, and what to do. Then, and when it is stopped or the process is
// killed, no session is there.
Result<ImportSummary> importFiles(const ImportRequest& request);

}  // namespace stepscope
