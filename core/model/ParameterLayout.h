// ParameterLayout: where each parameter lies in a flat float32 buffer. Weights, both moments and any Program use the same layout.
// Matrices come first (AdamW decays them), then biases and norms, so each group is one range. Names are GPT-2's; what GPT-2 has not:
// attn.{q,k,v}_proj (qkv=split), lm_head.weight (tied-head=off). SwiGLU's mlp.c_fc holds the gate's rows, then the value's.
#pragma once
#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

#include "core/model/GptConfig.h"

namespace stepscope {

struct ParameterSlot {
    std::string name;
    std::vector<std::int64_t> shape;  // linear weights are (out, in)
    std::int64_t offset = 0;          // in elements, a multiple of 16 (64 bytes)
    std::int64_t count = 0;
    bool decays = false;      // a matrix
    bool linear = false;      // (out, in) here, (in, out) in GPT-2 files
    bool inProduct = false;   // weight or bias of a linear of a block: read in autocast's type alone
    bool vocabulary = false;  // its rows are token ids: padded ones are zero and never in files
};

class ParameterLayout {
public:
    ParameterLayout() = default;
    explicit ParameterLayout(const GptConfig& config);

    const std::vector<ParameterSlot>& slots() const { return m_slots; }
    const ParameterSlot& slot(const std::string& name) const;
    std::int64_t size() const { return m_size; }  // elements of the flat buffer, gaps included
    std::int64_t parameterCount() const { return m_parameters; }
    std::int64_t decayEnd() const { return m_decayEnd; }  // [0, decayEnd) are the decaying matrices

    // A view of one parameter in a flat buffer (size()), sharing its memory.
    static at::Tensor view(const at::Tensor& flat, const ParameterSlot& slot);

private:
    enum class Kind { Table, Vocabulary, Linear, Vector, Bias };
    void add(std::string name, std::vector<std::int64_t> shape, Kind kind);

    std::vector<ParameterSlot> m_slots;
    std::int64_t m_size = 0, m_parameters = 0, m_decayEnd = 0;
};

// Number of parameters without building anything (a tied head counted once, padding left out).
std::int64_t parameterCount(const GptConfig& config);

}  // namespace stepscope
