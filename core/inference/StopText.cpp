#include "core/inference/StopText.h"

#include <algorithm>

namespace stepscope {

std::size_t StopText::longest() const {
    std::size_t most = 0;
    for (const std::string& stop : m_stops) most = std::max(most, stop.size());
    return most;
}

std::size_t StopText::find(std::string_view text) const {
    std::size_t first = std::string_view::npos;
    for (const std::string& stop : m_stops) first = std::min(first, text.find(stop));
    return first;
}

std::string_view StopText::settled(std::string_view text) const {
    // A tokenizer gives U+FFFD for the bytes of a character whose others come with the next tokens.
    constexpr std::string_view kUnfinished = "\xEF\xBF\xBD";
    for (int i = 0; i < 3 && text.ends_with(kUnfinished); ++i) text.remove_suffix(kUnfinished.size());
    std::size_t held = 0;
    for (const std::string& stop : m_stops)
        for (std::size_t length = std::min(stop.size() - 1, text.size()); length > held; --length)
            if (text.ends_with(std::string_view(stop).substr(0, length))) held = length;
    return text.substr(0, text.size() - held);
}

}  // namespace stepscope
