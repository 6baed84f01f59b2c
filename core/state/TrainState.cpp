#include "core/state/TrainState.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/ops/aminmax.h>
#include <ATen/ops/normal.h>
#include <fmt/format.h>

#include <atomic>
#include <cmath>

#include "core/base/Check.h"
#include "core/base/CounterRandom.h"
#include "core/state/EightBitMoments.h"

namespace stepscope {
namespace {

constexpr double kInitialDeviation = 0.02;

std::uint64_t nextRevision() {
    static std::atomic<std::uint64_t> last{0};
    return ++last;
}

at::TensorOptions flatOptions() {
    return at::TensorOptions().dtype(at::kFloat);
}

bool endsWith(const std::string& text, const std::string& tail) {
    return text.size() >= tail.size() && text.compare(text.size() - tail.size(), tail.size(), tail) == 0;
}

// Each parameter has a generator of its own, so that its values do not depend on which others exist.
void fillNormal(at::Tensor tensor, double deviation, std::uint64_t seed, std::size_t index) {
    auto generator = at::detail::createCPUGenerator(counterRandom(seed, 0x696e6974, index));
    tensor.normal_(0.0, deviation, generator);
}

void fillInitial(const GptConfig& config, const ParameterSlot& slot, std::size_t index, const at::Tensor& flat, std::uint64_t seed) {
    at::Tensor tensor = ParameterLayout::view(flat, slot);
    if (!slot.decays) {
        if (slot.name.find("ln_") != std::string::npos && endsWith(slot.name, ".weight")) tensor.fill_(1.0);
        return;
    }
    const bool residual = endsWith(slot.name, "c_proj.weight");
    const double deviation = residual ? kInitialDeviation / std::sqrt(2.0 * static_cast<double>(config.layers)) : kInitialDeviation;
    fillNormal(slot.vocabulary ? tensor.narrow(0, 0, config.vocabulary) : tensor, deviation, seed, index);
}

// Copies every parameter of `from` into `to` where both have it: rows both tables have.
void copyCommon(const ParameterLayout& fromLayout, const at::Tensor& from, const ParameterLayout& toLayout, const at::Tensor& to) {
    SS_CHECK(fromLayout.slots().size() == toLayout.slots().size());
    for (std::size_t i = 0; i < toLayout.slots().size(); ++i) {
        at::Tensor source = ParameterLayout::view(from, fromLayout.slots()[i]);
        at::Tensor target = ParameterLayout::view(to, toLayout.slots()[i]);
        const std::int64_t rows = std::min(source.size(0), target.size(0));
        target.narrow(0, 0, rows).copy_(source.narrow(0, 0, rows));
    }
}

}  // namespace

TrainState::TrainState() : m_revision(nextRevision()) {}

Revision TrainState::revision() const {
    const bool counted = weights.defined() && !weights.is_inference();
    return {m_revision, counted ? static_cast<std::uint32_t>(weights._version()) : 0U};
}

void TrainState::bumpRevision() {
    m_revision = nextRevision();
}

TrainState TrainState::clone(std::optional<at::Device> device) const {
    const auto copied = [&](const at::Tensor& flat) {
        return flat.defined() ? flat.to(device.value_or(flat.device()), flat.scalar_type(), /*non_blocking=*/false, /*copy=*/true) : at::Tensor();
    };
    TrainState own = *this;
    for (at::Tensor* const flat : {&own.weights, &own.firstMoment, &own.secondMoment, &own.firstScales, &own.secondScales}) *flat = copied(*flat);
    own.bumpRevision();
    return own;
}

void TrainState::restore(const TrainState& from) {
    if (!weights.defined() || config != from.config || eightBit() != from.eightBit() || share != from.share) {
        *this = from.clone();
        return;
    }
    bumpRevision();
    TrainState same = from;
    for (const auto part :
         {&TrainState::weights, &TrainState::firstMoment, &TrainState::secondMoment, &TrainState::firstScales, &TrainState::secondScales}) {
        if ((this->*part).defined()) (this->*part).copy_(from.*part);
        same.*part = this->*part;
    }
    same.m_revision = m_revision;
    *this = std::move(same);
}

bool TrainState::has(const StateForm& form) const {
    return config == form.model && weights.device() == form.device && eightBit() == form.eightBitMoments && share == form.share;
}

std::string TrainState::convert(const StateForm& to) {
    if (has(to)) return {};
    SS_CHECK(share.whole());
    TrainState next = *this;  // building what is new never writes into what is shared
    next.relayout(to.model);
    next.moveTo(to.device);
    double error = 0;
    if (to.eightBitMoments)
        error = toEightBit(next);
    else
        toFloat(next);
    next.keepShare(to.share);
    next.bumpRevision();
    *this = std::move(next);
    return error > 0 ? fmt::format("rounding the moments to 8 bits moved them by {:.2g} %", 100 * error) : std::string();
}

// In memory of its own, so that the rest is free.
void TrainState::keepShare(const MomentShare& part) {
    if (part.whole()) return;
    SS_CHECK(share.whole() && !eightBit());
    const MomentRange range = momentRange(layout, part);
    firstMoment = firstMoment.narrow(0, range.begin, range.count()).clone();
    secondMoment = secondMoment.narrow(0, range.begin, range.count()).clone();
    share = part;
}

TrainState TrainState::initialise(const GptConfig& config, std::uint64_t seed) {
    TrainState state;
    state.config = config;
    state.layout = ParameterLayout(config);
    state.seed = seed;
    state.weights = at::zeros({state.layout.size()}, flatOptions());
    state.firstMoment = at::zeros({state.layout.size()}, flatOptions());
    state.secondMoment = at::zeros({state.layout.size()}, flatOptions());
    for (std::size_t i = 0; i < state.layout.slots().size(); ++i) fillInitial(config, state.layout.slots()[i], i, state.weights, seed);
    return state;
}

void TrainState::relayout(const GptConfig& to) {
    if (to == config) return;
    bumpRevision();
    SS_CHECK(differingKey(to, config).empty() && share.whole());
    SS_CHECK(to.paddedVocabulary >= to.vocabulary && to.positions >= config.positions);
    const ParameterLayout wanted(to);
    const bool wasEightBit = eightBit();
    toFloat(*this);
    const at::Device device = weights.device();
    const auto moved = [&](const at::Tensor& flat, bool drawNewPositions) {
        at::Tensor next = at::zeros({wanted.size()}, flatOptions());
        for (std::size_t i = 0; i < wanted.slots().size(); ++i)
            if (drawNewPositions && to.positions > config.positions && wanted.slots()[i].name == "wpe.weight")
                fillInitial(to, wanted.slots()[i], i, next, seed);
        copyCommon(layout, flat.cpu(), wanted, next);
        return next.to(device);
    };
    weights = moved(weights, true);
    firstMoment = moved(firstMoment, false);
    secondMoment = moved(secondMoment, false);
    layout = wanted;
    config = to;
    if (wasEightBit) toEightBit(*this);
}

void TrainState::moveTo(at::Device device) {
    if (device == weights.device()) return;
    bumpRevision();
    weights = weights.to(device);
    firstMoment = firstMoment.to(device);
    secondMoment = secondMoment.to(device);
    if (!eightBit()) return;
    firstScales = firstScales.to(device);
    secondScales = secondScales.to(device);
}

bool TrainState::isFinite() const {
    // Moments in 8 bits are fractions of their blocks' scales.
    return allNumbers(weights) && allNumbers(eightBit() ? firstScales : firstMoment) && allNumbers(eightBit() ? secondScales : secondMoment);
}

// Least and greatest are no numbers where one value is none, need no memory of the tensor's size and cannot overflow as a sum can.
bool allNumbers(const at::Tensor& values) {
    if (values.numel() == 0) return true;
    const auto [least, greatest] = at::aminmax(values);
    return std::isfinite(least.item<double>()) && std::isfinite(greatest.item<double>());
}

}  // namespace stepscope
