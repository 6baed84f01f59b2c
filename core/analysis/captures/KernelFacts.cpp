#include "core/analysis/captures/KernelFacts.h"

#include <algorithm>
#include <limits>

namespace stepscope {
namespace {

// The rows of all workers as one for each name, worker after worker.
class FactsOfWorkers {
public:
    void add(const KernelRow& row) {
        KernelFacts& facts = m_all[row.name];
        Growing& one = m_growing[row.name];
        if (row.total.ns > one.heaviest) {
            one.heaviest = row.total.ns;
            facts.phase = row.phase;
        }
        one.delay = boundedTime(one.delay, row.launchDelay.ns);
        facts.launched += row.launched;
        if (row.occupancy < 0) return;
        const auto weight = static_cast<double>(std::max<std::int64_t>(1, row.total.ns));
        one.blocks += row.blocksPerMultiprocessor * weight;
        one.occupancy += row.occupancy * weight;
        one.known += weight;
    }
    std::map<std::string, KernelFacts> done() {
        for (auto& [name, facts] : m_all) {
            const Growing& one = m_growing[name];
            facts.launchDelay.ns = facts.launched > 0 ? one.delay / facts.launched : 0;
            if (one.known > 0) {
                facts.blocksPerMultiprocessor = one.blocks / one.known;
                facts.occupancy = one.occupancy / one.known;
            }
        }
        return std::move(m_all);
    }

private:
    struct Growing {
        std::int64_t heaviest = -1, delay = 0;
        double blocks = 0, occupancy = 0, known = 0;
    };
    std::map<std::string, KernelFacts> m_all;
    std::map<std::string, Growing> m_growing;
};

}  // namespace

std::int64_t boundedTime(std::int64_t a, std::int64_t b) {
    std::int64_t sum = 0;
    return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<std::int64_t>::max() : sum;
}

std::map<std::string, KernelFacts> kernelFacts(const std::map<std::int64_t, DeviceSummary>& devices) {
    FactsOfWorkers all;
    for (const auto& [rank, device] : devices)
        for (const KernelRow& row : device.kernels()) all.add(row);
    return all.done();
}

std::uint32_t KernelFactSums::placeOf(std::int64_t rank, std::uint32_t name) {
    const auto [found, added] = m_places.try_emplace({rank, name}, static_cast<std::uint32_t>(m_sums.size()));
    if (added) m_sums.emplace_back();
    return found->second;
}

void KernelFactSums::add(std::uint32_t place, const Kernel& kernel) {
    Sum& sum = m_sums[place];
    sum.total = boundedTime(sum.total, kernel.duration);
    std::int64_t& time = sum.ofPlace[{kernel.phase, kernel.role, kernel.layer}];
    time = boundedTime(time, kernel.duration);
    if (kernel.occupancy < 0) return;
    const auto weight = static_cast<double>(kernel.duration);
    sum.blocks += static_cast<double>(kernel.blocks) * weight;
    sum.occupancy += static_cast<double>(kernel.occupancy) * weight;
    sum.known += weight;
}

std::map<std::string, KernelFacts> KernelFactSums::facts(const std::vector<std::string>& texts, const std::vector<Waited>& waited) const {
    FactsOfWorkers all;
    for (const auto& [key, place] : m_places) {
        const Sum& sum = m_sums[place];
        KernelRow row{.name = texts[key.second], .total = {sum.total}};
        const auto most = std::ranges::max_element(sum.ofPlace, {}, [](const auto& one) { return one.second; });
        if (most != sum.ofPlace.end()) row.phase = texts[std::get<0>(most->first)];
        row.launchDelay.ns = waited[place].delay;
        row.launched = waited[place].launched;
        if (sum.known > 0) {
            row.blocksPerMultiprocessor = sum.blocks / sum.known;
            row.occupancy = sum.occupancy / sum.known;
        }
        all.add(row);
    }
    return all.done();
}

}  // namespace stepscope
