// WeightsFile: parameters of a GPT in files, by GPT-2's names and in its orientation: of our own checkpoints, and of files that others wrote (--init;
// foreign/ForeignModel says which). Read on the trainer thread, a tensor at a time.
#pragma once
#include "core/state/SafeTensors.h"
#include "core/state/TrainState.h"

namespace stepscope {

// A flat buffer of a State as named tensors of a file: linear weights as (in, out) ("Conv1D"), the table without its padded rows.
NamedTensors namedForFile(const at::Tensor& flat, const TrainState& state, const std::string& prefix);

// The other way round: every parameter of the State, in the shape it has there. Damaged, BadInput: one is missing or has another shape.
Status readAll(TensorSource& file, const std::string& path, const TrainState& state, const std::string& prefix, const at::Tensor& flat);

// Weights alone, in the layout of `config`, padded rows zero. Every tensor that the model has must be there.
Result<at::Tensor> readWeights(TensorSource& file, const std::string& path, const GptConfig& config);

struct LoadedWeights {
    TrainState state;  // moments zero, step 0
    std::string note;  // what of the file was left or cut, what is fresh: sentences for the log; empty = the file and the model have the same
};

// Weights to start a run from. A table of positions that is longer than the model's is cut. What the model has no place for, and what the file lacks,
// is refused with a list of both, and so is another number of heads than what lies beside the file tells; with `partial` what fits is taken and the
// rest is drawn as at the start of any run. Masks and other buffers that GPT-2's files carry are not weights and are passed over, and so is a head
// that is the table of tokens once more.
Result<LoadedWeights> loadInitialWeights(const std::string& path, const GptConfig& config, std::uint64_t seed, bool partial);

// What loadInitialWeights would say of these weights and a model of this shape, without reading them and without memory for them: its refusal, or
// what of the files is passed over or cut, as sentences. Whether they are numbers is not looked at.
Result<std::string> describeFit(const std::string& path, const GptConfig& config, bool partial = false);

// How many heads the model of a lone safetensors file has, which no tensor tells: of the config.json, or in a checkpoint the state.json, that lies
// beside it. 0: nothing tells it.
std::int64_t headsBeside(const std::string& path);

// The shape of the model that files are of, with its positions where these tell all of it. Of a lone safetensors file what no tensor tells is as in
// `like`: norm and its placement, biases where there is no linear, and the number of heads where headsBeside() does not know it.
// vocabulary is the rows of the table of tokens.
Result<GptConfig> shapeOfWeights(const std::string& path, const GptConfig& like);

}  // namespace stepscope
