#include "core/inference/TimedDecoder.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "core/base/Check.h"

namespace stepscope {
namespace {

using Clock = std::chrono::steady_clock;

double secondsFrom(Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
}

}  // namespace

TimedDecoder::TimedDecoder(const GeneratorWeights& weights, WeightType type, const TimedShape& shape, std::vector<std::int64_t> ids, int threads)
    : m_shape(shape),
      m_ids(std::move(ids)),
      m_decoder(weights, type, {.sequences = shape.sequences, .positions = shape.prompt + shape.text}, threads) {
    SS_CHECK(shape.sequences >= 1 && shape.prompt >= 1 && shape.text >= 1 &&
             static_cast<std::int64_t>(m_ids.size()) == shape.sequences * shape.prompt);
}

double TimedDecoder::readPrompts(std::int64_t times) {
    const auto begin = Clock::now();
    std::vector<Decoder::Piece> pieces;
    for (std::int64_t time = 0; time < times; ++time) {
        pieces.clear();
        for (std::int64_t s = 0; s < m_shape.sequences; ++s) {
            m_decoder.clear(s);
            pieces.push_back({s, std::span(m_ids).subspan(static_cast<std::size_t>(s * m_shape.prompt), static_cast<std::size_t>(m_shape.prompt))});
        }
        m_decoder.read(pieces);
    }
    return secondsFrom(begin);
}

double TimedDecoder::write(std::int64_t tokens) {
    const auto begin = Clock::now();
    std::vector<std::int64_t> next(static_cast<std::size_t>(m_shape.sequences));
    std::vector<Decoder::Piece> pieces(next.size());
    for (std::int64_t token = 0; token < tokens; ++token) {
        for (std::int64_t s = 0; s < m_shape.sequences; ++s) {
            const auto place = static_cast<std::size_t>(s);
            const auto logits = m_decoder.logits(place);
            next[place] = std::max_element(logits.begin(), logits.end()) - logits.begin();
            if (m_decoder.length(s) == m_shape.prompt + m_shape.text) m_decoder.shorten(s, m_shape.prompt);
            pieces[place] = {s, std::span(next).subspan(place, 1)};
        }
        m_decoder.read(pieces);
    }
    return secondsFrom(begin);
}

Bytes TimedDecoder::bytesOfAToken() const {
    const std::int64_t most = m_shape.prompt + m_shape.text;
    const double kept = static_cast<double>(m_decoder.cacheBytes().count) *
                        (static_cast<double>(m_shape.prompt) + static_cast<double>(m_shape.text) / 2) / static_cast<double>(most);
    return Bytes{m_decoder.bytesOfAToken().count + static_cast<std::int64_t>(kept)};
}

}  // namespace stepscope
