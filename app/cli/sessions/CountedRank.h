// CountedRank: whose part of what several workers captured `profile` counts, and the words for it. Main thread.
#pragma once
#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "core/base/Result.h"
#include "core/events/SessionInfo.h"

namespace stepscope::cli {

class CountedRank {
public:
    static void addOption(CLI::App& command, std::string& into);
    // Of a run of ours the first worker's unless another is named, as a step is the same work with each; of what was imported or compared all.
    static Result<CountedRank> from(const std::string& asked, SessionKind kind);

    // Whether what is of this rank is counted; remembers that it is there.
    bool counts(std::int64_t rank);
    // Once all is read: whether there is anything of the one that was named. How well the times of others than the first are known is read too.
    Status check(const std::string& database, std::int64_t session);

    std::optional<std::int64_t> rank() const { return m_rank; }  // none: all
    const std::set<std::int64_t>& there() const { return m_there; }
    std::string text() const;  // lines for a person; empty where there is one rank

private:
    std::optional<std::int64_t> m_rank;
    bool m_named = false, m_ofRun = false;
    std::set<std::int64_t> m_there;
    std::string m_clocks;
};

}  // namespace stepscope::cli
