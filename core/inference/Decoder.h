// Decoder: a GPT that computes each token once. Sequences of different length lie beside each other; what is read goes behind what a sequence holds,
// all of it as the rows of one matrix: a prompt has many, one more token of each of B sequences has B. Owned by a writer of text or an evaluation,
// used on its thread, which is the first of the Decoder's own.
#pragma once
#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/inference/KeptKeys.h"
#include "core/inference/PackedModel.h"
#include "core/kernels/isa/Bf16.h"
#include "core/kernels/packed_rows/DynamicRows.h"

namespace stepscope {

struct DecoderRoom {
    std::int64_t sequences = 1;
    std::int64_t positions = 0;  // of each sequence; 0 = as many as the model has
    std::int64_t rows = 256;     // tokens of a prompt that are computed at a time
    std::int64_t logits = 0;     // rows of logits; 0 = one a sequence
};

// Why these weights cannot be decoded here, a clause; empty = they can.
std::string whyNotDecoded(const GeneratorWeights& weights);

class Decoder {
public:
    // whyNotDecoded() is empty. Throws what LibTorch throws where memory is not enough. Keys and values are bf16 unless the weights are float32.
    Decoder(const GeneratorWeights& weights, WeightType type, const DecoderRoom& room, int threads);
    ~Decoder();
    Decoder(const Decoder&) = delete;
    Decoder& operator=(const Decoder&) = delete;

    struct Piece {
        std::int64_t sequence = 0;
        std::span<const std::int64_t> ids;  // at least one; there is room for them behind what the sequence holds
    };
    // Reads each piece behind what its sequence holds; logits(i) are then of what follows the piece i. At most as many pieces as there are rows of
    // logits.
    void read(std::span<const Piece> pieces);
    std::span<const float> logits(std::size_t piece) const;  // (vocabulary)

    // What the ids after the first cost, given those before them, summed in nats. At most one more than there are positions. Takes sequence 0.
    double negativeLogLikelihood(std::span<const std::int64_t> ids);

    std::int64_t length(std::int64_t sequence) const { return m_lengths[static_cast<std::size_t>(sequence)]; }
    void clear(std::int64_t sequence) { shorten(sequence, 0); }
    // What lies behind the first `length` tokens that the sequence holds is forgotten; logits stay those of the last read().
    void shorten(std::int64_t sequence, std::int64_t length) {
        std::int64_t& held = m_lengths[static_cast<std::size_t>(sequence)];
        held = std::min(held, length);
    }
    std::int64_t positions() const { return m_room.positions; }
    int threads() const { return m_team.size(); }
    Bytes weightBytes() const { return m_model.bytes(); }
    Bytes bytesOfAToken() const { return m_model.bytesRead(); }  // of the weights, for however many sequences at a time
    Bytes cacheBytes() const { return m_kept.bytes(); }

private:
    struct Row {
        std::int64_t sequence, position, id;
        bool wanted;  // its logits
    };
    struct Buffers {
        float *stream, *normed, *qkv, *attended, *hidden, *activated, *logits;
        float *mean, *rstd, *scores, *panels;
        float *cosines, *sines;
        Bf16* low;
        QuantisedRows quantised, own;  // of all workers; of each worker, of few rows
    };

    void forward(float* logits);  // of m_rows
    void lay(Arena& arena);
    void work(int worker, float* logits);
    void embed(int worker);
    void block(int worker, std::size_t layer);
    void norm(int worker, const PackedNorm& norm, const float* from, float* to);
    void normRow(const PackedNorm& norm, const float* from, float* to, std::int64_t row);
    void keep(int worker, std::int64_t layer);
    template <class T>
    void keepRow(const Row& row, const float* qkv, std::int64_t layer);
    template <class T>
    void attend(int worker, std::int64_t layer);
    void activate(int worker, const PackedLinearRows& fc);
    // out = (add ? out : 0) + x * weight^T + bias, this worker's rows of the weights.
    void multiply(int worker, const PackedLinearRows& linear, const float* x, std::int64_t rows, float* out, std::int64_t outStride, bool add);
    void multiplyMany(int worker, const PackedLinearRows& linear, const float* x, std::int64_t rows, float* out, std::int64_t outStride, bool add);
    void multiplyBytes(int worker, const PackedRows& weight, const RowProducts& products);

    GptConfig m_config;
    DecoderRoom m_room;
    Team m_team;
    PackedModel m_model;
    KeptKeys m_kept;
    at::Tensor m_memory;
    Buffers m_at{};
    std::vector<Row> m_rows;
    std::vector<std::int64_t> m_wanted;  // which of them
    std::vector<std::int64_t> m_lengths;
};

}  // namespace stepscope
