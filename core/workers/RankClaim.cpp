#include "core/workers/RankClaim.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <random>
#include <sstream>
#include <tuple>

#include "core/base/Utf8.h"
#include "core/workers/WorkerPlace.h"

namespace stepscope {
namespace {

constexpr std::size_t kMostHost = 64, kMostMark = 32, kMostClaim = 256;

std::string named(const RankClaim& claim) {
    return fmt::format("process {} on {}", claim.process, claim.host);
}

}  // namespace

RankClaim ownClaim(int rank, int size) {
    std::array<char, 256> host{};
    ::gethostname(host.data(), host.size() - 1);
    std::random_device chance;
    RankClaim own{.rank = rank, .size = size, .host = printable(firstBytes(host.data(), kMostHost)), .process = ::getpid()};
    own.mark = fmt::format("{:08x}{:08x}", chance(), chance());
    if (own.host.empty() || own.host.find(' ') != std::string::npos) own.host = "?";
    return own;
}

std::string sayClaim(const RankClaim& claim) {
    return fmt::format("{} {} {} {} {}", claim.rank, claim.size, claim.process, claim.mark, claim.host);
}

std::optional<RankClaim> claimFrom(const std::string& said) {
    if (said.size() > kMostClaim) return std::nullopt;
    std::istringstream words(said);
    RankClaim claim;
    if (!(words >> claim.rank >> claim.size >> claim.process >> claim.mark >> claim.host) || claim.size < 1 || claim.size > kMostWorkers ||
        claim.rank < 0 || claim.rank >= claim.size || claim.process < 0)
        return std::nullopt;
    claim.host = printable(firstBytes(claim.host, kMostHost));
    claim.mark = printable(firstBytes(claim.mark, kMostMark));
    return claim;
}

std::string contradiction(const RankClaim& own, const RankClaim& other) {
    if (own == other) return {};
    // Alike with whoever tells: the lower rank first.
    const auto& [first, second] = other.rank < own.rank ? std::tie(other, own) : std::tie(own, other);
    if (first.size != second.size)
        return fmt::format("WORLD_SIZE is {} with worker {} ({}) and {} with worker {} ({}); all workers of a run must have the same.", first.size,
                           first.rank, named(first), second.size, second.rank, named(second));
    if (first.rank == second.rank)
        return fmt::format("RANK is {} with two workers, {} and {}; each must have its own.", first.rank, named(first), named(second));
    return {};
}

}  // namespace stepscope
