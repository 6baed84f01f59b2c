// Waterfall: why one of two arms is faster. Captured steps of both, as slices; the thread that runs the steps is divided exactly, each instant to the
// innermost operation that ran, into classes of work (WorkClass.h) and into places of the model. Of steps on a GPU it is the GPU that is divided:
// each instant to the kernel or copy that began first of those that ran, and what none ran in is a gap. What capturing costs is taken out as so much
// a record and another speed of the machine as one scale, the same for both arms; what then remains of the measured difference is unexplained, unless
// the pairs and the captured steps leave as much open: then each arm's shares are taken of its measured step. Blocks are added in any order; any
// thread, no LibTorch.
#pragma once
#include <array>
#include <cmath>
#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/analysis/why/WorkClass.h"
#include "core/events/Experiment.h"

namespace stepscope {

struct ClassDifference {
    WorkClass kind = WorkClass::Host;
    double a = 0, b = 0;                     // ms of a step, without the capture's cost; b's for as many tokens as a step of A has
    double low = kUnknown, high = kUnknown;  // 95 % interval of b - a, over captured windows in turns; of fewer than four, over steps (Welch 1947)
    double difference() const { return b - a; }
};

// Where something can be seen: from its first operation to the end of its last one, in the newest captured step. ns of the session's clock.
struct SeenAt {
    std::int64_t from = 0, until = 0;  // 0, 0: nowhere
    bool somewhere() const { return until > from; }
};

// Operations of one phase and one part of the model, over all layers, however many they are and whatever they are called.
struct PlaceDifference {
    std::string phase, role;                  // role "" : none; of parts that either arm runs as one, all of them
    std::int64_t layer = -1;                  // -1: all of them, or of none
    double a = 0, b = 0;                      // ms of a step, likewise
    double callsA = 0, callsB = 0;            // of operations that compute something, a step
    std::vector<std::string> namesA, namesB;  // those that took longest, at most three
    SeenAt seenA, seenB;
    double difference() const { return b - a; }
    std::string where() const;   // "forward, mlp/up"; of one layer "forward, layer 3, mlp/up"
    std::string change() const;  // "new", "gone", "12 became 1", or empty
    std::string calls() const;   // that, or how many operations a step of both: "12", "12, 13"
    std::string share() const;   // the difference as a share of A's time: "−37 %"; "new" where A has none
};

struct WaterfallResult {
    double measuredA = 0, measuredB = 0;  // ms of a step without a capture: what is explained
    double capturedA = 0, capturedB = 0;  //   and of the captured ones, b's for A's tokens
    std::int64_t stepsA = 0, stepsB = 0;
    double nsARecord = 0;           // that a capture costs; 0: none was seen
    double scale = 1;               // how many times as long this machine took for the measured steps as for the captured ones, without that cost
    double scaleA = 1, scaleB = 1;  //   and what each arm's times are multiplied by: that, or what makes them the measured ones
    std::vector<ClassDifference> classes;  // all of them, in their order
    std::vector<PlaceDifference> places;   // by size of the difference
    std::vector<PlaceDifference> layers;   //   the same, layer by layer, of those places that have layers
    // ms: measured difference less that of the captured steps, both arms' brought to the measured times by one scale; half of the 95 % interval that
    // the pairs and the captured steps together leave to that, unknown where either has none; and what is missing beyond it, which the classes leave
    // over.
    double apart = 0, open = kUnknown, unexplained = 0;
    std::string outcome;  // what the pairs of blocks said (ExperimentJudged); empty: nothing is known of them
    double difference() const { return measuredB - measuredA; }
    // Of the measured difference; unknown where there is none.
    double unexplainedShare() const;
    // What was captured differs by what was measured, as far as both can tell.
    bool mayBeNothing() const { return std::abs(apart) <= open; }
};

class Waterfall {
public:
    void add(Arm arm, const SliceBlock& block);
    bool has(Arm arm) const { return steps(arm) > 0; }
    // measured: mean ms of a step without capture, of each arm. tokensRatio: tokens of a step of A over those of B; B's times are multiplied by it.
    // pairsHalf: ms, half of the 95 % interval of that difference; unknown: nothing is said of what is open.
    WaterfallResult result(double measuredA, double measuredB, double tokensRatio = 1, double pairsHalf = kUnknown) const;

private:
    struct Place {
        double ns = 0;
        std::int64_t calls = 0, records = 0;
        std::map<std::string, double> names;  // ns of each
        std::int64_t step = 0;                // that `seen` is of
        SeenAt seen;
        void see(std::int64_t ofStep, const SeenAt& at);
        void add(const Place& other);
    };
    struct StepSums {
        std::int64_t duration = 0;                   // of its Step slice; 0: not seen
        bool onDevice = false;                       // it is the GPU that is divided
        std::array<double, kWorkClasses> classes{};  // ns: what a stranger's file says may be any number, and its sum must not overflow
        std::array<std::int64_t, kWorkClasses> records{};
    };
    struct PlaceKey {
        std::string phase, role;
        std::int64_t layer = -1;
        auto operator<=>(const PlaceKey&) const = default;
    };
    struct Lane {
        std::map<std::int64_t, StepSums> steps;  // by number
        std::map<std::int64_t, std::map<PlaceKey, Place>> places;
    };
    struct DeviceWork {  // a kernel or a copy
        std::int64_t step = 0, start = 0, end = 0;
        WorkClass kind = WorkClass::Pointwise;
        PlaceKey place;
        std::string name;
    };
    using Lanes = std::map<std::int64_t, Lane>;
    void addDevice(Arm arm, const SliceBlock& block);
    // With what GPUs did in place of what the thread did, in the steps that had a GPU.
    Lanes withDevice(Arm arm) const;
    static void divide(std::vector<DeviceWork> works, StepSums& step, std::map<PlaceKey, Place>& places);
    static std::map<PlaceKey, Place> placesOf(const Lanes& lanes);
    // layered: layer by layer, without what has none.
    static std::vector<PlaceDifference> rowsOf(const std::array<std::map<PlaceKey, Place>, 2>& places, const WaterfallResult& found,
                                               double tokensRatio, bool layered);
    std::int64_t steps(Arm arm) const;
    const Lanes& lanes(Arm arm) const { return m_lanes[arm == Arm::A ? 0 : 1]; }

    std::array<std::map<std::int64_t, Lane>, 2> m_lanes;
    std::array<std::map<std::int64_t, std::vector<DeviceWork>>, 2> m_device;  // by step
    std::size_t m_works = 0;
};

// A sentence or two for people: what most of the difference is, as surely as it is known, and where the pairs found no difference, that. Empty where
// nothing is known.
std::string waterfallSentence(const WaterfallResult& result);
// What is not explained, less and more what is open of it: "−0.2 ms to +0.6 ms"; "unknown" where that is.
std::string openInterval(const WaterfallResult& result);

}  // namespace stepscope
