#include "app/workbench/text/HeldOut.h"

#include <fmt/format.h>

#include <algorithm>

namespace stepscope {

Result<HeldOut> openHeldOut(const StoredModel& model, const std::string& data, std::int64_t tokens, const std::atomic<bool>& cancelled) {
    const bool own = data.empty();
    const RunConfig& config = model.config;
    if (model.foreign && own)
        return makeError(ErrorCode::BadInput,
                         fmt::format("{} is of no run of Stepscope, so it has no data of its own; give data to read (--data).", model.place));
    if (model.foreign && !model.tokenizer && !isReadyTokens(data))
        return makeError(ErrorCode::BadInput, fmt::format("{} Give ready tokens (.bin) as data (--data).", model.whyNoTokenizer));
    // Of ready tokens, or random ones.
    if (!own && !model.tokenizer && data != "random" && !isReadyTokens(data))
        return makeError(ErrorCode::BadInput,
                         fmt::format("{} was trained on ids of which no tokenizer is known, so no text can be read for it; give ready tokens (.bin) "
                                     "as data (--data).",
                                     model.place));
    auto corpus = openCorpus({.data = own ? config.data : data,
                              .tokenizer = config.tokenizer,
                              .vocabulary = model.model.vocabulary,
                              .validationFraction = own ? config.validationFraction : 0,
                              .validation = own ? config.validation : "split",
                              .separator = config.separator,
                              .with = model.tokenizer,
                              .context = 1,
                              .seed = static_cast<std::uint64_t>(config.seed),
                              .cacheFolder = {}},
                             {}, cancelled);
    if (!corpus) return corpus.error();
    HeldOut text;
    text.corpus = std::move(*corpus);
    // Of data of one's own all is read, of the run's the part that validates.
    text.begin = own ? text.corpus.trainTokens : 0;
    text.end = text.corpus.tokens->size();
    if (text.end - text.begin < 2)
        return makeError(ErrorCode::BadInput, fmt::format("The run of {} had no validation part; give data to evaluate on.", model.place));
    if (tokens > 0) text.end = std::min(text.end, text.begin + tokens + 1);
    return text;
}

}  // namespace stepscope
