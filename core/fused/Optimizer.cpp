// See Optimizer.h.
#include "core/fused/Optimizer.h"

#include "core/base/Check.h"

#include <ATen/Parallel.h>
#include <algorithm>
#include <cmath>

namespace stepscope::fused {
namespace {

constexpr std::int64_t kPiece = 32768;  // elements; small tensors are one piece each

struct Piece {
    std::size_t tensor = 0;
    std::int64_t begin = 0, end = 0;
};

// Every tensor in pieces that do not depend on the number of threads.
std::vector<Piece> piecesOf(const std::vector<at::Tensor>& tensors) {
    std::vector<Piece> all;
    for (std::size_t i = 0; i < tensors.size(); ++i)
        for (std::int64_t begin = 0; begin < tensors[i].numel(); begin += kPiece) all.push_back({i, begin, std::min(begin + kPiece, tensors[i].numel())});
    return all;
}

// function(piece, number of the piece), several pieces a thread.
template <class Function>
void overPieces(const std::vector<Piece>& pieces, Function function) {
    at::parallel_for(0, static_cast<std::int64_t>(pieces.size()), 1, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t i = first; i < last; ++i) function(pieces[static_cast<std::size_t>(i)], static_cast<std::size_t>(i));
    });
}

std::vector<at::Tensor> contiguous(const std::vector<at::Tensor>& tensors) {
    std::vector<at::Tensor> all;
    for (const auto& t : tensors) all.push_back(t.contiguous());
    return all;
}

}  // namespace

double globalNorm(const std::vector<at::Tensor>& gradients) {
    const auto all = contiguous(gradients);
    const auto pieces = piecesOf(all);
    std::vector<double> sums(pieces.size());
    overPieces(pieces, [&](const Piece& p, std::size_t i) { sums[i] = adamWCpu().sumOfSquares(all[p.tensor].data_ptr<float>(), p.begin, p.end); });
    double total = 0;
    for (const double sum : sums) total += sum;
    return std::sqrt(total);
}

void adamW(AdamWStep step, const std::vector<at::Tensor>& parameters, const std::vector<at::Tensor>& gradients, const std::vector<at::Tensor>& firstMoments,
           const std::vector<at::Tensor>& secondMoments) {
    SS_CHECK(gradients.size() == parameters.size() && firstMoments.size() == parameters.size() && secondMoments.size() == parameters.size());
    const auto all = contiguous(gradients);
    for (std::size_t i = 0; i < parameters.size(); ++i)
        SS_CHECK(parameters[i].is_contiguous() && firstMoments[i].is_contiguous() && secondMoments[i].is_contiguous() && all[i].numel() == parameters[i].numel());
    overPieces(piecesOf(parameters), [&](const Piece& p, std::size_t) {
        adamWCpu().update(step, all[p.tensor].data_ptr<float>(), parameters[p.tensor].data_ptr<float>(), firstMoments[p.tensor].data_ptr<float>(),
                          secondMoments[p.tensor].data_ptr<float>(), nullptr, p.begin, p.end);
    });
}

}  // namespace stepscope::fused
