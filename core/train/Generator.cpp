#include "core/train/Generator.h"

#include <ATen/Parallel.h>
#include <c10/util/Exception.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "core/base/CounterRandom.h"
#include "core/base/StepPlace.h"
#include "core/inference/Decoder.h"
#include "core/inference/Sampling.h"
#include "core/inference/StopText.h"

namespace stepscope {
namespace {

constexpr std::int64_t kTokensPerPiece = 8;
constexpr std::size_t kMostPrompts = 64;

using Ids = std::vector<std::int64_t>;

Error refuse(std::string sentence) {
    return makeError(ErrorCode::BadInput, std::move(sentence));
}

Status checkRequest(const GenerateText& request) {
    if (request.tokens < 1 || request.tokens > kMostTokensWritten)
        return refuse(fmt::format("The number of tokens must be from 1 to {}.", kMostTokensWritten));
    if (!(request.temperature >= 0) || request.temperature > 100)
        return refuse("The temperature must be from 0 (always the likeliest token) to 100.");
    if (request.topK < 0) return refuse("top-k must be 0 (off) or more.");
    if (!(request.topP > 0) || request.topP > 1) return refuse("top-p must be above 0 and at most 1 (off).");
    if (!(request.repetitionPenalty >= 0.01) || request.repetitionPenalty > 100)
        return refuse("The repetition penalty must be from 0.01 to 100; 1 is off.");
    for (const double penalty : {request.frequencyPenalty, request.presencePenalty})
        if (!(penalty >= -100) || penalty > 100) return refuse("Frequency and presence penalties must be from -100 to 100; 0 is off.");
    for (const std::string& stop : request.stop)
        if (stop.empty()) return refuse("A text to stop at cannot be empty; leave it out to write as many tokens as asked.");
    return {};
}

Result<std::vector<Ids>> readPrompts(const GeneratorWeights& model, const Tokenizer& tokenizer, std::span<const std::string> prompts) {
    if (prompts.empty() || prompts.size() > kMostPrompts)
        return refuse(fmt::format("Text is written for 1 to {} prompts at a time; these are {}.", kMostPrompts, prompts.size()));
    std::vector<Ids> all;
    for (const std::string& prompt : prompts) {
        auto encoded = tokenizer.encode(prompt.empty() ? "\n" : prompt);
        if (!encoded) return encoded.error();
        Ids& ids = all.emplace_back(encoded->begin(), encoded->end());
        for (const std::int64_t id : ids)
            if (id >= model.config.vocabulary)
                return refuse(fmt::format("The prompt has the token {}, this model's vocabulary ends at {}.", id, model.config.vocabulary - 1));
    }
    return all;
}

// The Decoder where it can be, on a GPU what is kept there; else what it was instead, with the reason.
Result<std::unique_ptr<NextTokens>> tokensOf(const GeneratorWeights& model, const TextOptions& options, const NextTokensRoom& room, TextWork& work) {
    work.threads = options.threads > 0 ? options.threads : at::get_num_threads();
    work.recomputed = options.recompute ? "it was asked for" : whyNotDecoded(model);
    const bool kept = !options.recompute && !model.weights.is_cpu() && options.type == WeightType::F32;
    if (kept) work.recomputed.clear();
    if (work.recomputed.empty()) try {
            return kept ? keptTokens(model, room) : cachedTokens(model, options.type, room, work.threads);
        } catch (const c10::Error&) {  // what LibTorch's allocators throw
            work.recomputed = kept ? "there is no memory on the GPU for what is kept of each token"
                                   : "there is no memory for a copy of the weights and for what is kept of each token";
        }
    if (options.type != WeightType::F32)
        return makeError(ErrorCode::Unsupported,
                         fmt::format("The weights cannot be written with in another type: {}; leave the type out.", work.recomputed));
    return recomputedTokens(model);
}

// One text as it grows.
class Writing {
public:
    // end: of a text, by its id; -1: none ends it.
    Writing(const Tokenizer& tokenizer, const GenerateText& request, const StopText& stops, const Ids& prompt, std::size_t place, std::int32_t end)
        : m_tokenizer(tokenizer), m_request(request), m_stops(stops), m_penalties(request, prompt), m_place(place), m_end(end) {}

    // The next token; the text may be complete then. The one that ends it is not kept.
    Result<std::int64_t> take(std::span<const float> logits) {
        const auto draw = static_cast<double>(counterRandom(static_cast<std::uint64_t>(m_request.seed), 0x74657874 + (std::uint64_t{m_place} << 32),
                                                            static_cast<std::uint64_t>(m_ids.size())) >>
                                              11) *
                          0x1p-53;
        Result<std::int64_t> id = 0;
        if (m_penalties.any()) {
            m_penalized.assign(logits.begin(), logits.end());
            m_penalties.apply(m_penalized);
            id = drawToken(m_penalized, m_request, draw);
        } else {
            id = drawToken(logits, m_request, draw);
        }
        if (!id) return id;
        m_complete = m_end >= 0 && *id == m_end;
        if (m_complete) return id;
        m_penalties.wrote(*id);
        m_ids.push_back(static_cast<std::int32_t>(*id));
        m_complete = count() == m_request.tokens || stopped();
        return id;
    }

    std::int64_t count() const { return static_cast<std::int64_t>(m_ids.size()); }
    bool complete() const { return m_complete; }
    bool due() const { return m_complete || count() % kTokensPerPiece == 0; }
    std::string soFar() const { return m_complete ? whole() : std::string(m_stops.settled(m_tokenizer.decode(m_ids))); }
    std::string whole() const {
        std::string text = m_tokenizer.decode(m_ids);
        text.resize(std::min(text.size(), m_stops.find(text)));
        return text;
    }

private:
    // A stop ends with the newest token, so it lies within as many tokens as it has bytes.
    bool stopped() const {
        if (m_stops.empty()) return false;
        const auto last = std::span(m_ids).last(std::min(m_ids.size(), m_stops.longest()));
        return m_stops.find(m_tokenizer.decode(last)) != std::string::npos && m_stops.find(m_tokenizer.decode(m_ids)) != std::string::npos;
    }

    const Tokenizer& m_tokenizer;
    const GenerateText& m_request;
    const StopText& m_stops;
    Penalties m_penalties;
    std::size_t m_place;
    std::int32_t m_end;
    std::vector<std::int32_t> m_ids;
    std::vector<float> m_penalized;
    bool m_complete = false;
};

double secondsSince(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

Result<std::vector<std::string>> generateTexts(const GeneratorWeights& model, const Tokenizer& tokenizer, const GenerateText& request,
                                               std::span<const std::string> prompts, const TextOptions& options, const TextSink& onText,
                                               const std::atomic<bool>& cancelled, TextWork& work) {
    work = {};
    if (auto good = checkRequest(request); !good) return good.error();
    const auto begins = readPrompts(model, tokenizer, prompts);
    if (!begins) return begins.error();
    const PlaceScope place(Activity::Text);
    NextTokensRoom room{.sequences = static_cast<std::int64_t>(prompts.size())};
    for (const Ids& ids : *begins) room.tokens = std::max(room.tokens, static_cast<std::int64_t>(ids.size()) + request.tokens);
    auto tokens = tokensOf(model, options, room, work);
    if (!tokens) return tokens.error();
    NextTokens& next = **tokens;
    work.weights = next.weightBytes();
    work.cache = next.cacheBytes();

    auto started = std::chrono::steady_clock::now();
    next.begin(*begins);
    work.promptSeconds = secondsSince(started);
    for (const Ids& ids : *begins) work.promptTokens += std::min(static_cast<std::int64_t>(ids.size()), model.config.positions);

    const StopText stops(request.stop);
    std::vector<Writing> texts;
    const std::int32_t end = options.ignoreEnd ? -1 : tokenizer.endOfText();
    for (std::size_t i = 0; i < prompts.size(); ++i) texts.emplace_back(tokenizer, request, stops, (*begins)[i], i, end);
    started = std::chrono::steady_clock::now();
    std::vector<Continued> read;
    while (!cancelled) {
        read.clear();
        for (std::size_t i = 0; i < texts.size(); ++i) {
            if (texts[i].complete()) continue;
            const auto id = texts[i].take(next.logits(static_cast<std::int64_t>(i)));
            if (!id) return id.error();
            if (end < 0 || *id != end) ++work.textTokens;
            if (!texts[i].complete()) read.push_back({static_cast<std::int64_t>(i), *id});
            work.textSeconds = secondsSince(started);
            if (texts[i].due()) onText(i, texts[i].soFar(), work);
        }
        if (read.empty()) break;
        next.append(read);
        work.computed += static_cast<std::int64_t>(read.size());
    }
    work.textSeconds = secondsSince(started);
    work.stopped = !std::ranges::all_of(texts, &Writing::complete);
    std::vector<std::string> written;
    for (const Writing& text : texts) written.push_back(text.whole());
    return written;
}

Result<std::string> generateText(const GeneratorWeights& model, const Tokenizer& tokenizer, const GenerateText& request,
                                 const std::function<void(const std::string&)>& onText, const std::atomic<bool>& cancelled) {
    TextWork work;
    auto texts = generateTexts(
        model, tokenizer, request, std::span(&request.prompt, 1), {}, [&](std::size_t, const std::string& text, const TextWork&) { onText(text); },
        cancelled, work);
    if (!texts) return texts.error();
    return std::move(texts->front());
}

std::int64_t sampleToken(const at::Tensor& logits, const GenerateText& request, double random01) {
    const at::Tensor plain = logits.to(at::kCPU, at::kFloat).contiguous();
    return drawToken({plain.const_data_ptr<float>(), static_cast<std::size_t>(plain.numel())}, request, random01).value();
}

}  // namespace stepscope
