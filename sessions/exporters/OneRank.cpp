#include "sessions/exporters/OneRank.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sessions/SessionStore.h"
#include "sessions/Slices.h"

namespace stepscope {

Status rankIsThere(const OneRank& asked, std::int64_t session, const std::set<std::int64_t>& captured) {
    if (!asked || captured.empty() || captured.contains(*asked)) return {};
    return makeError(ErrorCode::NotFound, fmt::format("Session {} has captured nothing of rank {}; it has rank{} {}.", session, *asked,
                                                      captured.size() == 1 ? "" : "s", fmt::join(captured, ", ")))
        .about(Subject::Kind::Session, std::to_string(session));
}

std::string severalRanksSentence(const std::string& database, std::int64_t session) {
    const auto reader = SessionReader::open(database);
    const auto threads = reader ? sliceThreads(**reader, session) : Result<std::vector<SliceThread>>(reader.error());
    if (!threads) return {};  // what cannot be read the export has said
    std::set<std::int64_t> ranks;
    for (const SliceThread& thread : *threads) ranks.insert(thread.rank);
    if (ranks.size() < 2) return {};
    return fmt::format("It has ranks {}; stepscope-cli sessions export-trace {} --rank N writes one alone, as HTA and TensorBoard's plug-in want it.",
                       fmt::join(ranks, ", "), session);
}

}  // namespace stepscope
