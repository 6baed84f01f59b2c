#include "core/kernels/linear_cross_entropy/LinearCrossEntropy.h"

#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "core/kernels/isa/Bf16.h"

namespace stepscope {
namespace {

constexpr std::int64_t kTile = 384;   // logits of a row block worked on at a time: both packings of the rows fit the second-level cache
constexpr std::int64_t kSlice = 192;  // rows of the weights' gradient worked on at a time; divides the tile

// Of a row block's hidden state, its gradient and its tile: five eighths of the second-level cache, as far as the system says how large that is. All
// weights pass by once for each block.
std::int64_t blockBytes() {
    static const std::int64_t bytes =
        std::clamp<std::int64_t>(static_cast<std::int64_t>(::sysconf(_SC_LEVEL2_CACHE_SIZE)) / 8 * 5, 640 * 1024, 1280 * 1024);
    return bytes;
}

std::int64_t tiles(std::int64_t vocabulary) {
    return (vocabulary + kTile - 1) / kTile;
}
std::int64_t upTo32(std::int64_t rows) {
    return (rows + 31) / 32 * 32;
}
std::int64_t partsOf(std::int64_t rows, std::int64_t most) {
    return std::max<std::int64_t>(1, (rows + most - 1) / most);
}

const std::uint32_t* words(const std::byte* elements) {
    return reinterpret_cast<const std::uint32_t*>(elements);
}

std::uint16_t times(std::uint16_t bf16, float factor) {
    return toBf16(toFloat(Bf16{bf16}) * factor).bits;
}

// What a row's lifted reference must reach: all that is stored of the row.
struct Lift {
    gemm::Element element{};
    std::byte* rowMajor = nullptr;          // this tile, (rows, tile width)
    std::uint32_t* paired = nullptr;        // the row block's words in tile 0
    std::int64_t tileWords = 0, tiles = 0;  // tiles that hold something, this one included
    float* dHidden = nullptr;
    std::int64_t width = 0;

    static void apply(void* owner, std::int64_t row, float factor) {
        const Lift& lift = *static_cast<const Lift*>(owner);
        const bool bf16 = lift.element == gemm::Element::Bf16;
        for (std::int64_t c = 0; c < lift.width; ++c) lift.dHidden[row * lift.width + c] *= factor;
        for (std::int64_t c = 0; c < kTile; ++c) {
            if (bf16) {
                auto& bits = reinterpret_cast<std::uint16_t*>(lift.rowMajor)[row * kTile + c];
                bits = times(bits, factor);
            } else {
                reinterpret_cast<float*>(lift.rowMajor)[row * kTile + c] *= factor;
            }
        }
        for (std::int64_t tile = 0; tile < lift.tiles; ++tile) {
            std::uint32_t* words = lift.paired + tile * lift.tileWords + row / gemm::perWord(lift.element) * kTile;
            const int half = bf16 ? static_cast<int>(row % 2) * 16 : 0;
            for (std::int64_t c = 0; c < kTile; ++c) {
                if (bf16)
                    words[c] = (words[c] & ~(0xffffu << half)) |
                               static_cast<std::uint32_t>(times(static_cast<std::uint16_t>(words[c] >> half), factor)) << half;
                else
                    words[c] = std::bit_cast<std::uint32_t>(std::bit_cast<float>(words[c]) * factor);
            }
        }
    }
};

}  // namespace

LinearCrossEntropy::LinearCrossEntropy(LinearCrossEntropyShape shape)
    : m_shape(std::move(shape)),
      m_gemm(gemm::kernels(m_shape.element)),
      m_packers(gemm::packers(m_shape.element)),
      m_cpu(linearCrossEntropyCpu(m_shape.element)),
      m_own(m_shape.rows.size()) {
    const std::int64_t bytes = gemm::bytesOf(m_shape.element), rowBytes = bytes * tiles(m_shape.vocabulary) * kTile;
    std::int64_t most = 0;
    for (const Share& rows : m_shape.rows) most = std::max(most, rows.size());
    const auto within = [](std::int64_t bound, std::int64_t bytesPerRow) { return std::max<std::int64_t>(32, bound / bytesPerRow / 32 * 32); };
    // In parts of equal size: a small last one would cost as much memory traffic as a whole one.
    m_pieces = m_shape.gradients ? static_cast<int>(partsOf(most, within(m_shape.keptBytes / workers(), rowBytes))) : 1;
    m_pieceRows = upTo32(partsOf(most, m_pieces));
    const std::int64_t blocks = partsOf(m_pieceRows, std::min<std::int64_t>(256, within(blockBytes(), m_shape.width * (4 + bytes) + kTile * bytes)));
    m_rowBlock = upTo32(partsOf(m_pieceRows, blocks));
    m_steps = steps(m_pieceRows) * workers();
}

void LinearCrossEntropy::place(Arena& arena) {
    const std::int64_t C = m_shape.width, bytes = gemm::bytesOf(m_shape.element);
    m_weights = gemm::PackedLinear::place(arena, m_shape.element, m_shape.vocabulary, C, m_shape.gradients);
    m_weightSum = arena.take<float>(C);
    for (Own& own : m_own) {
        own.lowered = arena.take<std::byte>(bytes * gemm::kPanel * C);
        for (float** statistic : {&own.reference, &own.sum, &own.target}) *statistic = arena.take<float>(m_rowBlock);
        own.sums = arena.take<float>(m_rowBlock * LogitsTile::kSumLanes);
        if (!m_shape.gradients) continue;
        own.probabilities = arena.take<std::byte>(bytes * m_rowBlock * kTile);
        own.scaled = arena.take<std::byte>(bytes * m_rowBlock * C);
        own.dHidden = arena.take<float>(m_rowBlock * C);
        own.spread = arena.take<float>(C);
    }
    if (!m_shape.gradients) return;
    m_probabilities = arena.take<std::uint32_t>(tiles(m_shape.vocabulary) * m_steps * kTile);
    m_scaled = arena.take<std::uint32_t>(gemm::panels(C) * m_steps * gemm::kPanel);
}

Share LinearCrossEntropy::vocabularyOf(int worker) const {
    const Share units = share(gemm::panels(m_shape.vocabulary), worker, workers());
    return {units.begin * gemm::kPanel, std::min(m_shape.vocabulary, units.end * gemm::kPanel)};
}

Share LinearCrossEntropy::rowsOf(int worker, int piece) const {
    const Share all = m_shape.rows[static_cast<std::size_t>(worker)];
    const std::int64_t begin = std::min(all.end, all.begin + piece * m_pieceRows);
    return {begin, std::min(all.end, begin + m_pieceRows)};
}

// Workers' rows of a piece follow each other without a gap along the summed index of the weights' gradient.
std::int64_t LinearCrossEntropy::firstStep(int worker, int piece) const {
    std::int64_t first = 0;
    for (int other = 0; other < worker; ++other) first += steps(rowsOf(other, piece).size());
    return first;
}

void LinearCrossEntropy::pack(int worker, const float* weight) {
    const std::int64_t C = m_shape.width;
    std::byte* lowered = m_own[static_cast<std::size_t>(worker)].lowered;
    const Share mine = vocabularyOf(worker);
    for (std::int64_t row = mine.begin; row < mine.end; row += gemm::kPanel) {
        const std::int64_t n = std::min(gemm::kPanel, mine.end - row);
        m_cpu.lower(weight + row * C, n * C, lowered);
        m_weights.pack(m_shape.element, m_shape.vocabulary, C, row, n, lowered);
    }
}

void LinearCrossEntropy::sumWeights(int worker, const float* weight) {
    const Share mine = share(m_shape.width, worker, workers());
    m_cpu.sumLowered(weight + mine.begin, m_shape.width, m_shape.vocabulary, mine.size(), m_weightSum + mine.begin);
}

double LinearCrossEntropy::rows(int worker, int piece, Share rows, const LinearCrossEntropyInput& in, void* low) {
    const std::int64_t C = m_shape.width, V = m_shape.vocabulary, n = rows.size(), perWord = gemm::perWord(m_shape.element),
                       tileWords = m_steps * kTile;
    const bool train = m_shape.gradients && in.gradients;
    const Own& own = m_own[static_cast<std::size_t>(worker)];
    const std::int64_t step = firstStep(worker, piece) + (rows.begin - rowsOf(worker, piece).begin) / perWord;
    const auto* hidden = static_cast<const std::byte*>(in.hidden) + rows.begin * in.stride * gemm::bytesOf(m_shape.element);
    std::uint32_t* paired = m_probabilities + step * kTile;
    Lift lift{m_shape.element, own.probabilities, paired, tileWords, 0, own.dHidden, C};
    for (std::int64_t column = 0; column < V; column += kTile) {
        const std::int64_t columns = std::min(kTile, V - column);
        lift.tiles += 1;
        LogitsTile tile{.firstColumn = column,
                        .tileWidth = kTile,
                        .targets = in.targets + rows.begin,
                        .reference = own.reference,
                        .sum = own.sums,
                        .target = own.target};
        if (train) {
            tile.rowMajor = own.probabilities;
            tile.paired = paired + column / kTile * tileWords;
            tile.lift = Lift::apply;
            tile.owner = &lift;
        }
        m_gemm.tiles({words(hidden), in.stride / perWord, 1},
                     {m_weights.forward + column / gemm::kPanel * steps(C) * gemm::kPanel, steps(C) * gemm::kPanel}, n, columns, steps(C),
                     m_cpu.logits, &tile);
        if (!train) continue;
        m_gemm.store({words(own.probabilities), kTile / perWord, 1}, {m_weights.backward + column / perWord * gemm::kPanel, steps(V) * gemm::kPanel},
                     n, C, steps(columns), own.dHidden, C, column > 0);
    }
    const double spread = static_cast<double>(in.smoothing) / static_cast<double>(V), kept = 1.0 - static_cast<double>(in.smoothing);
    double loss = 0;
    for (std::int64_t row = 0; row < n; ++row) {
        float sum = 0;
        for (std::int64_t lane = 0; lane < LogitsTile::kSumLanes; ++lane) sum += own.sums[row * LogitsTile::kSumLanes + lane];
        own.sum[row] = sum;
        loss += std::log(static_cast<double>(sum)) + own.reference[row] - kept * own.target[row];
        if (in.smoothing > 0) loss -= spread * m_cpu.dot(hidden + row * in.stride * gemm::bytesOf(m_shape.element), m_weightSum, C);
    }
    if (!train) return loss;
    m_cpu.finish({.hidden = hidden,
                  .hiddenStride = in.stride,
                  .sum = own.sum,
                  .targets = in.targets + rows.begin,
                  .table = in.weight,
                  .tableSum = in.smoothing > 0 ? m_weightSum : nullptr,
                  .rows = n,
                  .width = C,
                  .share = in.scale,
                  .less = static_cast<float>(in.scale * kept),
                  .spread = static_cast<float>(in.scale * spread),
                  .dHidden = own.dHidden,
                  .low = low,
                  .scaled = own.scaled,
                  .scaledStride = C});
    m_packers.summedRows(own.scaled, C, n, C, m_scaled + step * gemm::kPanel, m_steps * gemm::kPanel);
    return loss;
}

void LinearCrossEntropy::weightGradient(int worker, int piece, const LinearCrossEntropyInput& in, bool add, float* gradient) {
    const std::int64_t C = m_shape.width, tileWords = m_steps * kTile, bytes = gemm::bytesOf(m_shape.element);
    const Share mine = vocabularyOf(worker);
    const auto hidden = [&](std::int64_t row) { return static_cast<const std::byte*>(in.hidden) + row * in.stride * bytes; };
    const auto eachRow = [&](auto&& function) {
        for (int other = 0; other < workers(); ++other)
            for (std::int64_t row = rowsOf(other, piece).begin; row < rowsOf(other, piece).end; ++row) function(row);
    };
    float* spread = m_own[static_cast<std::size_t>(worker)].spread;
    if (in.smoothing > 0) {
        std::fill_n(spread, C, 0.0f);
        eachRow(
            [&](std::int64_t row) { m_cpu.addElements(hidden(row), C, -in.scale * in.smoothing / static_cast<float>(m_shape.vocabulary), spread); });
    }
    for (std::int64_t id = mine.begin; id < mine.end;) {
        const std::int64_t tile = id / kTile, until = std::min(mine.end, (id / kSlice + 1) * kSlice);
        m_gemm.store({m_probabilities + tile * tileWords + id - tile * kTile, 1, kTile}, {m_scaled, m_steps * gemm::kPanel}, until - id, C,
                     firstStep(workers(), piece), gradient + id * C, C, add);
        if (in.smoothing > 0)
            for (std::int64_t row = id; row < until; ++row) m_cpu.add(spread, C, 1, gradient + row * C);
        id = until;
    }
    eachRow([&](std::int64_t row) {
        if (in.targets[row] >= mine.begin && in.targets[row] < mine.end)
            m_cpu.addElements(hidden(row), C, -in.scale * (1 - in.smoothing), gradient + in.targets[row] * C);
    });
}

}  // namespace stepscope
