#include "core/train/LossAtEqualTime.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>

#include "core/analysis/JudgedSentence.h"
#include "core/base/CounterRandom.h"
#include "core/events/Schedule.h"
#include "core/memory/DeviceMemory.h"
#include "core/train/Evaluation.h"
#include "core/train/Settling.h"

namespace stepscope {
namespace {

constexpr std::array kLearners{Arm::A, Arm::B};
constexpr double kTurn = 2;          // seconds that a side trains before it is the other one's turn,
constexpr double kTurnsOfASeed = 8;  //   or so small a part of all, where that is less
constexpr double kShortestTurn = 0.2;

std::size_t placeOf(Arm arm) {
    return arm == Arm::A ? 0 : 1;
}

// Losses of different tokens differ for that reason alone, so both sides read as many as the one that reads more.
std::int64_t validationTokens(const EqualTimeSetup& setup) {
    return std::max(setup.sides[0].config.validationTokens, setup.sides[1].config.validationTokens);
}

// One side with one seed.
class Learner {
public:
    Learner(const EqualTimeSetup& setup, Arm arm, std::uint64_t seed)
        : m_setup(setup), m_side(setup.sides[placeOf(arm)]), m_arm(arm), m_device(m_side.plan.device()) {
        m_begin = setup.drawWeights ? TrainState::initialise(m_side.start->config, seed) : m_side.start->clone(at::kCPU);
        m_begin.seed = seed;
        m_state = m_begin.clone(m_device);
        m_state.convert(setup.factory->formOf(m_side.plan, m_state));
        m_program = setup.factory->build(m_side.plan);
    }

    // What a Program does once, before its steps are worth their time, is no part of the time.
    Status settle() {
        for (int i = 0; i < settlingSteps(m_side.plan); ++i)
            if (auto stepped = step(); !stepped) return stepped;
        TrainState fresh = m_begin.clone(m_device);
        fresh.convert(m_setup.factory->formOf(m_side.plan, fresh));
        m_state.restore(fresh);
        m_begin = {};
        m_steps = 0;
        return {};
    }

    // Trains until it has had `seconds` in all.
    Status trainUntil(double seconds) {
        m_program->prepare(m_state);
        device_memory::synchronise(m_device);
        const TimeNs begin = m_setup.clock->now();
        const double before = m_seconds;
        while (m_seconds < seconds && !m_setup.stopAsked()) {
            if (auto stepped = step(); !stepped) return stepped;
            m_seconds = before + (m_setup.clock->now() - begin).seconds();
        }
        device_memory::synchronise(m_device);
        m_seconds = before + (m_setup.clock->now() - begin).seconds();
        return {};
    }

    double validate(std::int64_t tokens) { return m_program->evaluate(m_state, *m_setup.batches, tokens); }
    double seconds() const { return m_seconds; }
    std::int64_t steps() const { return m_steps; }

private:
    Status step() {
        const StepResult result = m_program->step(m_state, *m_setup.batches, learningRate(m_side.config, m_state.updates + 1));
        ++m_steps;
        if (result.breakdown == Breakdown::None && std::isfinite(result.loss)) return {};
        return makeError(
            ErrorCode::Training,
            fmt::format("{} diverged on the way to a loss at equal time: its loss or a gradient was no number at step {}; lower its learning rate.",
                        nameOfSide(m_setup.sides[0].config, m_setup.sides[1].config, m_arm), m_state.updates + 1));
    }

    const EqualTimeSetup& m_setup;
    const EqualTimeSide& m_side;
    Arm m_arm;
    at::Device m_device;
    TrainState m_begin, m_state;
    std::unique_ptr<StepProgram> m_program;
    double m_seconds = 0;
    std::int64_t m_steps = 0;
};

struct Learnt {
    std::array<double, 2> losses{kUnknown, kUnknown};
    std::array<std::int64_t, 2> steps{};
    bool whole = false;
};

Result<Learnt> learn(const EqualTimeSetup& setup, std::int64_t number, const std::function<void(double)>& progress) {
    const std::uint64_t seed = setup.seed + static_cast<std::uint64_t>(number);
    const bool turned = counterRandomBelow(setup.coins, 0x6571746d, static_cast<std::uint64_t>(number), 2) == 1;
    std::array order{turned ? Arm::B : Arm::A, turned ? Arm::A : Arm::B};
    const double turn = std::max(kShortestTurn, std::min(kTurn, setup.seconds / kTurnsOfASeed));
    Learnt learnt;
    std::array<std::unique_ptr<Learner>, 2> learners;
    const auto make = [&](Arm arm) {
        learners[placeOf(arm)] = std::make_unique<Learner>(setup, arm, seed);
        return learners[placeOf(arm)]->settle();
    };
    const auto take = [&](Arm arm) {
        learnt.losses[placeOf(arm)] = learners[placeOf(arm)]->validate(validationTokens(setup));
        learnt.steps[placeOf(arm)] = learners[placeOf(arm)]->steps();
        learners[placeOf(arm)].reset();
        device_memory::trim(at::Device(setup.sides[placeOf(arm)].plan.device()));
    };
    if (!setup.together) {
        for (const Arm arm : order) {
            if (auto made = make(arm); !made) return made.error();
            if (auto trained = learners[placeOf(arm)]->trainUntil(setup.seconds); !trained) return trained.error();
            if (setup.stopAsked()) return learnt;
            take(arm);
            progress(arm == order[0] ? 0.5 : 1);
        }
    } else {
        for (const Arm arm : order)
            if (auto made = make(arm); !made) return made.error();
        for (double until = turn;; until += turn) {
            for (const Arm arm : order)
                if (auto trained = learners[placeOf(arm)]->trainUntil(std::min(until, setup.seconds)); !trained) return trained.error();
            if (setup.stopAsked()) return learnt;
            progress(std::min(1.0, until / setup.seconds));
            if (until >= setup.seconds) break;
        }
        for (const Arm arm : order) take(arm);
    }
    learnt.whole = true;
    return learnt;
}

}  // namespace

void summariseEqualTime(const std::vector<std::array<double, 2>>& losses, double alpha, EqualTimeLoss& into) {
    const auto n = static_cast<double>(losses.size());
    into.seeds = static_cast<std::int64_t>(losses.size());
    if (losses.empty()) return;
    into.a = into.b = into.difference = 0;
    for (const auto& [a, b] : losses) {
        into.a += a / n;
        into.b += b / n;
        into.difference += (b - a) / n;
    }
    if (losses.size() < 2) return;
    double squares = 0;
    for (const auto& [a, b] : losses) squares += (b - a - into.difference) * (b - a - into.difference);
    const boost::math::students_t t(n - 1);
    const double half = boost::math::quantile(boost::math::complement(t, alpha / 2)) * std::sqrt(squares / (n - 1) / n);
    into.low = into.difference - half;
    into.high = into.difference + half;
}

Result<EqualTimeLoss> lossAtEqualTime(const EqualTimeSetup& setup) {
    for (const Arm arm : kLearners)
        if (const std::string why = whyNothingToEvaluateOn(setup.batches->corpus(), setup.sides[placeOf(arm)].plan.context); !why.empty())
            return makeError(ErrorCode::BadInput, fmt::format("{} cannot be validated, so there is no loss at equal time. {}",
                                                              nameOfSide(setup.sides[0].config, setup.sides[1].config, arm), why));
    EqualTimeLoss found{.seconds = setup.seconds};
    std::vector<std::array<double, 2>> losses;
    double stepsA = 0, stepsB = 0;
    for (std::int64_t number = 0; number < setup.seeds && !setup.stopAsked(); ++number) {
        const auto learnt = learn(setup, number, [&](double part) {
            if (setup.progress) setup.progress((static_cast<double>(number) + part) / static_cast<double>(setup.seeds));
        });
        if (!learnt) return learnt.error();
        if (!learnt->whole) break;
        losses.push_back(learnt->losses);
        stepsA += static_cast<double>(learnt->steps[0]);
        stepsB += static_cast<double>(learnt->steps[1]);
    }
    summariseEqualTime(losses, 0.05, found);
    if (!losses.empty()) {
        found.stepsA = stepsA / static_cast<double>(losses.size());
        found.stepsB = stepsB / static_cast<double>(losses.size());
    }
    return found;
}

}  // namespace stepscope
