#include "app/workbench/inference/FormTurns.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>
#include <utility>

#include "core/profile/ProcessUsage.h"

namespace stepscope {
namespace {

constexpr std::int64_t kMostOfABlock = 10'000;  // prompts, or tokens of a text
constexpr std::int64_t kTriedTokens = 4, kWarmingTokens = 2;

double secondsNow() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

RoundsRules withArms(RoundsRules rules, std::size_t arms) {
    rules.arms = arms;
    rules.measures = FormTurns::kMeasures;
    return rules;
}

std::int64_t timesFor(double blockSeconds, double each) {
    return std::clamp<std::int64_t>(static_cast<std::int64_t>(std::ceil(blockSeconds / std::max(each, 1e-9))), 1, kMostOfABlock);
}

}  // namespace

FormTurns::FormTurns(Setup setup)
    : m_setup(std::move(setup)), m_rounds(withArms(m_setup.rules, m_setup.forms.size())), m_processors(usableProcessors()), m_begin(secondsNow()) {}

void FormTurns::run(const std::function<bool()>& ended, const std::function<void()>& afterRound) {
    std::size_t turns = 0;
    while (!m_rounds.over()) {
        if (ended()) {
            m_rounds.stop();
            break;
        }
        const auto order = m_rounds.next();
        if (!order) break;
        m_rounds.done(carryOut(*order));
        if (++turns % m_rounds.blocksARound() == 0) afterRound();
    }
    m_decoders.clear();
}

// All are let go of first: at no time are there two copies of one form.
void FormTurns::build() {
    m_decoders.clear();
    m_bytes.clear();
    m_caches.clear();
    for (const WeightType form : m_setup.forms) {
        m_decoders.push_back(std::make_unique<TimedDecoder>(*m_setup.weights, form, m_setup.shape, m_setup.prompts, m_setup.threads));
        m_bytes.push_back(m_decoders.back()->bytesOfAToken());
        m_caches.push_back(m_decoders.back()->decoder().cacheBytes());
        static_cast<void>(m_decoders.back()->readPrompts());
    }
    if (m_prompts == 0) chooseLengths();
}

// All forms do the same work in a block: so much that the fastest one's lasts long enough.
void FormTurns::chooseLengths() {
    double prompt = 0, token = 0;
    for (const auto& decoder : m_decoders) {
        const double read = decoder->readPrompts(), written = decoder->write(kTriedTokens) / static_cast<double>(kTriedTokens);
        prompt = prompt > 0 ? std::min(prompt, read) : read;
        token = token > 0 ? std::min(token, written) : written;
    }
    m_prompts = timesFor(m_setup.blockSeconds, prompt);
    m_tokens = timesFor(m_setup.blockSeconds, token);
}

ArmTimes FormTurns::carryOut(const RoundOrder& order) {
    ArmTimes times;
    const double begin = secondsNow();
    if (order.rebuild) {
        build();
        times.rebuildSeconds = secondsNow() - begin;
    }
    TimedDecoder& decoder = *m_decoders[order.arm];
    const auto processorsBefore = processorTimes(m_processors);
    const std::int64_t ownBefore = processorNs();
    // The caches hold another form's weights.
    static_cast<void>(decoder.write(kWarmingTokens));
    const auto sequences = static_cast<double>(m_setup.shape.sequences);
    const double prompts = decoder.readPrompts(m_prompts), texts = decoder.write(m_tokens);
    times.perToken = {prompts / (static_cast<double>(m_prompts * m_setup.shape.prompt) * sequences),
                      texts / (static_cast<double>(m_tokens) * sequences)};
    for (double& seconds : times.perToken) seconds = std::max(seconds, 1e-12);
    if (const auto after = processorTimes(m_processors); processorsBefore && after)
        if (const auto shares = sharesBetween(*processorsBefore, *after, processorNs() - ownBefore))
            times.others = shares->othersPct / 100 * static_cast<double>(m_processors.size());
    times.elapsed = secondsNow() - m_begin;
    return times;
}

}  // namespace stepscope
