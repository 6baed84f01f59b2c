#include "app/gui/wiring/TimeForecast.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>

#include "core/base/Format.h"
#include "core/events/ConfigKeys.h"
#include "widgets/panels/sessions/RelativeTime.h"
#include "widgets/style/Words.h"

namespace stepscope {
namespace {

constexpr std::int64_t kFewestSteps = 10;  // a median of fewer is no measurement

// What the time of a step depends on.
std::map<QString, QString> shapeOf(const RunConfig& config) {
    std::map<QString, QString> shape;
    for (const auto& key : configKeys())
        if (key.section == "model" || key.id == "tokenizer" || key.id == "threads") shape[words(key.id)] = words(toString(key.get(config)));
    for (const auto& [id, value] : config.switches) shape[words(id)] = words(toString(value));
    return shape;
}

// Whether the data may bring ids of their own, and with them the size of the model: ready tokens, a folder that may hold some. By the name alone: the
// window waits for no disk.
bool mayBringIds(const std::string& data) {
    const std::string ending = std::filesystem::path(data).extension().string();
    return ending == ".bin" || (ending.empty() && data.find('/') != std::string::npos);
}

// Of data that decide how many ids there are a step is only known from the same data.
bool hasItsIds(const SessionRow& row, const RunConfig& config) {
    const auto data = std::ranges::find(row.config, QString("data"), [](const auto& entry) { return entry.first; });
    if (data == row.config.end() || data->second == words(config.data)) return true;
    return config.tokenizer != "char" && !mayBringIds(config.data) && !mayBringIds(data->second.toStdString());
}

// Its steps took what a step takes here: not those of another machine, nor of several workers, nor of switches that were flipped or took turns on the
// way, whatever it began with.
bool tellsOfThisMachine(const SessionRow& row) {
    return row.host.isEmpty() && row.isOfOneKind;
}

bool isOfShape(const SessionRow& row, const std::map<QString, QString>& shape) {
    std::size_t same = 0;
    for (const auto& [key, value] : row.config) {
        const auto wanted = shape.find(key);
        if (wanted == shape.end()) continue;
        if (wanted->second != value) return false;
        ++same;
    }
    return same == shape.size();
}

}  // namespace

TimeForecast forecastTime(const RunConfig& config, const SessionsModel& sessions) {
    const auto shape = shapeOf(config);
    const SessionRow* newest = nullptr;
    for (int i = 0; i < sessions.rowCount(); ++i) {
        const SessionRow& row = sessions.at(i);
        if (!std::isfinite(row.msPerStep) || row.steps < kFewestSteps || !tellsOfThisMachine(row) || !isOfShape(row, shape) ||
            !hasItsIds(row, config))
            continue;
        if (newest == nullptr || row.startedUnixMs > newest->startedUnixMs) newest = &row;
    }
    if (newest == nullptr)
        return {"time: not known yet",
                "No stored session has this model under these switches. It is known as soon as one has made ten steps, or when a few are timed now."};
    const double seconds = newest->msPerStep / 1000 * static_cast<double>(config.steps);
    return {QString("about %1 for %2 steps of %3")
                .arg(words(format::duration(TimeNs::fromSeconds(seconds))), words(format::count(config.steps)),
                     words(format::milliseconds(newest->msPerStep))),
            QString("A step takes as long as the median one of session %1, “%2”, of %3. Validation, checkpoints and texts come on top.")
                .arg(newest->id)
                .arg(newest->name, absoluteTime(QDateTime::fromMSecsSinceEpoch(newest->startedUnixMs))),
            true};
}

}  // namespace stepscope
