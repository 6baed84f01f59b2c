// Sampling: which token follows, from the logits of all of them. Temperature, top-k (Fan et al. 2018), top-p (Holtzman et al. 2020), and penalties
// for what was written already. On the thread that writes text; sorts only as much of the vocabulary as the draw comes to.
#pragma once
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "core/base/Result.h"
#include "core/events/Command.h"

namespace stepscope {

// Draws one id. random01 in [0, 1): the ids lie in the order of their likelihood, the likeliest first and equal ones by number, each as long as its
// probability, and the one at that place is taken. An error where a logit is no number.
Result<std::int64_t> drawToken(std::span<const float> logits, const GenerateText& request, double random01);

// What a sequence has so far, and what that does to its logits. Of each id that occurs in prompt or text the logit is divided by the repetition
// penalty where it is positive and multiplied by it where it is not (Keskar et al., "CTRL", 2019, section 4.1, which divides; a negative logit would
// gain by that); of each id that was written, frequency penalty times how often, and the presence penalty once, are taken away.
class Penalties {
public:
    Penalties(const GenerateText& request, std::span<const std::int64_t> prompt);
    bool any() const { return m_repetition != 1 || m_frequency != 0 || m_presence != 0; }
    void wrote(std::int64_t id);
    void apply(std::span<float> logits) const;

private:
    double m_repetition, m_frequency, m_presence;
    std::unordered_map<std::int64_t, std::int64_t> m_written;  // how often; 0 = in the prompt alone
};

}  // namespace stepscope
