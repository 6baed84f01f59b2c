#include "core/state/foreign/Gpt2Tensors.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/zeros.h>
#include <fmt/format.h>

namespace stepscope {
namespace {

using Shape = std::vector<std::int64_t>;

class Gpt2List {
public:
    explicit Gpt2List(TensorSource& source) : m_source(&source) {}

    void add(const std::string& name, Shape shape) {
        m_all.push_back({name, std::move(shape), [source = m_source, name] { return source->read(writtenName(source->entries(), name)); }});
    }
    // A bias of zeros adds nothing, bit for bit.
    void addZeros(const std::string& name, Shape shape) {
        m_all.push_back({name, shape, [shape] { return Result<at::Tensor>(at::zeros(shape)); }});
    }
    void addBias(bool there, const std::string& name, std::int64_t count) { there ? add(name, {count}) : addZeros(name, {count}); }
    // Three projections beside each other: axis of what goes out.
    void addJoined(const std::string& prefix, const std::string& kind, Shape shape, std::int64_t axis) {
        m_all.push_back({prefix + "c_attn." + kind, std::move(shape), [source = m_source, prefix, kind, axis]() -> Result<at::Tensor> {
                             std::vector<at::Tensor> parts;
                             for (const char* which : {"q_proj.", "k_proj.", "v_proj."}) {
                                 auto part = source->read(writtenName(source->entries(), prefix + which + kind));
                                 if (!part) return part.error();
                                 parts.push_back(std::move(*part));
                             }
                             return at::cat(parts, axis);
                         }});
    }
    std::vector<TensorToWrite> take() { return std::move(m_all); }

private:
    TensorSource* m_source;
    std::vector<TensorToWrite> m_all;
};

}  // namespace

std::vector<TensorToWrite> gpt2Tensors(TensorSource& source, const GptConfig& model) {
    const std::int64_t C = model.width;
    Gpt2List list(source);
    list.add("wte.weight", {model.vocabulary, C});
    list.add("wpe.weight", {model.positions, C});
    for (std::int64_t l = 0; l < model.layers; ++l) {
        const std::string block = fmt::format("h.{}.", l);
        const auto linear = [&](const char* name, std::int64_t in, std::int64_t out) {
            list.add(block + name + ".weight", {in, out});
            list.addBias(model.bias, block + name + ".bias", out);
        };
        list.add(block + "ln_1.weight", {C});
        list.addBias(model.normBias(), block + "ln_1.bias", C);
        if (model.splitQkv) {
            list.addJoined(block + "attn.", "weight", {C, 3 * C}, 1);
            model.bias ? list.addJoined(block + "attn.", "bias", {3 * C}, 0) : list.addZeros(block + "attn.c_attn.bias", {3 * C});
        } else {
            linear("attn.c_attn", C, 3 * C);
        }
        linear("attn.c_proj", C, C);
        list.add(block + "ln_2.weight", {C});
        list.addBias(model.normBias(), block + "ln_2.bias", C);
        linear("mlp.c_fc", C, 4 * C);
        linear("mlp.c_proj", 4 * C, C);
    }
    list.add("ln_f.weight", {C});
    list.addBias(model.normBias(), "ln_f.bias", C);
    if (!model.tiedHead) list.add("lm_head.weight", {model.vocabulary, C});
    return list.take();
}

}  // namespace stepscope
