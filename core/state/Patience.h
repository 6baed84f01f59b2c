// Patience: how long a run has waited for a lower validation loss. Part of the State, so that a run that goes on from a checkpoint goes on waiting;
// it counts while early-stopping asks for it. Trainer thread.
#pragma once
#include <cmath>
#include <cstdint>
#include <limits>

namespace stepscope {

struct Patience {
    double best = std::numeric_limits<double>::quiet_NaN();  // the lowest loss so far; no number: none yet
    std::int64_t bestStep = 0;                               // when it was found
    std::int64_t waited = 0;                                 // validations since

    // One more. A loss that is no number is no better one.
    void hear(double loss, std::int64_t step) {
        if (std::isfinite(loss) && !(loss >= best)) {
            best = loss;
            bestStep = step;
            waited = 0;
        } else {
            ++waited;
        }
    }
};

}  // namespace stepscope
