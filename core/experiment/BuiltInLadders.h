// The texts of resources/ladders, built in. Any thread.
#pragma once
#include <span>
#include <string_view>
#include <utility>

namespace stepscope {

std::span<const std::pair<std::string_view, std::string_view>> builtInLadderTexts();  // name, YAML

}  // namespace stepscope
