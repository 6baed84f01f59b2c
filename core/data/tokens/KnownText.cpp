#include "core/data/tokens/KnownText.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "core/base/JsonDepth.h"
#include "core/base/WholeFile.h"
#include "core/data/TextReader.h"

namespace stepscope {
namespace fs = std::filesystem;
namespace {

using Json = nlohmann::json;

constexpr int kReading = 1;  // one more when the same files are read as another text: KnownTextTest holds which text that is
constexpr int kSourcesVersion = 2 * kReading - 1;
constexpr int kUnsettledVersion = 2 * kReading;  // a program that knows no unsettledAtNs takes none of these
constexpr const char* kSources = ".sources";
constexpr std::uintmax_t kMostSources = 1 << 20;  // bytes
constexpr std::size_t kFilesAtOnce = 256;         // each may be a question to another machine
constexpr std::int64_t kNsPerSecond = 1'000'000'000;

std::int64_t nsOf(const timespec& time) {
    return static_cast<std::int64_t>(time.tv_sec) * kNsPerSecond + time.tv_nsec;
}

std::optional<KnownText> knownIn(const fs::path& path) {
    std::error_code problem;
    if (!fs::is_regular_file(fs::symlink_status(path, problem)) || fs::file_size(path, problem) > kMostSources || problem) return std::nullopt;
    const auto text = readWhole(path.string(), kMostSources);
    return text ? parseKnownText(*text) : std::nullopt;  // the text is then put together again
}

}  // namespace

std::optional<FilesSeen> filesSeen(const std::string& path, std::string_view how, const std::function<bool()>& wanted) {
    const auto files = filesOfText(path, wanted);
    if (!files) return std::nullopt;
    StreamingHash hash;
    FilesSeen seen;
    const auto addText = [&hash](std::string_view text) {
        hash.add(text);
        hash.add(std::string_view("\0", 1));  // stands in no path
    };
    addText(path);
    addText(how);
    for (std::size_t seenSoFar = 0; const fs::path& file : *files) {
        if (wanted && ++seenSoFar % kFilesAtOnce == 0 && !wanted()) return std::nullopt;
        struct stat facts {};
        if (::stat(file.c_str(), &facts) != 0) return std::nullopt;
        addText(file.native());
        const std::array<std::int64_t, 5> told{static_cast<std::int64_t>(facts.st_dev), static_cast<std::int64_t>(facts.st_ino),
                                               static_cast<std::int64_t>(facts.st_size), nsOf(facts.st_mtim), nsOf(facts.st_ctim)};
        hash.add({reinterpret_cast<const char*>(told.data()), sizeof told});
        seen.newestNs = std::max({seen.newestNs, told[3], told[4]});
        seen.bytes += static_cast<std::uint64_t>(facts.st_size);
        seen.packed = seen.packed || isPackedText(file.string());
    }
    seen.hash = hash.digest();
    return seen;
}

std::int64_t nowForFilesNs() {
    timespec now{};
    ::clock_gettime(CLOCK_REALTIME, &now);
    return nsOf(now);
}

bool isSettled(const FilesSeen& files, std::int64_t forNs) {
    return files.newestNs < nowForFilesNs() - forNs;
}

std::string sourcesPath(const std::string& cache) {
    return cache + kSources;
}

std::string makingPath(const std::string& folder, const Hash128& files) {
    return folder + "/" + files.hex() + ".making.part";  // TokenCache removes what a killed process leaves of it
}

std::string knownTextJson(const KnownText& known) {
    Json json{{"version", known.unsettledAtNs == 0 ? kSourcesVersion : kUnsettledVersion},
              {"files", {known.files.low, known.files.high}},
              {"text", {known.text.low, known.text.high}},
              {"title", known.title},
              {"note", known.note}};
    if (known.unsettledAtNs != 0) json["unsettled_at"] = known.unsettledAtNs;
    if (!known.tokenizer.empty()) json["tokenizer"] = known.tokenizer;
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);  // a path may be no UTF-8
}

std::optional<KnownText> parseKnownText(std::string_view text) {
    if (nestsDeeper(text)) return std::nullopt;
    const Json json = Json::parse(text, nullptr, false);
    try {
        std::int64_t unsettledAtNs = 0;
        if (json.at("version") == kUnsettledVersion) {
            const Json& at = json.at("unsettled_at");
            unsettledAtNs = at.is_number_integer() ? at.get<std::int64_t>() : 0;
            if (unsettledAtNs <= 0) return std::nullopt;
        } else if (json.at("version") != kSourcesVersion) {
            return std::nullopt;
        }
        const auto hash = [&json](const char* name) {
            const Json& halves = json.at(name);
            if (!halves.at(0).is_number_unsigned() || !halves.at(1).is_number_unsigned()) throw std::out_of_range(name);
            return Hash128{halves.at(0).get<std::uint64_t>(), halves.at(1).get<std::uint64_t>()};
        };
        return KnownText{hash("files"),
                         hash("text"),
                         json.at("title").get<std::string>(),
                         json.at("note").get<std::string>(),
                         unsettledAtNs,
                         json.value("tokenizer", std::string())};
    } catch (const std::exception&) {
        return std::nullopt;
    }
}

void rememberText(const std::string& cache, const KnownText& known) {
    const std::string text = knownTextJson(known);
    if (text.size() > kMostSources) return;
    std::string made = cache + ".XXXXXX.part";  // TokenCache removes what a killed process leaves of it
    const int file = ::mkstemps(made.data(), 5);
    if (file < 0) return;
    const bool written = ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
    if (::close(file) != 0 || !written || ::rename(made.c_str(), sourcesPath(cache).c_str()) != 0) ::unlink(made.c_str());
}

std::optional<KnownText> rememberedText(const std::string& folder, const Hash128& files, std::int64_t sinceNs) {
    std::error_code problem;
    for (fs::directory_iterator at(folder, problem), end; !problem && at != end; at.increment(problem)) {
        if (at->path().extension() != kSources) continue;
        const auto known = knownIn(at->path());
        if (known && known->files == files && (known->unsettledAtNs == 0 || known->unsettledAtNs >= sinceNs)) return known;
    }
    return std::nullopt;
}

}  // namespace stepscope
