// TorchLibrary: which LibTorch the process has loaded, beside the one that this was compiled against. c10d's classes are laid out as the headers say:
// of another library (LD_LIBRARY_PATH comes before the path in the program) they would be others, and nothing would say so. Torch-free to include;
// any thread.
#pragma once
#include <string>

#include "core/base/Result.h"

namespace stepscope {

struct TorchLibrary {
    std::string version;  // "2.11.0"
    std::string commit;   // of its sources, in hexadecimal digits; empty: it does not say
    bool operator==(const TorchLibrary&) const = default;
};
TorchLibrary compiledTorch();  // whose headers were read
TorchLibrary loadedTorch();    // as the library that is loaded says

// Refused (Unsupported) with a sentence that names both, where they are not one version, or one version of other sources.
Status sameTorch(const TorchLibrary& compiled, const TorchLibrary& loaded);

// "2.11.0 (70d99e998b49)": for people, and to compare workers by.
std::string wordsOf(const TorchLibrary& library);

}  // namespace stepscope
