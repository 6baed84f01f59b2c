// RunConfig: everything a person can set about a run, and nothing else. Plain data: stored with the session, written to
// YAML, built by the window and by --set. Keys and their rules are in ConfigKeys.h; switches are described by the
// registry (SwitchCatalogue.h) and held here by id.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <variant>

namespace stepscope {

// The value of a switch: an integer, a real number, or the word of a choice.
using Value = std::variant<std::int64_t, double, std::string>;
std::string toString(const Value& value);

inline constexpr const char* kRandomWeights = "random";

struct RunConfig {
    std::string preset = "tiny-cpu";

    // text
    std::string data = "kjv";        // kjv | shakespeare | generated | random | a path: .txt, folder, .jsonl, either as .zst, .bin
    std::string tokenizer = "byte";  // byte | char | gpt2
    double validationFraction = 0.1;
    std::string validation = "split";      // split: the end of the data; or a path, read as data is
    std::string separator = "blank-line";  // between documents: blank-line | endoftext (GPT-2's token)
    std::string init = kRandomWeights;     // what training begins with: random | a path of weights (--init); a resumed run's is its checkpoint
    std::string initPartial = "off";       // of weights of another shape: off = they are refused | on = what fits is taken, the rest drawn

    // model: GPT-2 (Radford et al. 2019) by default
    std::int64_t layers = 4;
    std::int64_t heads = 4;
    std::int64_t width = 128;
    std::int64_t vocabulary = 0;        // 0 = the tokenizer's size
    std::string qkv = "fused";          // fused | split
    std::string activation = "gelu";    // gelu | swiglu
    std::string tiedHead = "on";        // on | off
    std::string normPlacement = "pre";  // pre | post
    std::string norm = "layernorm";     // layernorm | rmsnorm
    std::string positions = "learned";  // learned | rope
    std::string bias = "on";            // on | off
    double dropout = 0;
    double labelSmoothing = 0;

    // schedule and optimizer
    std::string schedule = "warmup-cosine";  // constant | warmup | cosine | linear | warmup-cosine | one-cycle | trapezoid | range-test
    double lr = 1e-3;
    double minLr = 1e-4;  // floor of cosine, linear and trapezoid; where a range test begins
    std::int64_t warmup = 100;
    std::int64_t steps = 2000;
    double weightDecay = 0.1;  // on matrices only
    double beta1 = 0.9;
    double beta2 = 0.95;
    double epsilon = 1e-8;
    std::int64_t lossScaleGrowth = 2000;  // fp16: clean steps before the loss scale doubles
    std::string keepZeros = "off";        // off | on: weights of the blocks' matrices that are zero, as pruning leaves them, stay zero

    // the loop
    std::int64_t seed = 1;
    std::int64_t threads = 0;              // 0 = every core
    std::int64_t validationTokens = 6144;  // read by each validation, in whole sequences
    std::int64_t checkpointEvery = 0;      // 0 = not while it runs
    std::string checkpointAtEnd = "on";    // on | off: keep what was learnt when the run ends or is stopped
    std::int64_t keep = 0;                 // of those only the newest are kept; 0 = all
    std::string keepBest = "off";          // and the one with the lowest validation loss: off | on
    std::int64_t earlyStopping = 0;        // validations in a row without a lower loss after which the run ends; 0 = it makes all its steps
    std::int64_t sampleEvery = 0;          // text samples while training; 0 = never

    // every switch of the registry by id; an absent one has its default
    std::map<std::string, Value> switches;

    bool operator==(const RunConfig&) const = default;

    // The value of a switch that holds an integer, a real (integers widen) or a word. SS_CHECKs that it is set and of that kind:
    // SwitchRegistry::complete() has filled every default before anything runs.
    std::int64_t integer(const std::string& id) const;
    double real(const std::string& id) const;
    const std::string& word(const std::string& id) const;
    bool has(const std::string& id) const { return switches.contains(id); }

    // Who ends early goes back to what was best: that checkpoint stays likewise.
    bool keepsBest() const { return keepBest == "on" || earlyStopping > 0; }
};

}  // namespace stepscope
