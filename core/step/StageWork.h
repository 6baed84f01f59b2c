// What the stages of a planned step compute and move, of a worker's part, so that captures can hold their speed against the machine's: products and
// attention counted as workOf() counts LibTorch's, bytes as operands and result once, though a stage keeps some of them in cache.
#pragma once
#include "core/base/AttentionWork.h"
#include "core/base/OperationSpan.h"
#include "core/step/StepShape.h"

namespace stepscope {

class StageWork {
public:
    explicit StageWork(const StepShape& shape) : s(shape) {}

    OperationWork embedding(std::int64_t rows) const { return {0, 2 * kFloat * rows * s.width}; }
    OperationWork qkv(std::int64_t rows) const;
    OperationWork qkvBackward(std::int64_t rows) const;
    // tasks: heads of sequences.
    OperationWork attention(std::int64_t tasks) const { return attended(tasks, attention_work::kForwardProducts, 4); }
    OperationWork attentionBackward(std::int64_t tasks) const { return attended(tasks, attention_work::kBackwardProducts, 8); }
    OperationWork outAndMlp(std::int64_t rows) const;
    OperationWork outAndMlpBackward(std::int64_t rows) const;
    // Of `out` rows of a weight with `in` columns, summed over all rows of the batch.
    OperationWork weightGradient(std::int64_t out, std::int64_t in) const;
    // With the loss; in training with the gradients of both operands.
    OperationWork head(std::int64_t rows, bool training) const;

    static OperationWork sumOfSquares(std::int64_t count) { return {0, kFloat * count}; }
    // Weights, gradients and both moments in; weights and moments out; both packings of the weights.
    OperationWork adamW(std::int64_t count) const { return {0, 7 * kFloat * count + 2 * s.bytes(count)}; }
    OperationWork packing(std::int64_t count) const { return {0, kFloat * count + 2 * s.bytes(count)}; }

private:
    static constexpr std::int64_t kFloat = sizeof(float);
    const char* factors() const { return s.element == gemm::Element::Bf16 ? "BFloat16" : "Float"; }
    // Weights of a block's linears outside of queries, keys and values.
    std::int64_t outAndMlpWeights() const { return s.width * (s.width + s.hiddenRows() + s.hidden); }
    OperationWork attended(std::int64_t tasks, std::int64_t products, std::int64_t matrices) const {
        return {tasks * attention_work::flops(s.context, s.context, s.headWidth(), products, true),
                tasks * matrices * s.bytes(s.context * s.headWidth()), factors()};
    }

    const StepShape& s;
};

inline OperationWork StageWork::qkv(std::int64_t rows) const {
    const std::int64_t weights = 3 * s.width * s.width;
    return {2 * rows * weights, rows * (kFloat * s.width + s.bytes(3 * s.width)) + s.bytes(weights), factors()};
}

// The residual stream's gradient is read and written, its value read for the norm.
inline OperationWork StageWork::qkvBackward(std::int64_t rows) const {
    const std::int64_t weights = 3 * s.width * s.width;
    return {2 * rows * weights, rows * (3 * kFloat * s.width + s.bytes(3 * s.width)) + s.bytes(weights), factors()};
}

// The residual stream comes in and goes out after either half; what the activation takes is kept for the way back.
inline OperationWork StageWork::outAndMlp(std::int64_t rows) const {
    return {2 * rows * outAndMlpWeights(), rows * (3 * kFloat * s.width + s.bytes(s.width + s.hiddenRows())) + s.bytes(outAndMlpWeights()),
            factors()};
}

inline OperationWork StageWork::outAndMlpBackward(std::int64_t rows) const {
    return {2 * rows * outAndMlpWeights(), rows * (3 * kFloat * s.width + s.bytes(s.width + 2 * s.hiddenRows())) + s.bytes(outAndMlpWeights()),
            factors()};
}

inline OperationWork StageWork::weightGradient(std::int64_t out, std::int64_t in) const {
    return {2 * s.rows() * out * in, s.bytes(s.rows() * (out + in)) + kFloat * out * in, factors()};
}

inline OperationWork StageWork::head(std::int64_t rows, bool training) const {
    const std::int64_t weights = s.vocabulary * s.width, forward = 2 * rows * weights;
    if (!training) return {forward, s.bytes(rows * s.width + weights), factors()};
    return {3 * forward, 2 * s.bytes(rows * s.width + weights) + kFloat * (rows * s.width + weights / s.workers), factors()};
}

}  // namespace stepscope
