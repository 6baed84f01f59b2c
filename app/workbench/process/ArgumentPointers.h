// The words of a program as posix_spawn takes them: pointers into `words`, which outlives them, and a null pointer behind. Pure.
#pragma once
#include <string>
#include <vector>

namespace stepscope {

inline std::vector<char*> argumentPointers(std::vector<std::string>& words) {
    std::vector<char*> pointers;
    pointers.reserve(words.size() + 1);
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    return pointers;
}

}  // namespace stepscope
