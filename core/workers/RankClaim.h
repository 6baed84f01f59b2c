// RankClaim: what a worker says of itself where all meet, before anything is done together, so that a rank that two processes have, and numbers of
// workers that are not alike, are one sentence at once and not a wait for somebody who never comes. Torch-free; any thread.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

namespace stepscope {

struct RankClaim {
    int rank = 0, size = 1;
    std::string host;  // as for a person; of printable characters
    std::int64_t process = 0;
    std::string mark{};  // tells two processes of one number apart, as containers have them
    bool operator==(const RankClaim&) const = default;
};
RankClaim ownClaim(int rank, int size);

// As it is written where workers meet; what was read there is a stranger's: nothing where it is no claim.
std::string sayClaim(const RankClaim& claim);
std::optional<RankClaim> claimFrom(const std::string& said);

// Why the two cannot be workers of one run: they say other numbers of workers, or are two with one rank. Empty: they can, or are the same one.
std::string contradiction(const RankClaim& own, const RankClaim& other);

}  // namespace stepscope
