// Each operation is a forward function and, below it, its derivative written by hand.
#include "PlainGpt.h"

#include <cmath>
#include <numbers>

namespace stepscope {
namespace {

using Numbers = std::vector<double>;
constexpr double kEpsilon = 1e-5;

// y = x W^T + b; x: (rows, in), W: (out, in).
Numbers linear(const Numbers& x, const Numbers& w, const Numbers& b, int rows, int in, int out) {
    Numbers y(rows * out);
    for (int r = 0; r < rows; ++r)
        for (int o = 0; o < out; ++o) {
            double sum = b.empty() ? 0 : b[o];
            for (int i = 0; i < in; ++i) sum += x[r * in + i] * w[o * in + i];
            y[r * out + o] = sum;
        }
    return y;
}
Numbers linearBackward(const Numbers& dy, const Numbers& x, const Numbers& w, Numbers& dw, Numbers* db, int rows, int in, int out) {
    Numbers dx(rows * in, 0.0);
    dw.resize(w.size());
    if (db != nullptr) db->resize(out);
    for (int r = 0; r < rows; ++r)
        for (int o = 0; o < out; ++o) {
            const double g = dy[r * out + o];
            if (db != nullptr) (*db)[o] += g;
            for (int i = 0; i < in; ++i) {
                dx[r * in + i] += g * w[o * in + i];
                dw[o * in + i] += g * x[r * in + i];
            }
        }
    return dx;
}

struct Norm {
    Numbers y, normalised, inverse;
};
Norm norm(const Numbers& x, const Numbers& w, const Numbers& b, int rows, int C) {
    Norm out{Numbers(x.size()), Numbers(x.size()), Numbers(rows)};
    for (int r = 0; r < rows; ++r) {
        double mean = 0, variance = 0;
        for (int i = 0; i < C; ++i) mean += x[r * C + i] / C;
        for (int i = 0; i < C; ++i) variance += (x[r * C + i] - mean) * (x[r * C + i] - mean) / C;
        out.inverse[r] = 1 / std::sqrt(variance + kEpsilon);
        for (int i = 0; i < C; ++i) {
            out.normalised[r * C + i] = (x[r * C + i] - mean) * out.inverse[r];
            out.y[r * C + i] = out.normalised[r * C + i] * w[i] + b[i];
        }
    }
    return out;
}
Numbers normBackward(const Numbers& dy, const Norm& kept, const Numbers& w, Numbers& dw, Numbers& db, int rows, int C) {
    Numbers dx(dy.size());
    dw.resize(C);
    db.resize(C);
    for (int r = 0; r < rows; ++r) {
        double mean = 0, along = 0;
        for (int i = 0; i < C; ++i) {
            const double g = dy[r * C + i] * w[i];
            mean += g / C;
            along += g * kept.normalised[r * C + i] / C;
            dw[i] += dy[r * C + i] * kept.normalised[r * C + i];
            db[i] += dy[r * C + i];
        }
        for (int i = 0; i < C; ++i) dx[r * C + i] = kept.inverse[r] * (dy[r * C + i] * w[i] - mean - kept.normalised[r * C + i] * along);
    }
    return dx;
}

const double kRoot = std::sqrt(2 / std::numbers::pi);
double gelu(double x) {
    return 0.5 * x * (1 + std::tanh(kRoot * (x + 0.044715 * x * x * x)));
}
double geluSlope(double x) {
    const double t = std::tanh(kRoot * (x + 0.044715 * x * x * x));
    return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * kRoot * (1 + 3 * 0.044715 * x * x);
}

// Causal attention on qkv (B*T, 3C); probabilities (B, H, T, T).
struct Attention {
    Numbers y, probabilities;
};
Attention attention(const Numbers& qkv, int B, int T, int C, int H) {
    const int D = C / H;
    Attention out{Numbers(B * T * C), Numbers(B * H * T * T)};
    for (int b = 0; b < B; ++b)
        for (int h = 0; h < H; ++h)
            for (int t = 0; t < T; ++t) {
                double* p = &out.probabilities[((b * H + h) * T + t) * T];
                double sum = 0;
                for (int s = 0; s <= t; ++s) {
                    double dot = 0;
                    for (int d = 0; d < D; ++d) dot += qkv[(b * T + t) * 3 * C + h * D + d] * qkv[(b * T + s) * 3 * C + C + h * D + d];
                    sum += p[s] = std::exp(dot / std::sqrt(D));
                }
                for (int s = 0; s <= t; ++s) {
                    p[s] /= sum;
                    for (int d = 0; d < D; ++d) out.y[(b * T + t) * C + h * D + d] += p[s] * qkv[(b * T + s) * 3 * C + 2 * C + h * D + d];
                }
            }
    return out;
}
Numbers attentionBackward(const Numbers& dy, const Numbers& qkv, const Attention& kept, int B, int T, int C, int H) {
    const int D = C / H;
    Numbers dqkv(qkv.size(), 0.0);
    for (int b = 0; b < B; ++b)
        for (int h = 0; h < H; ++h)
            for (int t = 0; t < T; ++t) {
                const double* p = &kept.probabilities[((b * H + h) * T + t) * T];
                Numbers dp(t + 1, 0.0);
                double weighted = 0;
                for (int s = 0; s <= t; ++s) {
                    for (int d = 0; d < D; ++d) {
                        const double g = dy[(b * T + t) * C + h * D + d];
                        dp[s] += g * qkv[(b * T + s) * 3 * C + 2 * C + h * D + d];
                        dqkv[(b * T + s) * 3 * C + 2 * C + h * D + d] += p[s] * g;
                    }
                    weighted += dp[s] * p[s];
                }
                for (int s = 0; s <= t; ++s) {
                    const double ds = p[s] * (dp[s] - weighted) / std::sqrt(D);
                    for (int d = 0; d < D; ++d) {
                        dqkv[(b * T + t) * 3 * C + h * D + d] += ds * qkv[(b * T + s) * 3 * C + C + h * D + d];
                        dqkv[(b * T + s) * 3 * C + C + h * D + d] += ds * qkv[(b * T + t) * 3 * C + h * D + d];
                    }
                }
            }
    return dqkv;
}

void addTo(Numbers& sum, const Numbers& other) {
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += other[i];
}

struct BlockTrace {
    Norm norm1, norm2;
    Numbers qkv, fc, active;
    Attention attended;
};

}  // namespace

PlainResult plainGpt(const PlainShape& s, const PlainParameters& p, const std::vector<std::int64_t>& inputs,
                     const std::vector<std::int64_t>& targets) {
    const int C = s.width, T = s.context, rows = static_cast<int>(inputs.size()), B = rows / T, V = s.vocabulary;
    Numbers x(rows * C);
    for (int r = 0; r < rows; ++r)
        for (int i = 0; i < C; ++i) x[r * C + i] = p.at("wte.weight")[inputs[r] * C + i] + p.at("wpe.weight")[(r % T) * C + i];

    std::vector<BlockTrace> traces(s.layers);
    for (int l = 0; l < s.layers; ++l) {
        const auto w = [&](const char* name) -> const Numbers& { return p.at("h." + std::to_string(l) + "." + name); };
        BlockTrace& k = traces[l];
        k.norm1 = norm(x, w("ln_1.weight"), w("ln_1.bias"), rows, C);
        k.qkv = linear(k.norm1.y, w("attn.c_attn.weight"), w("attn.c_attn.bias"), rows, C, 3 * C);
        k.attended = attention(k.qkv, B, T, C, s.heads);
        addTo(x, linear(k.attended.y, w("attn.c_proj.weight"), w("attn.c_proj.bias"), rows, C, C));
        k.norm2 = norm(x, w("ln_2.weight"), w("ln_2.bias"), rows, C);
        k.fc = linear(k.norm2.y, w("mlp.c_fc.weight"), w("mlp.c_fc.bias"), rows, C, 4 * C);
        k.active = k.fc;
        for (double& value : k.active) value = gelu(value);
        addTo(x, linear(k.active, w("mlp.c_proj.weight"), w("mlp.c_proj.bias"), rows, 4 * C, C));
    }
    const Norm last = norm(x, p.at("ln_f.weight"), p.at("ln_f.bias"), rows, C);

    PlainResult result;
    result.logits = linear(last.y, p.at("wte.weight"), {}, rows, C, V);
    Numbers dlogits(rows * V);
    for (int r = 0; r < rows; ++r) {
        double sum = 0;
        for (int v = 0; v < V; ++v) sum += std::exp(result.logits[r * V + v]);
        result.loss += (std::log(sum) - result.logits[r * V + targets[r]]) / rows;
        for (int v = 0; v < V; ++v) dlogits[r * V + v] = (std::exp(result.logits[r * V + v]) / sum - (v == targets[r] ? 1 : 0)) / rows;
    }

    PlainParameters& g = result.gradients;
    Numbers dx = linearBackward(dlogits, last.y, p.at("wte.weight"), g["wte.weight"], nullptr, rows, C, V);
    dx = normBackward(dx, last, p.at("ln_f.weight"), g["ln_f.weight"], g["ln_f.bias"], rows, C);
    for (int l = s.layers - 1; l >= 0; --l) {
        const std::string prefix = "h." + std::to_string(l) + ".";
        const auto w = [&](const char* name) -> const Numbers& { return p.at(prefix + name); };
        const auto d = [&](const char* name) -> Numbers& { return g[prefix + name]; };
        const BlockTrace& k = traces[l];
        Numbers dactive = linearBackward(dx, k.active, w("mlp.c_proj.weight"), d("mlp.c_proj.weight"), &d("mlp.c_proj.bias"), rows, 4 * C, C);
        for (std::size_t i = 0; i < dactive.size(); ++i) dactive[i] *= geluSlope(k.fc[i]);
        const Numbers dnorm2 = linearBackward(dactive, k.norm2.y, w("mlp.c_fc.weight"), d("mlp.c_fc.weight"), &d("mlp.c_fc.bias"), rows, C, 4 * C);
        addTo(dx, normBackward(dnorm2, k.norm2, w("ln_2.weight"), d("ln_2.weight"), d("ln_2.bias"), rows, C));
        const Numbers dy = linearBackward(dx, k.attended.y, w("attn.c_proj.weight"), d("attn.c_proj.weight"), &d("attn.c_proj.bias"), rows, C, C);
        const Numbers dqkv = attentionBackward(dy, k.qkv, k.attended, B, T, C, s.heads);
        const Numbers dnorm1 =
            linearBackward(dqkv, k.norm1.y, w("attn.c_attn.weight"), d("attn.c_attn.weight"), &d("attn.c_attn.bias"), rows, C, 3 * C);
        addTo(dx, normBackward(dnorm1, k.norm1, w("ln_1.weight"), d("ln_1.weight"), d("ln_1.bias"), rows, C));
    }
    g["wpe.weight"].resize(p.at("wpe.weight").size());
    for (int r = 0; r < rows; ++r)
        for (int i = 0; i < C; ++i) {
            g["wte.weight"][inputs[r] * C + i] += dx[r * C + i];
            g["wpe.weight"][(r % T) * C + i] += dx[r * C + i];
        }
    return result;
}

}  // namespace stepscope
