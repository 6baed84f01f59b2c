#include "core/kernels/forms/FormChoice.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <mutex>

#include "core/kernels/forms/FormFile.h"
#include "core/kernels/isa/Isa.h"

namespace stepscope {
namespace {

// Up by one whenever a form's code changes, so that what was measured of the old one is not believed.
constexpr int kFormsVersion = 4;
constexpr std::size_t kMostBytes = 8192;
constexpr std::string_view kFirstLine = "stepscope forms 1";

std::string environment(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
}

bool wellFormed(std::string_view word) {
    const auto allowed = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '-'; };
    return !word.empty() && word.size() <= 40 && std::all_of(word.begin(), word.end(), allowed);
}

// The next line of `text`, which loses it.
std::optional<std::string_view> line(std::string_view& text) {
    const auto end = text.find('\n');
    if (end == std::string_view::npos) return {};
    const std::string_view found = text.substr(0, end);
    text.remove_prefix(end + 1);
    return found;
}

// What STEPSCOPE_FORMS asks for under a key.
std::string asked(std::string_view key) {
    const std::string all = environment("STEPSCOPE_FORMS");
    std::string_view rest = all;
    while (!rest.empty()) {
        const std::string_view entry = rest.substr(0, rest.find(','));
        rest.remove_prefix(std::min(rest.size(), entry.size() + 1));
        if (entry.size() > key.size() && entry.substr(0, key.size()) == key && entry[key.size()] == '=')
            return std::string(entry.substr(key.size() + 1));
    }
    return {};
}

double processorSeconds() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// FNV-1a: names the file; the line inside is compared whole.
std::uint64_t hashOf(std::string_view text) {
    std::uint64_t hash = 0xcbf29ce484222325;
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    return hash;
}

std::string fileOf(const std::string& folder, std::string_view machine) {
    std::string name = folder + "/";
    for (std::uint64_t hash = hashOf(machine), digit = 0; digit < 16; ++digit, hash <<= 4) name += "0123456789abcdef"[hash >> 60];
    return name;
}

}  // namespace

std::string formsFolder() {
    // The XDG specification: a relative path is invalid and is to be ignored.
    if (const std::string cache = environment("XDG_CACHE_HOME"); cache.starts_with('/')) return cache + "/stepscope/forms";
    if (const std::string home = environment("HOME"); home.starts_with('/')) return home + "/.cache/stepscope/forms";
    return {};
}

std::string formsMachine() {
    std::string machine;
    std::ifstream info("/proc/cpuinfo");
    std::string text;
    while (std::getline(info, text) && !text.empty())
        for (const char* wanted : {"vendor_id", "cpu family", "model", "stepping", "microcode"})
            if (text.starts_with(wanted)) machine += text.substr(std::min(text.size(), text.find(':') + 1)) + ";";
    machine += std::string(" ") + toString(isaInUse()) + "; " + __VERSION__ + "; " + std::to_string(kFormsVersion);
    for (char& c : machine)
        if (c < ' ' || c > '~') c = ' ';
    return machine;
}

std::string writeForms(std::string_view machine, const FormChoices& choices) {
    std::string text = std::string(kFirstLine) + "\n" + std::string(machine) + "\n";
    for (const auto& [key, name] : choices) text += key + " " + name + "\n";
    return text;
}

std::optional<FormChoices> readForms(std::string_view text, std::string_view machine) {
    if (text.size() > kMostBytes || line(text) != kFirstLine || line(text) != machine) return {};
    FormChoices choices;
    while (!text.empty()) {
        const auto entry = line(text);
        if (!entry) return {};  // cut off
        const auto space = entry->find(' ');
        if (space == std::string_view::npos) return {};
        const std::string_view key = entry->substr(0, space), name = entry->substr(space + 1);
        if (!wellFormed(key) || !wellFormed(name) || !choices.emplace(key, name).second) return {};
    }
    return choices;
}

FormChoices loadForms(const std::string& folder, std::string_view machine) {
    if (folder.empty()) return {};
    const auto text = readSmallFile(fileOf(folder, machine), kMostBytes);
    return text ? readForms(*text, machine).value_or(FormChoices{}) : FormChoices{};
}

bool saveForms(const std::string& folder, std::string_view machine, const FormChoices& choices) {
    return !folder.empty() && replaceSmallFile(folder, fileOf(folder, machine), writeForms(machine, choices));
}

std::size_t fastestForm(const std::vector<FormCandidate>& candidates, int rounds) {
    std::vector<std::vector<double>> seconds(candidates.size());
    for (int round = 0; round <= rounds; ++round)
        for (std::size_t c = 0; c < candidates.size(); ++c) {
            const double begin = processorSeconds();
            candidates[c].run();
            if (round > 0) seconds[c].push_back(processorSeconds() - begin);  // the first round warms caches
        }
    const auto median = [&](std::size_t c) {
        std::nth_element(seconds[c].begin(), seconds[c].begin() + rounds / 2, seconds[c].end());
        return seconds[c][static_cast<std::size_t>(rounds / 2)];
    };
    std::size_t best = 0;
    double least = median(0);
    for (std::size_t c = 1; c < candidates.size(); ++c)
        if (const double own = median(c); own < (best == 0 ? 0.98 : 1.0) * least) best = c, least = own;
    return best;
}

std::string chooseForm(std::string_view key, const std::vector<FormCandidate>& candidates) {
    const auto among = [&](const std::string& name) {
        return std::any_of(candidates.begin(), candidates.end(), [&](const FormCandidate& candidate) { return candidate.name == name; });
    };
    if (const std::string name = asked(key); among(name)) return name;
    if (candidates.size() == 1) return candidates.front().name;
    static std::mutex mutex;
    const std::lock_guard lock(mutex);
    static const std::string machine = formsMachine();
    static FormChoices known;
    if (const auto found = known.find(key); found != known.end() && among(found->second)) return found->second;
    // Read anew each time: another process may have measured meanwhile, and saving must not lose what it found.
    const std::string folder = formsFolder();
    FormChoices stored = loadForms(folder, machine);
    if (const auto found = stored.find(key); found != stored.end() && among(found->second)) {
        known[std::string(key)] = found->second;
        return found->second;
    }
    const std::string name = candidates[fastestForm(candidates)].name;
    known[std::string(key)] = stored[std::string(key)] = name;
    saveForms(folder, machine, stored);
    return name;
}

}  // namespace stepscope
