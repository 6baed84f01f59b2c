#include "core/advice/Rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/Check.h"
#include "core/base/Format.h"

namespace stepscope {
namespace {

// A number that is not known passes no threshold: every comparison with NaN is false.
constexpr double kFasterUnits = 1.3, kSlowerAttention = 1.1, kLeastGain = 0.01;
constexpr double kFaultShare = 0.02, kHeadShare = 0.10, kWaitShare = 0.05, kValidationShare = 0.10, kUpdateShare = 0.03;
constexpr double kSmallLaunches = 100, kSmallShare = 0.30;
constexpr double kMuchMemory = 0.90, kLittleMemory = 0.50, kIdleUnits = 0.60;
constexpr double kBatchGain = 1.05;
constexpr double kClippedShare = 0.90, kRatesAbove = 3;
constexpr std::int64_t kClippedSteps = 50;
constexpr double kScatter = 0.10;
constexpr std::int64_t kTile = 64;

double phase(const AdviceFacts& facts, Phase which) {
    return facts.phaseMs[static_cast<std::size_t>(which)];
}

Evidence share(const char* name, double value) {
    return {name, value, format::percent(value)};
}
Evidence ms(const char* name, double value) {
    return {name, value, format::milliseconds(value)};
}
Evidence count(const char* name, double value) {
    const bool whole = value == std::floor(value) && std::fabs(value) < 1e15;
    return {name, value, whole ? format::count(static_cast<std::int64_t>(value)) : format::significant(value, 4)};
}
Evidence flops(const char* name, double value) {
    return {name, value, format::significant(value / 1e9) + " GFLOP/s"};
}
Evidence bytes(const char* name, double value) {
    return {name, value, format::bytes(value)};
}
Evidence rate(const char* name, double value) {
    return {name, value, fmt::format("{:.2g}", value)};
}

KeyValue learningRate(double rate) {
    return {"lr", fmt::format("{:.2g}", rate)};
}

bool hasBf16Units(const AdviceFacts& facts) {
    if (!facts.plan.gpu) return facts.machine.has("avx512_bf16") || facts.machine.has("amx_bf16");
    const auto number = static_cast<std::size_t>(*facts.plan.gpu);
    return number < facts.machine.gpus.size() && facts.machine.gpus[number].computeMajor >= 8;
}

void float32Products(const AdviceFacts& facts, Finding& into) {
    const double ratio = facts.peaks.bf16 / facts.peaks.float32;
    if (facts.plan.precision != Precision::Float32 || !hasBf16Units(facts) || !(ratio >= kFasterUnits)) return;
    into.sentence = fmt::format("Matrix products run in float32, and this machine's units for bf16 are {:.1f} times as fast.", ratio);
    into.evidence = {flops("products in float32", facts.peaks.float32), flops("products in bf16", facts.peaks.bf16)};
    into.remedies = {WantedPlan([](const RunPlan& other) { return other.precision == Precision::Bf16; })};
}

void fp16WithoutUnits(const AdviceFacts& facts, Finding& into) {
    if (facts.plan.precision != Precision::Fp16 || facts.plan.gpu || facts.machine.has("avx512_fp16") || facts.machine.has("amx_fp16")) return;
    into.sentence = "Matrix products run in fp16, for which this processor has no units: they are imitated, many times slower.";
    into.evidence = {count("instruction sets for fp16", 0)};
    into.remedies = {WantedPlan([](const RunPlan& other) { return other.precision == Precision::Bf16; })};
}

void fp16Unclipped(const AdviceFacts& facts, Finding& into) {
    if (facts.plan.precision != Precision::Fp16 || facts.plan.maxNorm > 0) return;
    into.sentence = "fp16 ends at 65504, and nothing bounds the gradients here: one step that overshoots can break the run.";
    into.evidence = {count("grad-clip's norm", facts.plan.maxNorm)};
    into.remedies = {WantedPlan([](const RunPlan& other) { return other.maxNorm > 0; })};
}

void slowerAttention(const AdviceFacts& facts, Finding& into) {
    const bool manual = facts.plan.attention == AttentionKind::Manual;
    // A back-end that was asked for by name is what it is; the planned step has an attention of its own.
    if (facts.plan.execution == Execution::Planned || (!manual && facts.plan.attention != AttentionKind::Auto)) return;
    const double now = manual ? facts.manualAttentionMs : facts.sdpaAttentionMs, other = manual ? facts.sdpaAttentionMs : facts.manualAttentionMs;
    const double saved = (now - other) * static_cast<double>(facts.plan.config.layers * facts.plan.accumulation) / facts.stepMs;
    if (!(now / other >= kSlowerAttention) || !(saved >= kLeastGain)) return;
    into.sentence = fmt::format("{} is {:.1f} times as slow here as {} at this shape: about {} of a step.",
                                manual ? "Attention written out" : "The library's attention", now / other,
                                manual ? "the library's" : "attention written out", format::percent(saved));
    into.evidence = {ms("a layer's attention as it is", now), ms("the other way", other), share("share of a step", saved)};
    into.remedies = {WantedPlan(
        [manual](const RunPlan& wanted) { return manual ? wanted.attention == AttentionKind::Auto : wanted.attention == AttentionKind::Manual; })};
}

void pageFaults(const AdviceFacts& facts, Finding& into) {
    const double spent = facts.faultsPerStep * facts.peaks.secondsAPage * 1e3 / facts.stepMs;
    if (facts.plan.gpu || facts.plan.hostMemory != HostMemory::System || !(spent >= kFaultShare)) return;
    into.sentence = fmt::format("Memory is asked of the system anew each step: {} pages, about {} of a step.",
                                format::significant(facts.faultsPerStep), format::percent(spent));
    into.evidence = {count("page faults a step", facts.faultsPerStep), ms("a page", facts.peaks.secondsAPage * 1e3), share("share of a step", spent)};
    into.remedies = {WantedPlan([](const RunPlan& other) { return other.hostMemory == HostMemory::Caching; })};
}

void unpaddedVocabulary(const AdviceFacts& facts, Finding& into) {
    const double head = facts.work.head / facts.work.products;
    if (facts.vocabularyRows <= 0 || facts.vocabularyRows % kTile == 0 || !(head >= kHeadShare)) return;
    into.sentence = fmt::format("The vocabulary's product has {} columns, no multiple of {}: the last tile of each row is computed in part.",
                                format::count(facts.vocabularyRows), kTile);
    into.evidence = {count("rows of the vocabulary", static_cast<double>(facts.vocabularyRows)), share("share of all products", head)};
    into.remedies = {WantedPlan([](const RunPlan& other) { return other.padding.multiple == kTile; })};
}

void loaderWait(const AdviceFacts& facts, Finding& into) {
    const double wait = (phase(facts, Phase::Batch) + phase(facts, Phase::Copy)) / facts.stepMs;
    if (!(wait >= kWaitShare)) return;
    into.sentence = fmt::format("A step waits {} of its time for its batch.", format::percent(wait));
    into.evidence = {ms("batch", phase(facts, Phase::Batch)), ms("copy", phase(facts, Phase::Copy)), share("share of a step", wait)};
    const FeedSettings now = facts.plan.feed;
    if (now.place == TokenPlace::Text)
        into.remedies.emplace_back(WantedPlan([](const RunPlan& other) { return other.feed.place == TokenPlace::Mapped; }));
    if (now.creation == BatchCreation::Loop)
        into.remedies.emplace_back(WantedPlan([](const RunPlan& other) { return other.feed.creation == BatchCreation::Vectorised; }));
    if (now.place != TokenPlace::Ram)
        into.remedies.emplace_back(WantedPlan([](const RunPlan& other) { return other.feed.place == TokenPlace::Ram; }));
    into.remedies.emplace_back(WantedPlan([now](const RunPlan& other) { return other.feed.workers == now.workers + 1; }));
}

void validationShare(const AdviceFacts& facts, Finding& into) {
    const std::int64_t every = facts.plan.validation.everySteps;
    const double spent = facts.validationMs / (facts.validationMs + static_cast<double>(every) * facts.stepMs);
    if (every <= 0 || !(spent >= kValidationShare)) return;
    into.sentence = fmt::format("Validation takes {} of the run: one every {} steps, each as long as {} steps.", format::percent(spent), every,
                                format::significant(facts.validationMs / facts.stepMs));
    into.evidence = {ms("a validation", facts.validationMs), ms("a step", facts.stepMs), share("share of the run", spent)};
    into.remedies = {WantedPlan([every](const RunPlan& other) { return other.validation.everySteps == 2 * every; })};
}

void unfusedOptimizer(const AdviceFacts& facts, Finding& into) {
    const double spent = phase(facts, Phase::Optimizer) / facts.stepMs;
    const bool unfused = facts.plan.optimizer == OptimizerKind::Loop || facts.plan.optimizer == OptimizerKind::Foreach;
    if (!unfused || !(spent >= kUpdateShare)) return;
    into.sentence =
        fmt::format("The update takes {} of a step, in one pass over memory after the other; one pass can do all of it.", format::percent(spent));
    into.evidence = {ms("the update", phase(facts, Phase::Optimizer)), share("share of a step", spent)};
    into.remedies = {WantedPlan([](const RunPlan& other) { return other.optimizer == OptimizerKind::Fused; })};
}

void smallOperations(const AdviceFacts& facts, Finding& into) {
    if (facts.plan.execution != Execution::Eager || !(facts.smallLaunches >= kSmallLaunches) || !(facts.smallShare >= kSmallShare)) return;
    into.sentence = fmt::format("{} of a step goes into {} small operations that are neither matrix products nor attention.",
                                format::percent(facts.smallShare), format::significant(facts.smallLaunches));
    into.evidence = {count("small operations a step", facts.smallLaunches), share("share of a step", facts.smallShare)};
    into.remedies = {WantedPlan([](const RunPlan& other) { return other.execution == Execution::Planned; }),
                     WantedPlan([](const RunPlan& other) { return other.fused.norm && other.fused.activation; })};
}

void tightMemory(const AdviceFacts& facts, Finding& into) {
    if (!(facts.memoryShare > kMuchMemory)) return;
    into.sentence = fmt::format("A step is predicted to take {} of the memory that is available: what else runs may push it over.",
                                format::percent(facts.memoryShare));
    into.evidence = {share("share of the available memory", facts.memoryShare)};
    const std::int64_t half = facts.plan.batchSize / 2;
    into.remedies = {WantedPlan([](const RunPlan& other) { return other.recompute.everyKthBlock > 0; })};
    if (half > 0) into.remedies.emplace_back(WantedPlan([half](const RunPlan& other) { return other.batchSize == half; }));
}

void recomputesWithRoom(const AdviceFacts& facts, Finding& into) {
    const auto recomputes = [](const RunPlan& plan) { return plan.recompute.everyKthBlock > 0 || plan.recompute.attentionOnly; };
    if (!recomputes(facts.plan) || !(facts.memoryShare < kLittleMemory)) return;
    into.sentence = fmt::format("Activations are computed twice to save memory, and {} of it would be used.", format::percent(facts.memoryShare));
    into.evidence = {share("share of the available memory", facts.memoryShare)};
    into.remedies = {WantedPlan([recomputes](const RunPlan& other) { return !recomputes(other); })};
}

WantedPlan twiceTheBatch(const AdviceFacts& facts) {
    return [twice = 2 * facts.plan.batchSize](const RunPlan& other) { return other.batchSize == twice; };
}

void idleMemory(const AdviceFacts& facts, Finding& into) {
    const double reached = facts.work.products / (facts.stepMs / 1e3) / facts.peaks.of(facts.plan.precision);
    if (std::isfinite(facts.twiceTheBatchGain) || !(facts.memoryShare < kLittleMemory) || !(reached < kIdleUnits)) return;
    into.sentence = fmt::format("Memory is used to {}, and products reach {} of this machine's peak: a larger batch may fill both.",
                                format::percent(facts.memoryShare), format::percent(reached));
    into.evidence = {share("share of the available memory", facts.memoryShare), share("share of the product peak", reached)};
    into.remedies = {twiceTheBatch(facts)};
}

void batchBelowKnee(const AdviceFacts& facts, Finding& into) {
    // Two short timings beside other programs, or on a host that takes time for others, say more of those than of the batch.
    if (!(facts.twiceTheBatchGain >= kBatchGain) || facts.othersPct >= kDisturbingOthersPct || facts.stealPct >= kDisturbingStealPct) return;
    into.sentence = fmt::format("With twice the batch {} more tokens a second were trained.", format::percent(facts.twiceTheBatchGain - 1));
    into.evidence = {{"tokens per second with twice the batch", facts.twiceTheBatchGain, fmt::format("×{:.2f}", facts.twiceTheBatchGain)}};
    into.remedies = {twiceTheBatch(facts)};
}

// Of a rate trouble that a run's curve shows.
bool shows(const AdviceFacts& facts, RateTrouble trouble) {
    return facts.rate && facts.rate->trouble == trouble && std::isfinite(facts.rate->highest);
}

void rateTooHigh(const AdviceFacts& facts, Finding& into) {
    if (!shows(facts, RateTrouble::TooHigh)) return;
    into.sentence = facts.rate->sentence;
    into.evidence = {rate("lr", facts.rate->highest)};
    into.remedies = {learningRate(facts.rate->highest / 3)};
}

void rateTooLow(const AdviceFacts& facts, Finding& into) {
    if (!shows(facts, RateTrouble::TooLow)) return;
    into.sentence = facts.rate->sentence;
    into.evidence = {rate("lr", facts.rate->highest)};
    into.remedies = {learningRate(facts.rate->highest * 10)};
}

void decaysLate(const AdviceFacts& facts, Finding& into) {
    if (!shows(facts, RateTrouble::DecaysLate)) return;
    into.sentence = facts.rate->sentence;
    into.evidence = {count("steps", static_cast<double>(facts.plan.config.steps))};
    into.remedies = {KeyValue{"steps", std::to_string(std::max<std::int64_t>(1, facts.plan.config.steps / 2))}};
}

void lossBroke(const AdviceFacts& facts, Finding& into) {
    if (!facts.brokeDown) return;
    into.sentence =
        "The run ended because its loss or a gradient was no number: the learning rate is too high for it, or the number format too narrow.";
    into.evidence = {rate("lr", facts.plan.config.lr), count("steps until then", static_cast<double>(facts.stepsMade))};
    if (!(facts.plan.maxNorm > 0)) into.remedies.emplace_back(WantedPlan([](const RunPlan& other) { return other.maxNorm > 0; }));
    into.remedies.emplace_back(learningRate(facts.plan.config.lr / 3));
}

void rateUnusual(const AdviceFacts& facts, Finding& into) {
    if (facts.plan.config.schedule == "range-test") return;  // its rate is too high on purpose, at its end
    const auto usual = usualRates(facts.parameters);
    if (!usual || !(facts.plan.config.lr > kRatesAbove * usual->high)) return;
    into.sentence = fmt::format("Models of this size are usually trained with {:.0e} to {:.0e}.", usual->low, usual->high);
    into.evidence = {rate("lr", facts.plan.config.lr), rate("usual at most", usual->high)};
    into.remedies = {learningRate(usual->high)};
}

void clipsAlways(const AdviceFacts& facts, Finding& into) {
    if (!(facts.plan.maxNorm > 0) || facts.stepsMade < kClippedSteps || !(facts.clippedShare >= kClippedShare)) return;
    const double norm = std::isfinite(facts.clippedAt) ? facts.clippedAt : facts.plan.maxNorm;
    if (facts.plan.maxNorm > norm) return;  // what is set now bounds less
    into.sentence = fmt::format("Gradients were clipped in {} of {} steps: the norm bounds every step, and the learning rate is not what it says.",
                                format::percent(facts.clippedShare), format::count(facts.stepsMade));
    into.evidence = {share("steps clipped", facts.clippedShare), count("steps", static_cast<double>(facts.stepsMade)), count("at a norm of", norm)};
    into.remedies = {WantedPlan([twice = 2 * facts.plan.maxNorm](const RunPlan& other) { return other.maxNorm == twice; }),
                     learningRate(facts.plan.config.lr / 2)};
}

void threads(const AdviceFacts& facts, Finding& into) {
    const std::int64_t threads = facts.plan.config.threads, cores = facts.machine.cores;
    if (threads == 0 || threads == cores || facts.plan.gpu) return;
    into.sentence = threads < cores ? fmt::format("{} of {} cores {} idle.", cores - threads, cores, cores - threads == 1 ? "stands" : "stand")
                                    : fmt::format("{} threads share {} core{}: each waits for the others.", threads, cores, cores == 1 ? "" : "s");
    into.evidence = {count("threads", static_cast<double>(threads)), count("cores", static_cast<double>(cores))};
    into.remedies = {KeyValue{"threads", "0"}};
}

void noisyMachine(const AdviceFacts& facts, Finding& into) {
    const double scatter = facts.quartilesMs / facts.medianMs;
    const bool others = facts.othersPct >= kDisturbingOthersPct, steal = facts.stealPct >= kDisturbingStealPct, scatters = scatter >= kScatter;
    if (!others && !steal && !scatters) return;
    into.sentence = "Something else moves the times of this machine's steps: close what can be closed, and give a comparison more minutes.";
    if (others) into.evidence.push_back({"other programs", facts.othersPct, fmt::format("{:.0f} % of the processors", facts.othersPct)});
    if (steal) into.evidence.push_back({"taken by this host for others", facts.stealPct, fmt::format("{:.0f} %", facts.stealPct)});
    if (scatters) into.evidence.push_back(share("between the quartiles, of the median step", scatter));
    into.remedies = {BesideItself{}};
}

void checkpointRoom(const AdviceFacts& facts, Finding& into) {
    // Where those that keep=1 leaves do not fit, with the one that is written beside them, it is no help (app/workbench/diagnose says that).
    if (!(facts.checkpointBytes > facts.freeDiskBytes) || facts.leastCheckpointBytes > facts.freeDiskBytes) return;
    into.sentence = "The checkpoints of this run do not fit the disk that sessions are on.";
    into.evidence = {bytes("checkpoints", facts.checkpointBytes), bytes("free", facts.freeDiskBytes)};
    into.remedies = {KeyValue{"keep", "1"}};
}

}  // namespace

const std::vector<Rule>& rules() {
    static const std::vector<Rule> all{
        {"float32-products", "Use bf16 for matrix products", "float32 products, units for bf16, and those at least 1.3 times as fast here",
         float32Products},
        {"fp16-without-units", "Use bf16 in place of fp16", "fp16 on a processor without avx512_fp16 and amx_fp16", fp16WithoutUnits},
        {"fp16-unclipped", "Clip the gradients", "fp16 without clipping", fp16Unclipped},
        {"slower-attention", "Compute attention the other way", "the other way at least 1.1 times as fast at this shape, and 1 % of a step won",
         slowerAttention},
        {"page-faults", "Keep memory between steps", "page faults × the price of a page at least 2 % of a step", pageFaults},
        {"unpadded-vocabulary", "Pad the vocabulary", "rows no multiple of 64, and the vocabulary at least 10 % of all products", unpaddedVocabulary},
        {"loader-wait", "Make batches ready sooner", "batch and copy at least 5 % of a step", loaderWait},
        {"validation-share", "Validate less often", "validation at least 10 % of the run", validationShare},
        {"unfused-optimizer", "Update in one pass", "loop or foreach, and the optimizer at least 3 % of a step", unfusedOptimizer},
        {"small-operations", "Fuse small operations", "at least 100 small operations a step that take at least 30 % of it", smallOperations},
        {"tight-memory", "Leave some memory free", "predicted tensors above 90 % of the available memory", tightMemory},
        {"recomputes-with-room", "Keep activations", "activations recomputed, and memory below 50 %", recomputesWithRoom},
        {"idle-memory", "Try a larger batch", "memory below 50 % and products below 60 % of the peak, twice the batch not tried", idleMemory},
        {"batch-below-knee", "Use a larger batch",
         "twice the batch trains at least 1.05 times as many tokens a second, other programs take less than 10 %, and the host less than 5 %",
         batchBelowKnee},
        {"rate-too-high", "Lower the learning rate",
         "the loss of a run went up and down again at least 3 times by more than its noise, or from step to step", rateTooHigh},
        {"rate-too-low", "Raise the learning rate", "the loss of a run moved by less than 5 % in its first quarter", rateTooLow},
        {"decays-late", "Let the rate decay earlier", "the loss of a run stood still within 0.5 % until the rate decayed, and fell by 2 % then",
         decaysLate},
        {"loss-broke", "Lower the learning rate or clip", "a run ended on a loss or gradient that is no number", lossBroke},
        {"rate-unusual", "Look at the learning rate", "lr more than 3 times the highest usual one of this size (62 M parameters and more)",
         rateUnusual},
        {"clips-always", "Look at clipping", "gradients clipped in at least 90 % of a run's steps, of 50 or more", clipsAlways},
        {"threads", "Use every core once", "threads other than the cores that can be used", threads},
        {"noisy-machine", "Find out how noisy this machine is",
         "other programs at least 10 %, the host at least 5 %, or quartiles at least 10 % of the median step apart", noisyMachine},
        {"checkpoint-room", "Keep fewer checkpoints", "the checkpoints of the run larger than what is free", checkpointRoom},
    };
    return all;
}

std::vector<Finding> findings(const AdviceFacts& facts) {
    std::vector<Finding> all;
    for (const Rule& rule : rules()) {
        Finding found{.rule = rule.id, .title = rule.title, .sentence = {}, .threshold = rule.threshold, .evidence = {}, .remedies = {}};
        rule.judge(facts, found);
        // Facts that are no numbers prove nothing, whatever threshold they pass.
        if (found.evidence.empty() || !std::ranges::all_of(found.evidence, [](const Evidence& one) { return std::isfinite(one.value); })) continue;
        SS_CHECK(!found.remedies.empty() && !found.sentence.empty());
        all.push_back(std::move(found));
    }
    return all;
}

}  // namespace stepscope
