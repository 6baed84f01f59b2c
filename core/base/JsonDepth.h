// Whether a JSON text nests deeper than anything of ours does. Asked before a parser sees a text that a stranger may have written: building and
// copying a tree of ten thousands of levels runs out of stack, which nothing can catch.
#pragma once
#include <cstddef>
#include <string_view>

namespace stepscope {

constexpr std::size_t kDeepestJson = 64;

// Brackets inside of strings do not count. A text that is no JSON is answered as far as it can be; its parser says the rest.
bool nestsDeeper(std::string_view json, std::size_t most = kDeepestJson);

}  // namespace stepscope
