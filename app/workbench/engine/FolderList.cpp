#include "app/workbench/engine/FolderList.h"

#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <tuple>
#include <utility>

#include "core/base/Utf8.h"
#include "sessions/wire/Hello.h"

namespace stepscope {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostKept = 200'000;  // names at once; of a folder with more the rest is only counted

fs::path homeHere() {
    const char* told = std::getenv("HOME");
    if (told == nullptr || *told == '\0')
        if (const passwd* entry = ::getpwuid(::getuid())) told = entry->pw_dir;
    return told != nullptr && *told == '/' ? fs::path(told) : fs::path("/");
}

// As a shell would read it: ~ is the home, and what is relative stands in it.
fs::path placeOf(const std::string& path) {
    fs::path whole = path == "~" ? homeHere() : path.starts_with("~/") ? homeHere() / path.substr(2) : homeHere() / path;  // an absolute one stays
    whole = whole.lexically_normal();
    return whole.has_filename() || whole == whole.root_path() ? whole : whole.parent_path();
}

bool endsAsOneOf(const std::string& name, const std::vector<std::string>& endings) {
    std::string small = name;
    std::ranges::transform(small, small.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    return endings.empty() || std::ranges::any_of(endings, [&](const std::string& ending) { return small.ends_with(ending); });
}

void inOrder(std::vector<FolderEntry>& entries, std::int64_t& more) {
    const auto before = [](const FolderEntry& a, const FolderEntry& b) { return std::tie(b.folder, a.name) < std::tie(a.folder, b.name); };
    if (entries.size() > kMostFilesListed) {
        std::ranges::nth_element(entries, entries.begin() + kMostFilesListed, before);
        more += static_cast<std::int64_t>(entries.size() - kMostFilesListed);
        entries.resize(kMostFilesListed);
    }
    std::ranges::sort(entries, before);
}

FolderListed problemAt(const fs::path& folder, const std::string& why) {
    FolderListed listed;
    listed.folder = printable(folder.string());
    listed.problem = fmt::format("{} on {} {}", printable(fmt::format("\"{}\"", folder.string())), hostName(), why);
    return listed;
}

FolderListed readFolder(const FolderAsked& asked) {
    fs::path folder = placeOf(asked.path);
    std::error_code problem;
    const fs::file_status kind = fs::status(folder, problem);
    if (kind.type() == fs::file_type::not_found) return problemAt(folder, "is not there.");
    if (problem) return problemAt(folder, fmt::format("cannot be read: {}.", problem.message()));
    FolderListed answer;
    if (kind.type() != fs::file_type::directory) {
        if (kind.type() != fs::file_type::regular) return problemAt(folder, "is neither a file nor a folder.");
        answer.file = folder.filename().string();
        folder = folder.parent_path();
    }
    answer.folder = folder.string();
    if (printable(answer.folder) != answer.folder || (!answer.file.empty() && !canBeListed(answer.file)))
        return problemAt(folder, "has a name that cannot be shown in a line; rename it there.");
    fs::directory_iterator at(folder, problem);
    if (problem) return problemAt(folder, fmt::format("cannot be read: {}.", problem.message()));
    for (const fs::directory_iterator end; !problem && at != end; at.increment(problem)) {
        std::error_code gone;
        FolderEntry entry{.name = at->path().filename().string(), .folder = at->is_directory(gone)};
        if (!entry.folder && (asked.foldersOnly || !at->is_regular_file(gone) || !endsAsOneOf(entry.name, asked.endings))) continue;
        if (!canBeListed(entry.name))
            ++answer.unnamed;
        else if (entry.name.starts_with('.'))
            ++answer.hidden;
        else if (answer.entries.size() >= kMostKept)
            ++answer.more;
        else
            answer.entries.push_back(std::move(entry));
    }
    if (problem) return problemAt(folder, fmt::format("cannot be read to its end: {}.", problem.message()));
    inOrder(answer.entries, answer.more);
    for (FolderEntry& entry : answer.entries) {
        if (entry.folder) continue;
        const auto size = fs::file_size(folder / entry.name, problem);
        entry.bytes = problem ? 0 : static_cast<std::int64_t>(size);
    }
    return answer;
}

}  // namespace

FolderListed listFolder(const FolderAsked& asked) {
    try {
        return readFolder(asked);
    } catch (const std::exception& thrown) {  // of the library's, where memory is short
        return problemAt(asked.path, fmt::format("cannot be listed: {}.", printable(thrown.what())));
    }
}

}  // namespace stepscope
