// STEPSCOPE_BUILT_KJV, _SHAKESPEARE, _GPT2_VOCABULARY and _PARQUET come from CMakeLists.txt, for this file only.
#include "core/data/DataFolders.h"

#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <vector>

namespace stepscope {
namespace fs = std::filesystem;
namespace {

std::string environment(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? std::string() : std::string(value);
}

// <executable>/../share/stepscope and, for a program that was unpacked flat, <executable>/share/stepscope.
std::vector<fs::path> besideExecutable(const char* what) {
    std::error_code ignored;
    const fs::path folder = fs::read_symlink("/proc/self/exe", ignored).parent_path();
    if (folder.empty()) return {};
    return {folder.parent_path() / "share/stepscope" / what, folder / "share/stepscope" / what};
}

bool holdsSomething(const fs::path& path) {
    std::error_code ignored;
    if (fs::is_directory(path, ignored)) return true;
    const auto size = fs::file_size(path, ignored);
    return !ignored && size > 0;
}

std::string firstOf(const char* variable, const char* what, const char* built) {
    // What a person names must be used or complained about, never silently passed over.
    if (std::string named = environment(variable); !named.empty()) return named;
    for (const auto& path : besideExecutable(what))
        if (holdsSomething(path)) return path.string();
    return holdsSomething(built) ? built : std::string();
}

}  // namespace

std::string gpt2VocabularyFolder() {
    return firstOf("STEPSCOPE_GPT2_VOCABULARY", "gpt2", STEPSCOPE_BUILT_GPT2_VOCABULARY);
}

std::string kingJamesPath() {
    return firstOf("STEPSCOPE_KJV", "kjv.txt", STEPSCOPE_BUILT_KJV);
}

std::string shakespearePath() {
    return firstOf("STEPSCOPE_SHAKESPEARE", "shakespeare.txt", STEPSCOPE_BUILT_SHAKESPEARE);
}

std::string parquetReaderPath() {
    constexpr const char* kName = "stepscope-parquet";
    if (std::string named = environment("STEPSCOPE_PARQUET_READER"); !named.empty()) return named;
    std::error_code ignored;
    const fs::path folder = fs::read_symlink("/proc/self/exe", ignored).parent_path();
    for (const auto& path : {folder.parent_path() / "lib/stepscope" / kName, folder / "lib/stepscope" / kName})
        if (!folder.empty() && holdsSomething(path)) return path.string();
    return holdsSomething(STEPSCOPE_BUILT_PARQUET) ? STEPSCOPE_BUILT_PARQUET : std::string();
}

std::string tokenCacheFolder() {
    // The XDG specification: a relative path is invalid and is to be ignored.
    if (const std::string cache = environment("XDG_CACHE_HOME"); cache.starts_with('/')) return cache + "/stepscope/tokens";
    if (const std::string home = environment("HOME"); home.starts_with('/')) return home + "/.cache/stepscope/tokens";
    return {};
}

}  // namespace stepscope
