#include "core/data/tokens/ReadyTokens.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <filesystem>
#include <vector>

#include "core/data/Hash128.h"
#include "core/data/MappedFile.h"
#include "core/data/tokens/TokenFileHeader.h"
#include "core/data/tokens/TokenRows.h"

namespace stepscope {
namespace fs = std::filesystem;
namespace {

// llm.c: 256 int32, of which the first three are magic, version and number of tokens.
constexpr std::size_t kLlmcHeader = 1024;
constexpr std::int32_t kLlmcGpt2 = 20240520, kLlmcLlama3 = 20240801;
constexpr std::int32_t kLlmcWeights = 20240326, kLlmcTokenizer = 20240328, kLlmcHellaSwag = 20240522;

std::int32_t wordAt(std::string_view bytes, std::size_t index) {
    std::int32_t word = 0;
    if ((index + 1) * sizeof word <= bytes.size()) std::memcpy(&word, bytes.data() + index * sizeof word, sizeof word);
    return word;
}

struct Foreign {
    std::string_view begins;
    const char* what;
};
constexpr Foreign kForeign[] = {
    {"\x93NUMPY", "a NumPy array (.npy), whose header would be read as tokens; write its ids alone with ids.astype('uint16').tofile(...)"},
    {"PK\x03\x04", "a zip archive (.npz, .pt), not a row of tokens; write its ids alone with ids.astype('uint16').tofile(...)"},
    {"\x28\xB5\x2F\xFD", "packed with zstd; unpack it with zstd -d"}};

// Ids of 32 or 64 bits under the name of 16-bit ones: what would be every second id, or three of four, is next to nothing in all of a sample, and the
// rest is not. 0 = they are what they seem.
int widerBits(std::string_view bytes) {
    constexpr std::size_t kLeast = 64, kMost = 1 << 16;  // 16-bit words looked at
    const std::size_t words = std::min(bytes.size() / 2, kMost) / 4 * 4;
    if (words < kLeast || bytes.size() % 4 != 0) return 0;
    std::uint16_t most[4] = {};
    for (std::size_t i = 0; i < words; ++i) {
        std::uint16_t word = 0;
        std::memcpy(&word, bytes.data() + 2 * i, 2);
        most[i % 4] = std::max(most[i % 4], word);
    }
    // The upper half of an id of 32 bits is at most 3 in the largest vocabularies that there are.
    constexpr std::uint16_t kUpper = 3, kLower = 16;
    if (most[0] < kLower || most[3] > kUpper || most[1] > kUpper) return 0;
    if (bytes.size() % 8 == 0 && most[2] <= kUpper && most[3] == 0 && most[2] == 0) return 64;
    return most[2] >= kLower ? 32 : 0;
}

// What is looked at to tell whether tokens are those of before: all of a small file, places of a large one.
void addIdentity(std::string& all, std::string_view bytes) {
    constexpr std::size_t kSample = 1 << 16, kSamples = 64;
    all += fmt::format("{}:", bytes.size());
    if (bytes.size() <= kSample * kSamples) {
        all += hashOf(bytes).hex();
        return;
    }
    for (std::size_t i = 0; i < kSamples; ++i) all += hashOf(bytes.substr((bytes.size() - kSample) / (kSamples - 1) * i, kSample)).hex();
}

std::vector<fs::path> binFiles(const std::string& folder, bool* texts = nullptr) {
    std::vector<fs::path> files;
    std::error_code problem;
    for (fs::directory_iterator at(folder, problem), end; !problem && at != end; at.increment(problem)) {
        std::error_code ignored;
        const fs::path& path = at->path();
        if (path.filename().string().starts_with('.') || !at->is_regular_file(ignored)) continue;
        const std::string kind = path.extension().string();
        if (kind == ".bin") files.push_back(path);
        if (texts != nullptr && (kind == ".txt" || kind == ".jsonl" || kind == ".ndjson" || kind == ".md" || kind == ".zst" || kind == ".parquet"))
            *texts = true;
    }
    std::ranges::sort(files);
    return files;
}

// "val", "validation" as a word of its own: fineweb_val_000000.bin, val.bin.
bool forValidation(const fs::path& path) {
    std::string name = path.stem().string() + "_";
    std::string word;
    for (const char c : name) {
        if (std::isalpha(static_cast<unsigned char>(c)) != 0) {
            word += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
            continue;
        }
        if (word == "val" || word == "valid" || word == "validation") return true;
        word.clear();
    }
    return false;
}

Result<ReadyTokens> openOne(const std::string& path, std::string& identity) {
    auto file = MappedFile::open(path);
    if (!file) return file.error();
    auto owner = std::make_shared<const MappedFile>(std::move(*file));
    auto ready = readReadyTokens(owner->bytes(), owner, path);
    if (!ready) return ready;
    addIdentity(identity, owner->bytes());
    ready->row = watched(std::move(ready->row), std::move(owner));
    return ready;
}

}  // namespace

bool isFolderOfShards(const std::string& folder) {
    bool texts = false;
    return !binFiles(folder, &texts).empty() && !texts;
}

std::size_t shardsPassedOver(const std::string& folder) {
    bool texts = false;
    const std::size_t shards = binFiles(folder, &texts).size();
    return texts ? shards : 0;
}

Result<ReadyTokens> readReadyTokens(std::string_view bytes, std::shared_ptr<const void> owner, const std::string& name) {
    const auto refused = [&](ErrorCode code, const std::string& what) { return makeError(code, fmt::format("{} {}.", name, what)); };
    if (bytes.empty()) return refused(ErrorCode::BadInput, "is empty: it holds no tokens");
    if (bytes.starts_with(std::string_view(TokenFileHeader::kMagic.data(), TokenFileHeader::kMagic.size())))
        return refused(ErrorCode::BadInput, "is a token cache of Stepscope; name the text it was made from instead");
    const std::int32_t magic = wordAt(bytes, 0);
    if (magic == kLlmcWeights || magic == kLlmcTokenizer || magic == kLlmcHellaSwag)
        return refused(ErrorCode::BadInput,
                       fmt::format("is a file of llm.c, but holds {}, not tokens to train on", magic == kLlmcWeights     ? "weights"
                                                                                               : magic == kLlmcTokenizer ? "a tokenizer"
                                                                                                                         : "HellaSwag questions"));
    for (const auto& [begins, what] : kForeign)
        if (bytes.starts_with(begins)) return refused(ErrorCode::BadInput, fmt::format("is {}", what));
    if (magic != kLlmcGpt2 && magic != kLlmcLlama3) {
        if (bytes.size() % 2 != 0)
            return refused(ErrorCode::Damaged, fmt::format("has an odd number of bytes ({}), so it is not a row of 16-bit tokens", bytes.size()));
        if (const int bits = widerBits(bytes); bits > 0)
            return refused(
                ErrorCode::BadInput,
                fmt::format("holds ids of {} bits, and a .bin without a header is a row of ids of 16 bits: read as such, {} would be 0; write "
                            "them with ids.astype('uint16').tofile(...)",
                            bits, bits == 64 ? "three of four" : "every second"));
        return ReadyTokens{.row = rowOf<std::uint16_t>(bytes, std::move(owner)), .format = ReadyTokens::Format::Plain};
    }
    const bool gpt2 = magic == kLlmcGpt2;
    if (bytes.size() < kLlmcHeader)
        return refused(ErrorCode::Damaged, fmt::format("is cut short: {} of the 1024 bytes of llm.c's header are there", bytes.size()));
    const std::int32_t version = wordAt(bytes, 1), expected = gpt2 ? 1 : 7;
    if (version != expected)
        return refused(ErrorCode::Unsupported, fmt::format("is a token file of llm.c of version {}; version {} can be read", version, expected));
    const std::string_view ids = bytes.substr(kLlmcHeader);
    const std::int64_t says = wordAt(bytes, 2), width = gpt2 ? 2 : 4;
    if (says < 0 || static_cast<std::int64_t>(ids.size()) != says * width)
        return refused(ErrorCode::Damaged, fmt::format("does not hold together: its header says {} tokens, its size is that of {}", says,
                                                       static_cast<std::int64_t>(ids.size()) / width));
    if (gpt2) return ReadyTokens{.row = rowOf<std::uint16_t>(ids, std::move(owner)), .format = ReadyTokens::Format::LlmcGpt2};
    return ReadyTokens{.row = rowOf<std::uint32_t>(ids, std::move(owner)), .format = ReadyTokens::Format::LlmcLlama3};
}

Result<ReadyTokens> openReadyTokens(const std::string& path, const std::function<bool()>& wanted) {
    std::string identity;
    std::error_code ignored;
    if (!fs::is_directory(path, ignored)) {
        auto ready = openOne(path, identity);
        if (ready) ready->identity = hashOf(identity).hex();
        return ready;
    }
    std::vector<fs::path> files = binFiles(path);
    if (files.empty()) return makeError(ErrorCode::BadInput, fmt::format("The folder {} holds no .bin of tokens.", path));
    // Not by std::ranges: its subrange is nothing that clang 14 takes from this standard library.
    const auto validating = std::stable_partition(files.begin(), files.end(), [](const fs::path& file) { return !forValidation(file); });
    const auto training = static_cast<std::size_t>(validating - files.begin());
    ReadyTokens all{.shards = static_cast<std::int64_t>(files.size())};
    std::vector<std::shared_ptr<const TokenRow>> rows;
    for (const auto& file : files) {
        if (wanted && !wanted()) return makeError(ErrorCode::Cancelled, fmt::format("Opening {} was cancelled.", path));
        auto one = openOne(file.string(), identity);
        if (!one) return one;
        if (!rows.empty() && one->format != all.format)
            return makeError(ErrorCode::BadInput, fmt::format("{} is of another format than {}; shards of one folder are of one kind.", file.string(),
                                                              files.front().filename().string()));
        all.format = one->format;
        if (rows.size() < training) all.trainTokens += one->row->size();
        rows.push_back(std::move(one->row));
    }
    if (training == files.size() || training == 0) all.trainTokens = 0;
    all.row = joined(std::move(rows));
    all.identity = hashOf(identity).hex();
    return all;
}

}  // namespace stepscope
