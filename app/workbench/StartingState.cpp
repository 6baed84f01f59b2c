#include "app/workbench/StartingState.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "core/base/Format.h"
#include "core/model/ParameterLayout.h"
#include "core/state/Checkpoint.h"
#include "core/state/WeightsFile.h"
#include "core/state/Zeros.h"
#include "core/state/foreign/ForeignModel.h"

namespace stepscope {
namespace {

// A tokenizer in the words of a sentence: "char tokenizer of 65 characters".
std::string described(const Tokenizer& tokenizer) {
    return fmt::format("{} tokenizer of {} ids", tokenizer.name(), tokenizer.vocabulary());
}

// Whether both give every text the same ids. How documents are joined is no part of that.
bool sameIds(const Tokenizer& a, const Tokenizer& b) {
    auto one = nlohmann::json::parse(a.toJson()), other = nlohmann::json::parse(b.toJson());
    for (auto* json : {&one, &other}) {
        json->erase("separator");
        if (json->contains("files")) json->erase("vocabulary"), json->erase("merges");  // which that is the hash of
    }
    return one == other;
}

// An id must mean what it meant: with another alphabet every embedding would belong to another letter.
Status checkTokenizer(const std::string& path, const CheckpointMeta& meta, const Corpus& corpus, std::vector<std::string>& notes) {
    if (meta.tokenizerJson.empty() && corpus.tokenizer == nullptr) return {};
    if (meta.tokenizerJson.empty()) {
        notes.push_back(fmt::format("The checkpoint {} was made from ready tokens; whether they were those of the {}, nobody can tell.", path,
                                    described(*corpus.tokenizer)));
        return {};
    }
    auto stored = tokenizerFromJson(meta.tokenizerJson);
    if (!stored) return stored.error();
    if (corpus.tokenizer == nullptr) {
        if ((*stored)->name() == "char")
            return makeError(
                ErrorCode::BadInput,
                fmt::format("The checkpoint {} was made with a {}, and the data are ready tokens, which mean other things; train on its text.", path,
                            described(**stored)));
        notes.push_back(
            fmt::format("The checkpoint {} was made with a {}; whether the ready tokens are of it, nobody can tell.", path, described(**stored)));
        return {};
    }
    if (sameIds(**stored, *corpus.tokenizer)) return {};
    return makeError(
        ErrorCode::BadInput,
        fmt::format("The checkpoint {} was made with a {}{}; train on the text it was made with, or begin anew with --init.", path,
                    described(**stored),
                    (*stored)->name() == corpus.tokenizer->name() ? ", and that of these data has other ones"
                                                                  : fmt::format(", these data with a {}", described(*corpus.tokenizer))));
}

Result<StartingState> resumed(const RunRequest& request, const GptConfig& shape, const Corpus& corpus, std::int64_t threads) {
    const std::string& path = request.resume;
    const RunConfig& config = request.config;
    auto meta = readCheckpointMeta(path);
    if (!meta) return meta.error();
    if (meta->model.vocabulary != corpus.vocabulary)
        return makeError(ErrorCode::BadInput,
                         fmt::format("The checkpoint {} has a vocabulary of {}, the data has {}; train on the data it was made with.", path,
                                     meta->model.vocabulary, corpus.vocabulary));
    if (const std::string key = differingKey(meta->model, shape); !key.empty())
        return makeError(ErrorCode::BadInput, fmt::format("The checkpoint {} is of a model with another {}; leave {} as it was.", path, key, key));
    if (meta->step >= config.steps && !request.mayBeDone)
        return makeError(ErrorCode::BadInput,
                         fmt::format("The checkpoint {} is at step {} already; ask for more steps than that (steps).", path, meta->step));
    StartingState start;
    if (auto good = checkTokenizer(path, *meta, corpus, start.notes); !good) return good.error();
    auto state = loadCheckpoint(path, shape.paddedVocabulary);
    if (!state) return state.error();
    start.state = std::move(*state);
    if (!meta->origin.text.empty() && !corpus.identity.empty() && meta->origin.text != corpus.identity)
        start.notes.push_back(fmt::format(
            "The data are not those that the checkpoint was made with: {} has changed since, or is another; the run goes on with what is there now.",
            config.data));
    if (meta->origin.threads > 0 && meta->origin.threads != threads)
        start.notes.push_back(
            fmt::format("The checkpoint was made with {} CPU thread{}, this run has {}: sums are taken in another order, and its losses are "
                        "those of an unbroken run up to rounding only (threads={} would repeat them).",
                        meta->origin.threads, meta->origin.threads == 1 ? "" : "s", threads, meta->origin.threads));
    if (meta->origin.workers > 0 && meta->origin.workers != request.workers.size)
        start.notes.push_back(fmt::format(
            "The checkpoint was made by {} worker{}, this run has {}: an update takes the sequences of {} instead of {}, so that its loss "
            "and the learning rate that suits it are of another batch, unless batch-size or grad-accumulation makes up for it.",
            meta->origin.workers, meta->origin.workers == 1 ? "" : "s", request.workers.size, request.workers.size, meta->origin.workers));
    const auto seed = static_cast<std::uint64_t>(config.seed);
    if (seed != start.state.seed)
        start.notes.push_back(fmt::format("Batches are drawn with seed {} from step {} on; the checkpoint was made with seed {}.", seed,
                                          meta->step + 1, start.state.seed));
    start.state.seed = seed;
    return start;
}

// Weights of others know ids, and the data's need not be the same ones. Empty: they are, or nobody can tell.
std::string noteOfIds(const RunRequest& request, const Corpus& corpus) {
    const auto weights = openForeignModel(request.init);
    if (!weights || !weights->model || weights->gpt2Ids || corpus.tokenizer == nullptr) return {};
    if (weights->tokenizer.empty())
        return fmt::format("{} The data are read by a {}; whether its ids are those of the weights, nobody can tell.", weights->whyNoTokenizer,
                           described(*corpus.tokenizer));
    const auto own = tokenizerOf(*weights, request.config.separator == "endoftext");
    if (!own || *own == nullptr || sameIds(**own, *corpus.tokenizer)) return {};
    return fmt::format("The data are read by a {}, and the weights of {} came with a {}: the ids mean other things.", described(*corpus.tokenizer),
                       request.init, described(**own));
}

}  // namespace

Result<std::shared_ptr<const Tokenizer>> tokenizerOfStart(const RunRequest& request) {
    const std::shared_ptr<const Tokenizer> named;
    if (request.config.tokenizer != "gpt2") return named;
    const bool documents = request.config.separator == "endoftext";
    if (!request.init.empty()) {
        const auto weights = openForeignModel(request.init);
        if (!weights) return weights.error();
        return weights->tokenizer.empty() ? named : tokenizerOf(*weights, documents);
    }
    if (request.resume.empty()) return named;
    const auto meta = readCheckpointMeta(request.resume);
    if (!meta) return meta.error();
    if (meta->tokenizerJson.empty()) return named;
    auto stored = nlohmann::json::parse(meta->tokenizerJson);
    if (!stored.is_object() || !stored.contains("vocabulary")) return named;
    // How documents are joined is the configuration's to say.
    stored.erase("separator");
    if (documents) stored["separator"] = "endoftext";
    return tokenizerFromJson(stored.dump());
}

namespace {

Result<StartingState> beginning(const RunRequest& request, const GptConfig& shape, const Corpus& corpus, std::int64_t threads) {
    const auto seed = static_cast<std::uint64_t>(request.config.seed);
    if (!request.resume.empty()) return resumed(request, shape, corpus, threads);
    if (request.init.empty()) return StartingState{TrainState::initialise(shape, seed), {}};
    auto loaded = loadInitialWeights(request.init, shape, seed, request.initPartial || request.config.initPartial == "on");
    if (!loaded) return loaded.error();
    StartingState start{std::move(loaded->state), {}};
    if (!loaded->note.empty()) start.notes.push_back(std::move(loaded->note));
    if (!tellsItsModel(request.init) && headsBeside(request.init) == 0)
        start.notes.push_back(
            fmt::format("Nothing tells how many heads the model of {} has; heads={} is taken, and another number would compute "
                        "something else with the same weights.",
                        request.init, shape.heads));
    if (auto note = noteOfIds(request, corpus); !note.empty()) start.notes.push_back(std::move(note));
    return start;
}

}  // namespace

Result<StartingState> startingState(const RunRequest& request, const GptConfig& shape, const Corpus& corpus, std::int64_t threads) {
    auto start = beginning(request, shape, corpus, threads);
    if (!start || request.config.keepZeros != "on") return start;
    const std::int64_t zeros = restMomentsOfZeros(start->state);
    const std::string& from = request.resume.empty() ? request.init : request.resume;
    // Random weights have none: steps that are only timed begin with such ones.
    if (from.empty()) return start;
    if (zeros == 0)
        return makeError(
                   ErrorCode::BadInput,
                   fmt::format("keep-zeros=on keeps what was pruned, and none of the weights of {} is zero in the matrices of the blocks; prune "
                               "them first, or leave out keep-zeros.",
                               from))
            .about(Subject::Kind::Key, "keep-zeros");
    start->notes.push_back(fmt::format("{} of the weights in the blocks' matrices are zero and stay zero (keep-zeros).", format::count(zeros)));
    return start;
}

void describeStart(SessionInfo& info, const TrainState& start, const Corpus& corpus) {
    info.vocabulary = start.config.vocabulary;
    info.parameters = parameterCount(start.config);
    info.trainTokens = corpus.trainTokens;
    info.validationTokens = corpus.validationTokens();
    info.firstStep = start.updates;
}

}  // namespace stepscope
