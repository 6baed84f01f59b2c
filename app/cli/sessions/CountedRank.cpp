#include "app/cli/sessions/CountedRank.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/events/ConfigKeys.h"
#include "sessions/Samples.h"

namespace stepscope::cli {

void CountedRank::addOption(CLI::App& command, std::string& into) {
    command.add_option("--rank", into, "Of several workers: count this one alone, or all; a run's first unless said, of an import all")
        ->type_name("N|all")
        ->take_last();
}

Result<CountedRank> CountedRank::from(const std::string& asked, SessionKind kind) {
    CountedRank counted;
    counted.m_ofRun = kind == SessionKind::Run;
    if (asked == "all") return counted;
    if (asked.empty()) {
        if (counted.m_ofRun) counted.m_rank = 0;
        return counted;
    }
    const auto rank = parseValue(IntegerRange{0, 1'000'000'000}, "--rank", asked);
    if (!rank) return rank.error();
    counted.m_rank = std::get<std::int64_t>(*rank);
    counted.m_named = true;
    return counted;
}

bool CountedRank::counts(std::int64_t rank) {
    m_there.insert(rank);
    return !m_rank || rank == *m_rank;
}

Status CountedRank::check(const std::string& database, std::int64_t session) {
    if (m_named && !m_there.empty() && !m_there.contains(*m_rank))
        return makeError(ErrorCode::NotFound, fmt::format("Session {} has captured nothing of rank {}; it has rank{} {}.", session, *m_rank,
                                                          m_there.size() == 1 ? "" : "s", fmt::join(m_there, ", ")));
    if (!m_ofRun || m_there.size() < 2 || m_rank == 0) return {};
    const auto map = workerMapOf(database, session);
    if (!map) return map.error();
    m_clocks = map->clockWords();
    return {};
}

std::string CountedRank::text() const {
    if (m_there.size() < 2) return {};
    const std::string whose = m_rank ? fmt::format("Counted is rank {} of {}; --rank all counts all of them together.\n", *m_rank, m_there.size())
                                     : fmt::format("Counted are all {} ranks together; --rank {} counts one.\n", m_there.size(), *m_there.begin());
    return m_clocks.empty() ? whose : whose + m_clocks + "\n";
}

}  // namespace stepscope::cli
