#include "core/inference/Sampling.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace stepscope {
namespace {

// Ids in the order of their likelihood, of which only the first are ever brought into it.
class Likeliest {
public:
    Likeliest(std::span<const float> logits, std::vector<std::int64_t> ids) : m_logits(logits), m_ids(std::move(ids)) {}

    std::size_t size() const { return m_ids.size(); }
    std::int64_t at(std::size_t place) {
        while (place >= m_sorted) sortMore();
        return m_ids[place];
    }
    // The first `count` alone are left, in no order.
    void keep(std::size_t count) {
        if (count >= m_ids.size()) return;
        std::nth_element(m_ids.begin(), m_ids.begin() + static_cast<std::ptrdiff_t>(count), m_ids.end(), before());
        m_ids.resize(count);
    }
    const std::vector<std::int64_t>& ids() const { return m_ids; }

private:
    struct Before {
        std::span<const float> logits;
        bool operator()(std::int64_t a, std::int64_t b) const {
            const float x = logits[static_cast<std::size_t>(a)], y = logits[static_cast<std::size_t>(b)];
            return x > y || (x == y && a < b);
        }
    };
    Before before() const { return {m_logits}; }
    void sortMore() {
        const std::size_t until = std::min(m_ids.size(), std::max<std::size_t>(64, m_sorted * 4));
        const auto place = [this](std::size_t i) { return m_ids.begin() + static_cast<std::ptrdiff_t>(i); };
        if (until < m_ids.size()) std::nth_element(place(m_sorted), place(until), m_ids.end(), before());
        std::sort(place(m_sorted), place(until), before());
        m_sorted = until;
    }

    std::span<const float> m_logits;
    std::vector<std::int64_t> m_ids;
    std::size_t m_sorted = 0;
};

}  // namespace

Result<std::int64_t> drawToken(std::span<const float> logits, const GenerateText& request, double random01) {
    std::size_t first = 0;
    bool numbers = !logits.empty();
    for (std::size_t i = 0; i < logits.size(); ++i) {
        numbers = numbers && logits[i] <= std::numeric_limits<float>::max();  // false for NaN and infinity
        if (logits[i] > logits[first]) first = i;
    }
    if (!numbers || !std::isfinite(logits[first]))
        return makeError(ErrorCode::Training,
                         "These weights give no numbers as likelihoods, so no text can be written with them; choose an earlier checkpoint.");
    if (request.temperature == 0) return static_cast<std::int64_t>(first);

    std::vector<std::int64_t> all(logits.size());
    std::iota(all.begin(), all.end(), 0);
    Likeliest order(logits, std::move(all));
    if (request.topK > 0) order.keep(static_cast<std::size_t>(request.topK));
    const double highest = logits[first];
    const auto share = [&](std::int64_t id) { return std::exp((logits[static_cast<std::size_t>(id)] - highest) / request.temperature); };
    double sum = 0;
    for (const std::int64_t id : order.ids()) sum += share(id);
    // Top-p keeps the smallest set of likeliest tokens whose probability reaches p.
    std::size_t kept = order.size();
    double mass = sum;
    if (request.topP < 1) {
        kept = 0;
        mass = 0;
        while (kept < order.size() && mass < request.topP * sum) mass += share(order.at(kept++));
    }
    double place = random01 * mass;
    for (std::size_t i = 0; i < kept; ++i)
        if ((place -= share(order.at(i))) < 0) return order.at(i);
    return order.at(kept - 1);
}

Penalties::Penalties(const GenerateText& request, std::span<const std::int64_t> prompt)
    : m_repetition(request.repetitionPenalty), m_frequency(request.frequencyPenalty), m_presence(request.presencePenalty) {
    if (any())
        for (const std::int64_t id : prompt) m_written.try_emplace(id, 0);
}

void Penalties::wrote(std::int64_t id) {
    if (any()) ++m_written[id];
}

void Penalties::apply(std::span<float> logits) const {
    for (const auto& [id, times] : m_written) {
        float& logit = logits[static_cast<std::size_t>(id)];
        double value = logit > 0 ? logit / m_repetition : logit * m_repetition;
        if (times > 0) value -= m_frequency * static_cast<double>(times) + m_presence;
        logit = static_cast<float>(value);
    }
}

}  // namespace stepscope
