// BlockCode: numbers in 8 bits, block by block: one float32 scale for 256 values, each value the nearest of 256 codes whose spacing
// follows the magnitude (dynamic quantisation: Dettmers et al., "8-bit Optimizers via Block-wise Quantization", ICLR 2022). Used for
// AdamW's moments. Pure; any thread.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

namespace stepscope {

constexpr std::int64_t kCodeBlock = 256;
constexpr std::int64_t codeBlocks(std::int64_t count) {
    return (count + kCodeBlock - 1) / kCodeBlock;
}

class BlockCode {
public:
    enum class Kind {
        Signed,   // first moments: -1 ... 1 and 0
        Positive  // second moments: 0 ... 1; what is not zero never becomes zero, for it is divided by
    };
    explicit BlockCode(Kind kind);

    float value(std::uint8_t code) const { return m_values[code]; }
    const std::array<float, 256>& values() const { return m_values; }
    std::uint8_t nearest(float x) const;  // x in [-1, 1]

    // codes: count bytes; scales: codeBlocks(count). Decoding what was encoded and encoding it again gives the same codes and scales.
    void encode(const float* values, std::int64_t count, std::uint8_t* codes, float* scales) const;
    void decode(const std::uint8_t* codes, const float* scales, std::int64_t count, float* values) const;

private:
    std::array<float, 256> m_values{};   // rising
    std::array<float, 256> m_borders{};  // m_borders[c]: from here on code c + 1 is nearer than c
    std::vector<std::uint8_t> m_first;   // by the top 16 bits of a positive float: the code of the smallest number with those bits
    std::uint8_t m_zero = 0;
    bool m_signed;
};

const BlockCode& firstMomentCode();
const BlockCode& secondMomentCode();

}  // namespace stepscope
