#include "core/train/SharedFlip.h"

#include <fmt/format.h>

#include <charconv>

#include "core/base/Visitor.h"

namespace stepscope {
namespace {

constexpr char kWhole = 'i', kReal = 'r', kWord = 'w';

template <class Number>
std::optional<Number> wholly(const std::string& text) {
    Number number{};
    const char* end = text.data() + text.size();
    const auto [stop, problem] = std::from_chars(text.data(), end, number);
    return problem == std::errc{} && stop == end ? std::optional(number) : std::nullopt;
}

}  // namespace

std::string sayFlip(const Flip& flip) {
    // Of a real as many digits as it takes to get it back.
    return flip.id + '=' +
           std::visit(Visitor{
                          [](std::int64_t whole) { return fmt::format("{}{}", kWhole, whole); },
                          [](double real) { return fmt::format("{}{}", kReal, real); },
                          [](const std::string& word) { return kWord + word; },
                      },
                      flip.value);
}

std::optional<Flip> flipFrom(const std::string& said) {
    const auto equals = said.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == said.size()) return std::nullopt;
    const std::string id = said.substr(0, equals), text = said.substr(equals + 2);
    switch (said[equals + 1]) {
        case kWhole:
            if (const auto whole = wholly<std::int64_t>(text)) return Flip{id, *whole};
            return std::nullopt;
        case kReal:
            if (const auto real = wholly<double>(text)) return Flip{id, *real};
            return std::nullopt;
        case kWord:
            return Flip{id, text};
        default:
            return std::nullopt;
    }
}

}  // namespace stepscope
