#include "core/train/SharedCommand.h"

#include <fmt/format.h>

#include <charconv>
#include <string_view>

#include "core/base/Visitor.h"

namespace stepscope {
namespace {

constexpr char kWhole = 'i', kReal = 'r', kWord = 'w';
constexpr std::string_view kSaysSeed = "!seed ", kSaysCheckpoint = "!checkpoint", kSaysValidation = "!validation", kSaysNothing = "!nothing",
                           kSaysCapture = "!capture ", kSaysEnd = "!capture ends";

template <class Number>
std::optional<Number> wholly(const std::string& text) {
    Number number{};
    const char* end = text.data() + text.size();
    const auto [stop, problem] = std::from_chars(text.data(), end, number);
    return problem == std::errc{} && stop == end ? std::optional(number) : std::nullopt;
}

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

std::optional<Capture> captureFrom(const std::string& said) {
    const auto first = kSaysCapture.size(), second = said.find(' ', first);
    if (second == std::string::npos) return std::nullopt;
    const auto third = said.find(' ', second + 1);
    if (third == std::string::npos) return std::nullopt;
    const auto steps = wholly<std::int64_t>(said.substr(first, second - first));
    const auto firstStep = wholly<std::int64_t>(said.substr(second + 1, third - second - 1));
    const auto warmUp = wholly<std::int64_t>(said.substr(third + 1));
    if (!steps || !firstStep || !warmUp) return std::nullopt;
    return Capture{.steps = *steps, .firstStep = *firstStep, .warmUp = *warmUp};
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

}  // namespace

std::string sayCommand(const SharedCommand& asked) {
    return std::visit(Visitor{
                          [](const std::monostate&) { return std::string(kSaysNothing); },
                          [](const Flip& flip) { return sayFlip(flip); },
                          [](const Reseed& other) { return fmt::format("{}{}", kSaysSeed, other.seed); },
                          [](const SaveCheckpoint&) { return std::string(kSaysCheckpoint); },
                          [](const ValidateNow&) { return std::string(kSaysValidation); },
                          [](const Capture& one) { return fmt::format("{}{} {} {}", kSaysCapture, one.steps, one.firstStep, one.warmUp); },
                          [](const StopCapture&) { return std::string(kSaysEnd); },
                      },
                      asked);
}

std::optional<SharedCommand> commandFrom(const std::string& said) {
    if (said == kSaysCheckpoint) return SaveCheckpoint{};
    if (said == kSaysValidation) return ValidateNow{};
    if (said == kSaysNothing) return std::monostate{};
    if (said == kSaysEnd) return StopCapture{};
    if (said.starts_with(kSaysCapture)) {
        const auto capture = captureFrom(said);
        return capture ? std::optional<SharedCommand>(*capture) : std::nullopt;
    }
    if (said.starts_with(kSaysSeed)) {
        const auto seed = wholly<std::int64_t>(said.substr(kSaysSeed.size()));
        return seed ? std::optional<SharedCommand>(Reseed{*seed}) : std::nullopt;
    }
    const auto flip = flipFrom(said);
    return flip ? std::optional<SharedCommand>(*flip) : std::nullopt;
}

}  // namespace stepscope
