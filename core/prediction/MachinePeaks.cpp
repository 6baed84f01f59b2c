#include "core/prediction/MachinePeaks.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

namespace stepscope {
namespace {

constexpr std::string_view kFirstLine = "stepscope peaks 1";
constexpr double kMost = 1e18;

struct Field {
    const char* name;
    double MachinePeaks::*value;
};
constexpr Field kFields[] = {{"float32", &MachinePeaks::float32},
                             {"bf16", &MachinePeaks::bf16},
                             {"fp16", &MachinePeaks::fp16},
                             {"bytes", &MachinePeaks::bytesPerSecond},
                             {"page", &MachinePeaks::secondsAPage}};

// The next line of `text`, which loses it; absent where no line ends.
std::optional<std::string_view> line(std::string_view& text) {
    const auto end = text.find('\n');
    if (end == std::string_view::npos) return {};
    const std::string_view found = text.substr(0, end);
    text.remove_prefix(end + 1);
    return found;
}

}  // namespace

double& MachinePeaks::of(Precision precision) {
    return precision == Precision::Float32 ? float32 : precision == Precision::Bf16 ? bf16 : fp16;
}
double MachinePeaks::of(Precision precision) const {
    return precision == Precision::Float32 ? float32 : precision == Precision::Bf16 ? bf16 : fp16;
}

std::string writePeaks(std::string_view machine, const MachinePeaks& peaks) {
    std::string text = fmt::format("{}\n{}\n", kFirstLine, machine);
    for (const Field& field : kFields)
        if (std::isfinite(peaks.*field.value)) text += fmt::format("{} {:.6e}\n", field.name, peaks.*field.value);
    return text;
}

std::optional<MachinePeaks> readPeaks(std::string_view text, std::string_view machine) {
    if (line(text) != kFirstLine || line(text) != machine) return {};
    MachinePeaks peaks;
    while (!text.empty()) {
        const auto entry = line(text);
        if (!entry) return {};  // cut off
        const auto space = entry->find(' ');
        if (space == std::string_view::npos) return {};
        const std::string_view name = entry->substr(0, space), digits = entry->substr(space + 1);
        double value = 0;
        const auto [stop, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
        if (problem != std::errc{} || stop != digits.data() + digits.size() || !(value > 0 && value < kMost)) return {};
        bool known = false;
        for (const Field& field : kFields) {
            if (name != field.name) continue;
            if (std::isfinite(peaks.*field.value)) return {};
            peaks.*field.value = value;
            known = true;
        }
        if (!known) return {};
    }
    return peaks;
}

}  // namespace stepscope
