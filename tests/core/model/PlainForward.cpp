// The forward pass of PlainGpt, loop by loop.
#include "PlainForward.h"

#include <cmath>
#include <numbers>
#include <stdexcept>

#include "core/base/DropoutMask.h"

namespace stepscope {
namespace {

using Numbers = std::vector<double>;

class PlainModel {
public:
    PlainModel(const GptConfig& config, const PlainParameters& parameters, int context, const Regularisation& training)
        : c(config), p(parameters), T(context), C(static_cast<int>(config.width)), H(static_cast<int>(config.heads)), r(training) {}

    double loss(const std::vector<std::int64_t>& inputs, const std::vector<std::int64_t>& targets) {
        rows = static_cast<int>(inputs.size());
        Numbers x(rows * C);
        for (int i = 0; i < rows; ++i)
            for (int j = 0; j < C; ++j)
                x[i * C + j] =
                    p.at("wte.weight")[inputs[i] * C + j] + (c.positionKind == PositionKind::Learned ? p.at("wpe.weight")[i % T * C + j] : 0);
        drop(x, 0);
        for (int l = 0; l < c.layers; ++l) {
            const std::string h = "h." + std::to_string(l) + ".";
            const bool pre = c.placement == NormPlacement::Pre;
            Numbers branch = attend(h, pre ? norm(h + "ln_1", x) : x);
            drop(branch, 1 + 2 * l);
            x = pre ? sum(x, branch) : norm(h + "ln_1", sum(x, branch));
            branch = feedForward(h, pre ? norm(h + "ln_2", x) : x);
            drop(branch, 2 + 2 * l);
            x = pre ? sum(x, branch) : norm(h + "ln_2", sum(x, branch));
        }
        if (c.placement == NormPlacement::Pre) x = norm("ln_f", x);
        return crossEntropy(x, targets);
    }

private:
    static Numbers sum(const Numbers& a, const Numbers& b) {
        Numbers s(a.size());
        for (std::size_t i = 0; i < a.size(); ++i) s[i] = a[i] + b[i];
        return s;
    }

    Numbers linear(const std::string& name, const Numbers& x, int in, int out) const {
        const Numbers& w = p.at(name + ".weight");
        const bool biased = p.contains(name + ".bias");
        require(biased == c.bias);
        Numbers y(rows * out);
        for (int i = 0; i < rows; ++i)
            for (int o = 0; o < out; ++o) {
                double value = biased ? p.at(name + ".bias")[o] : 0;
                for (int j = 0; j < in; ++j) value += x[i * in + j] * w[o * in + j];
                y[i * out + o] = value;
            }
        return y;
    }

    Numbers norm(const std::string& name, const Numbers& x) const {
        const bool rms = c.norm == NormKind::RmsNorm, biased = p.contains(name + ".bias");
        require(biased == (c.bias && !rms));
        Numbers y(x.size());
        for (int i = 0; i < rows; ++i) {
            double mean = 0, square = 0;
            for (int j = 0; j < C && !rms; ++j) mean += x[i * C + j] / C;
            for (int j = 0; j < C; ++j) square += (x[i * C + j] - mean) * (x[i * C + j] - mean) / C;
            for (int j = 0; j < C; ++j)
                y[i * C + j] = (x[i * C + j] - mean) / std::sqrt(square + 1e-5) * p.at(name + ".weight")[j] + (biased ? p.at(name + ".bias")[j] : 0);
        }
        return y;
    }

    // Turns the pairs (d, d + D/2) of each head by position * 10000^(-2 d / D).
    void turn(Numbers& t) const {
        const int D = C / H;
        for (int i = 0; i < rows; ++i)
            for (int h = 0; h < H; ++h)
                for (int d = 0; d < D / 2; ++d) {
                    const double angle = i % T * std::pow(10000.0, -2.0 * d / D);
                    double &a = t[i * C + h * D + d], &b = t[i * C + h * D + d + D / 2];
                    const double first = a * std::cos(angle) - b * std::sin(angle);
                    b = b * std::cos(angle) + a * std::sin(angle);
                    a = first;
                }
    }

    Numbers attend(const std::string& h, const Numbers& x) const {
        Numbers q(rows * C), k(rows * C), v(rows * C);
        if (c.splitQkv) {
            q = linear(h + "attn.q_proj", x, C, C);
            k = linear(h + "attn.k_proj", x, C, C);
            v = linear(h + "attn.v_proj", x, C, C);
        } else {
            const Numbers all = linear(h + "attn.c_attn", x, C, 3 * C);
            for (int i = 0; i < rows; ++i)
                for (int j = 0; j < C; ++j) {
                    q[i * C + j] = all[i * 3 * C + j];
                    k[i * C + j] = all[i * 3 * C + C + j];
                    v[i * C + j] = all[i * 3 * C + 2 * C + j];
                }
        }
        if (c.positionKind == PositionKind::Rope) turn(q), turn(k);
        const int D = C / H;
        Numbers y(rows * C, 0.0);
        for (int i = 0; i < rows; ++i)
            for (int head = 0; head < H; ++head) {
                Numbers share;
                double total = 0;
                for (int s = i - i % T; s <= i; ++s) {
                    double dot = 0;
                    for (int d = 0; d < D; ++d) dot += q[i * C + head * D + d] * k[s * C + head * D + d];
                    share.push_back(std::exp(dot / std::sqrt(D)));
                    total += share.back();
                }
                for (int s = i - i % T; s <= i; ++s)
                    for (int d = 0; d < D; ++d) y[i * C + head * D + d] += share[s - (i - i % T)] / total * v[s * C + head * D + d];
            }
        return linear(h + "attn.c_proj", y, C, C);
    }

    Numbers feedForward(const std::string& h, const Numbers& x) const {
        const int F = static_cast<int>(c.hidden()), width = static_cast<int>(c.hiddenRows());
        const Numbers fc = linear(h + "mlp.c_fc", x, C, width);
        Numbers active(rows * F);
        for (int i = 0; i < rows; ++i)
            for (int j = 0; j < F; ++j) {
                const double a = fc[i * width + j];
                active[i * F + j] = c.activation == Activation::Swiglu
                                        ? a / (1 + std::exp(-a)) * fc[i * width + F + j]
                                        : 0.5 * a * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (a + 0.044715 * a * a * a)));
            }
        return linear(h + "mlp.c_proj", active, F, C);
    }

    void drop(Numbers& x, std::uint64_t site) const {
        if (r.dropout == 0) return;
        const std::uint64_t key = dropoutKey(r.seed, static_cast<std::uint64_t>(r.step), site);
        const auto first = static_cast<std::uint64_t>(r.firstSequence * T * C);
        for (std::size_t i = 0; i < x.size(); ++i) x[i] = dropoutKeeps(key, first + i, dropoutThreshold(r.dropout)) ? x[i] / (1 - r.dropout) : 0;
    }

    double crossEntropy(const Numbers& x, const std::vector<std::int64_t>& targets) const {
        const Numbers& head = p.at(c.tiedHead ? "wte.weight" : "lm_head.weight");
        const int V = static_cast<int>(c.vocabulary);
        double mean = 0;
        for (int i = 0; i < rows; ++i) {
            Numbers logits(V, 0.0);
            double total = 0, all = 0;
            for (int v = 0; v < V; ++v) {
                for (int j = 0; j < C; ++j) logits[v] += x[i * C + j] * head[v * C + j];
                total += std::exp(logits[v]);
            }
            for (int v = 0; v < V; ++v) all += (logits[v] - std::log(total)) / V;
            mean -= ((1 - r.smoothing) * (logits[targets[i]] - std::log(total)) + r.smoothing * all) / rows;
        }
        return mean;
    }

    static void require(bool holds) {
        if (!holds) throw std::logic_error("a bias that should not be there, or none that should");
    }

    const GptConfig& c;
    const PlainParameters& p;
    int T, C, H, rows = 0;
    const Regularisation& r;
};

}  // namespace

double plainLoss(const GptConfig& config, const PlainParameters& parameters, const std::vector<std::int64_t>& inputs,
                 const std::vector<std::int64_t>& targets, int context, const Regularisation& training) {
    return PlainModel(config, parameters, context, training).loss(inputs, targets);
}

}  // namespace stepscope
