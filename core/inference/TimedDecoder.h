// TimedDecoder: a Decoder that reads prompts and writes texts behind them, timed: what a form of the weights is measured by. The tokens that are
// written are the likeliest ones; nothing is drawn. Used on one thread, which is the first of the Decoder's own.
#pragma once
#include <cstdint>
#include <vector>

#include "core/inference/Decoder.h"

namespace stepscope {

struct TimedShape {
    std::int64_t sequences = 1;
    std::int64_t prompt = 1;  // tokens of each prompt, at least 1
    std::int64_t text = 1;    // tokens of each text, at least 1; prompt and text fit the model's positions
};

class TimedDecoder {
public:
    // ids: the prompts, one behind the other.
    TimedDecoder(const GeneratorWeights& weights, WeightType type, const TimedShape& shape, std::vector<std::int64_t> ids, int threads);

    // Seconds that reading all prompts anew takes, so many times.
    double readPrompts(std::int64_t times = 1);
    // Seconds that so many more tokens of each text take; one that is whole begins anew behind its prompt. After readPrompts().
    double write(std::int64_t tokens);

    const Decoder& decoder() const { return m_decoder; }
    // Bytes that one more token of each text reads: the weights once, and of each text the keys and values of half its length on average.
    Bytes bytesOfAToken() const;

private:
    TimedShape m_shape;
    std::vector<std::int64_t> m_ids;
    Decoder m_decoder;
};

}  // namespace stepscope
