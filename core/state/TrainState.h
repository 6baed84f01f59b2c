// TrainState: what training *is*: flat float32 buffers, step number, data cursor, seed. It is what a checkpoint holds. Every
// Program, fused or not, works on the same memory; flipping a switch builds another Program over the same State. Two States never share memory: they
// are moved or cloned. Owned by the trainer thread.
#pragma once
#include <optional>
#include <string>

#include "core/base/Result.h"
#include "core/model/WeightsView.h"
#include "core/state/LossScaler.h"
#include "core/state/MomentShare.h"
#include "core/state/Patience.h"

namespace stepscope {

// Which bits a State holds: no two that differ have the same one, in the whole process. A Program that keeps a copy of the weights in a form of its
// own (packed, or in 16 bits) keeps with it the revision that the copy was made of.
struct Revision {
    std::uint64_t number = 0;   // 0 = of no State
    std::uint32_t version = 0;  // what LibTorch counts itself: its operations in place on the weights

    bool operator==(const Revision&) const = default;
};

// What a Program needs a State to be like.
struct StateForm {
    GptConfig model;  // padding of the vocabulary and number of positions; the rest is the State's own
    at::Device device{at::kCPU};
    bool eightBitMoments = false;
    MomentShare share{};  // of the moments
};

struct TrainState {
    GptConfig config;
    ParameterLayout layout;
    at::Tensor weights;                    // (layout.size()) float32
    at::Tensor firstMoment;                // same shape: AdamW's exponential average of the gradient; float32, or uint8 (EightBitMoments.h)
    at::Tensor secondMoment;               // same shape: of its square
    at::Tensor firstScales, secondScales;  // of 8-bit moments; undefined otherwise
    MomentShare share;                     // the moments are of this part alone (momentRange), where it is not the whole
    std::int64_t updates = 0;              // steps made: StepDone::step
    std::int64_t skipped = 0;              // those of them whose update fp16's overflow left out: AdamW's t is updates - skipped
    LossScale lossScale;                   // of fp16
    Patience patience;                     // of early-stopping
    std::int64_t cursor = 0;               // training sequences consumed
    std::uint64_t seed = 1;                // of batches and of rows added later

    TrainState();
    TrainState(TrainState&&) noexcept = default;
    TrainState& operator=(TrainState&&) noexcept = default;

    // Fresh weights as GPT-2 initialises them: normal(0, 0.02), residual projections scaled by 1/sqrt(2 layers) (Radford et al.
    // 2019, section 2.3), norms 1, biases and padded rows 0. The same seed gives the same bits.
    static TrainState initialise(const GptConfig& config, std::uint64_t seed);

    // The same training in memory of its own: on the same device, or on another to make room there.
    TrainState clone(std::optional<at::Device> device = std::nullopt) const;
    // Holds what `from` holds from now on, every bit: in the same memory, on the same device, where both have one form; else in `from`'s form.
    void restore(const TrainState& from);

    // Another one after everything that writes weights or moments.
    Revision revision() const;
    // Whoever writes into the buffers calls it before, so that it holds for a write that fails halfway too.
    void bumpRevision();

    bool has(const StateForm& form) const;
    // Brings the State into this form; one that holds a part of the moments must have been made whole before, by all who hold the others
    // (core/program/DealtMoments.h). Nothing is changed when it throws (memory runs out). Returns what was lost, in a few words; empty = nothing.
    std::string convert(const StateForm& to);

    // Changes the padding of the vocabulary or the number of positions; every value that fits both shapes is kept bit for bit.
    // Rows of the vocabulary that are dropped hold zeros; positions only grow. New position rows are drawn as at the start.
    void relayout(const GptConfig& to);

    void moveTo(at::Device device);

    // Whether every weight and every moment that it holds is a number: only then is it worth keeping.
    bool isFinite() const;
    bool eightBit() const { return firstScales.defined(); }

private:
    void keepShare(const MomentShare& part);

    TrainState(const TrainState&) = default;  // shares the buffers: for convert(), which puts others in their place

    std::uint64_t m_revision;
};

// Whether every value is a number.
bool allNumbers(const at::Tensor& values);

}  // namespace stepscope
