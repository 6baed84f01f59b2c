// Commands: what the window or the command line asks of a running trainer. Taken at step boundaries only.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/events/RunConfig.h"

namespace stepscope {

struct Pause {};
struct Resume {};
struct Stop {};
struct Flip {  // another value for a switch: a new Program over the same State
    std::string id;
    Value value;
};
struct Reseed {  // batches from here on are drawn with this seed
    std::int64_t seed = 1;
};
struct SaveCheckpoint {
    std::string path;  // empty = the session's own checkpoint folder
};
struct ValidateNow {};
constexpr std::int64_t kMostTokensWritten = 100'000;  // by one GenerateText

struct GenerateText {
    std::string prompt;
    std::int64_t tokens = 200;  // 0: nothing is written; the text under way is cut off where it is, and those asked for before it are not begun
    double temperature = 0.8;
    std::int64_t topK = 0;  // 0 = off
    double topP = 1.0;      // 1 = off
    std::int64_t seed = 1;
    std::vector<std::string> stop{};     // the text ends before the first of these
    double repetitionPenalty = 1;        // 1 = off; above: what occurs in prompt or text is less likely
    double frequencyPenalty = 0;         // 0 = off; taken from the logit of an id for each time that it was written
    double presencePenalty = 0;          // 0 = off; taken once from the logit of each id that was written
    std::vector<std::string> besides{};  // further prompts: a text behind each is written beside that of `prompt`, and draws for itself
};
struct Capture {  // what runs in some steps, answered by CaptureDone
    std::int64_t steps = 1;
    std::int64_t firstStep = 0;  // the number of an update; of one that is made already: the next one
    std::int64_t warmUp = 0;     // steps before it that are observed likewise and not kept, as far as they are not made already
    // Instead of all this: whether from here on every step is observed and the slowest are kept.
    std::optional<bool> slowest{};
};
constexpr std::int64_t kMostCapturedSteps = 1000;

// Takes turns between the value that a switch has and another one while the run trains on, until it is known which one is faster; answered by
// ExperimentBegan, BlockDone and ExperimentJudged, or by SwitchRefused. The faster value stays, the old one where nobody can tell.
struct Measure {
    std::string id;
    Value value;
    double budgetSeconds = 180;
    double delta = 0.01;       // a ratio within 1 +- delta counts as equal
    std::int64_t seed = 0;     // of the coins; 0: the run's own for this step, another one each time
    bool lossMayMove = false;  // the person agrees to values whose arithmetic differs
};
struct StopMeasuring {};  // what is known is kept
struct StopCapture {};    // what is captured of the steps that were asked for is kept, and no more of them are; the slowest go on being kept

using Command =
    std::variant<Pause, Resume, Stop, Flip, Reseed, SaveCheckpoint, ValidateNow, GenerateText, Capture, Measure, StopMeasuring, StopCapture>;

}  // namespace stepscope
