#include "core/workers/TorchLibrary.h"

#include <caffe2/core/common.h>
#include <fmt/format.h>
#include <torch/version.h>

#include "core/base/Utf8.h"

namespace stepscope {
namespace {

constexpr std::size_t kMostVersion = 40, kShownCommit = 12;

std::string buildOption(const char* name) {
    const auto& options = caffe2::GetBuildOptions();
    const auto found = options.find(name);
    return found == options.end() ? std::string() : printable(firstBytes(found->second, kMostVersion));
}

}  // namespace

TorchLibrary compiledTorch() {
    return {.version = fmt::format("{}.{}.{}", TORCH_VERSION_MAJOR, TORCH_VERSION_MINOR, TORCH_VERSION_PATCH), .commit = STEPSCOPE_TORCH_COMMIT};
}

TorchLibrary loadedTorch() {
    return {.version = buildOption("TORCH_VERSION"), .commit = buildOption("COMMIT_SHA")};
}

Status sameTorch(const TorchLibrary& compiled, const TorchLibrary& loaded) {
    const bool otherSources = !compiled.commit.empty() && !loaded.commit.empty() && compiled.commit != loaded.commit;
    if (compiled.version == loaded.version && !otherSources) return {};
    return makeError(ErrorCode::Unsupported,
                     fmt::format("Several workers need the LibTorch that this program was built with, {}, and {} is loaded; LD_LIBRARY_PATH may name "
                                 "another one.",
                                 wordsOf(compiled), wordsOf(loaded)));
}

std::string wordsOf(const TorchLibrary& library) {
    std::string words = library.version.empty() ? "one of an unknown version" : library.version;
    if (!library.commit.empty()) words += fmt::format(" ({})", firstBytes(library.commit, kShownCommit));
    return words;
}

}  // namespace stepscope
