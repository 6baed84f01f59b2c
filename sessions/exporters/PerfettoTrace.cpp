#include "sessions/exporters/PerfettoTrace.h"

#include <ostream>
#include <set>

#include "sessions/Samples.h"
#include "sessions/SessionStore.h"
#include "sessions/Slices.h"
#include "sessions/exporters/PerfettoPackets.h"

namespace stepscope {

Status exportPerfettoTrace(const std::string& database, std::int64_t session, std::ostream& out, const ExportProgress& progress,
                           const OneRank& rank) {
    auto reader = SessionReader::open(database);
    if (!reader) return reader.error();
    if (const auto info = (*reader)->info(session); !info) return info.error();
    const auto count = sliceCount(**reader, session);
    if (!count) return count.error();
    if (*count == 0) return noCapture(session);
    perfetto::PerfettoLinks links;
    std::set<std::int64_t> captured;
    const auto link = [&](const SliceBlock& block) -> Status {
        captured.insert(block.thread.rank);
        if (isOfRank(rank, block)) links.add(block);
        return stillWanted(progress);
    };
    if (auto done = forEachSliceBlock(**reader, session, link); !done) return done;
    if (auto there = rankIsThere(rank, session, captured); !there) return there;
    links.done();
    perfetto::PerfettoPackets packets(out, links);
    const auto add = [&](const auto& block) { return isOfRank(rank, block) ? packets.add(block) : Status(); };
    if (auto done = forEachSliceBlock(**reader, session, add); !done) return done;
    if (auto done = forEachSampleBlock(**reader, session, add); !done) return done;
    if (auto done = forEachAllocationBlock(**reader, session, add); !done) return done;
    if (auto done = packets.finish(); !done) return done;
    out.flush();
    return out ? Status() : makeError(ErrorCode::Io, "The trace could not be written; check the free room and the permissions of the target.");
}

}  // namespace stepscope
