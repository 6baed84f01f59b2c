#include "core/report/CaptureReport.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/Format.h"

namespace stepscope::report {
namespace {

// A page is read by a person: what is beyond these is counted, not listed.
constexpr std::size_t kMostRows = 40, kMostCaptures = 40, kMostRanks = 16, kMostLayers = 200, kMostRoles = 24;
constexpr std::size_t kNameHead = 200, kNameTail = 60;  // bytes

constexpr const char* kNothing = "–";

std::string timeText(TimeNs time) {
    return format::milliseconds(time.milliseconds());
}

// Of all steps together, as of one of them.
std::string timeAStep(TimeNs time, std::int64_t steps) {
    return format::milliseconds(time.milliseconds() / static_cast<double>(std::max<std::int64_t>(1, steps)));
}

double shareOf(TimeNs part, TimeNs all) {
    return all.ns > 0 ? static_cast<double>(part.ns) / static_cast<double>(all.ns) : 0;
}

std::string shareText(TimeNs part, TimeNs all) {
    return all.ns > 0 ? fmt::format("{:.1f} %", 100 * shareOf(part, all)) : std::string(kNothing);
}

// Names of templates take hundreds of letters; both ends of them tell one from another.
std::string shortName(const std::string& name) {
    std::string text = plainText(name);
    if (text.empty()) return "without a name";
    if (text.size() <= kNameHead + kNameTail) return text;
    const auto continues = [&](std::size_t at) { return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80; };
    std::size_t head = kNameHead, tail = text.size() - kNameTail;
    while (head > 0 && continues(head)) --head;
    while (continues(tail)) ++tail;
    return text.substr(0, head) + "…" + text.substr(tail);
}

std::string orNothing(const std::string& text) {
    return text.empty() ? std::string(kNothing) : shortName(text);
}

std::string layerText(std::int32_t layer) {
    return layer < 0 ? std::string(kNothing) : std::to_string(layer);
}

void addPastTheRows(Document& document, std::size_t shown, std::size_t all, const char* what) {
    if (all > shown)
        document.blocks.push_back(Paragraph{fmt::format("The first {} of {} {}.", shown, format::count(static_cast<std::int64_t>(all)), what)});
}

// Of GPUs what is divided has what lies between captures in it; where that is most of it, it is no step's time.
bool betweenCaptures(const DividedSteps& divided, const RangePanes& panes) {
    return divided.device && divided.window.ns / 2 > panes.totals.stepTime.ns;
}

std::string answerFrom(const RangePanes& panes) {
    const SummaryTotals& totals = panes.totals;
    if (totals.steps > 0 && panes.severalRanks)
        return fmt::format("{} steps of all ranks together were captured; what the time of each rank went into stands below.",
                           format::count(totals.steps));
    if (totals.steps <= 0) return fmt::format("{} records were captured, and no whole step is among them.", format::count(panes.slices));
    std::string text = fmt::format("{} captured step{} took {}{}", format::count(totals.steps), totals.steps == 1 ? "" : "s",
                                   timeAStep(totals.stepTime, totals.steps), totals.steps == 1 ? "" : " each, on average");
    if (panes.steps.size() == 1 && !panes.steps.front().classes.empty() && !betweenCaptures(panes.steps.front(), panes)) {
        const DividedSteps& divided = panes.steps.front();
        const auto largest = std::ranges::max_element(divided.classes, {}, [](const ClassTime& one) { return one.time.ns; });
        if (largest->time.ns > 0) text += fmt::format("; the largest part: {} ({})", largest->name, shareText(largest->time, divided.divided()));
    }
    return text + ".";
}

void addCaptured(Document& document, const RangePanes& panes, const CaptureFacts& facts) {
    document.blocks.push_back(Heading{"What was captured"});
    if (!facts.about.empty()) document.blocks.push_back(Paragraph{facts.about});
    const SummaryTotals& totals = panes.totals;
    Table table{.head = {}, .rows = {}, .textColumns = 2};
    table.rows.push_back({"session", fmt::format("{}{}", facts.session, facts.name.empty() ? std::string() : ", " + facts.name)});
    table.rows.push_back({panes.severalRanks ? "steps of all ranks" : "steps", format::count(totals.steps)});
    table.rows.push_back({"records", format::count(panes.slices)});
    table.rows.push_back({"calls of operations", format::count(totals.operations)});
    if (panes.devices) table.rows.push_back({"kernels and copies", format::count(totals.kernels)});
    table.rows.push_back({"lost or invalid", totals.lost <= 0 && totals.invalid <= 0
                                                 ? std::string("none")
                                                 : fmt::format("{} lost, {} invalid: the sums are without them", format::count(totals.lost),
                                                               format::count(totals.invalid))});
    document.blocks.push_back(std::move(table));
    if (!facts.captures.empty()) {
        Table captures{.head = {"capture", "steps", "records", "steps took longer by"}, .rows = {}, .textColumns = 2};
        for (std::size_t i = 0; i < std::min(kMostCaptures, facts.captures.size()); ++i) {
            const CapturedSteps& one = facts.captures[i];
            captures.rows.push_back({std::to_string(one.number),
                                     one.firstStep <= 0 || one.steps <= 0 ? std::string("not told")
                                     : one.steps == 1                     ? fmt::format("step {}", one.firstStep)
                                                      : fmt::format("{} from step {} on", format::count(one.steps), one.firstStep),
                                     format::count(one.slices),
                                     std::isfinite(one.cost) ? fmt::format("{:.1f} %", 100 * one.cost) : std::string("unknown")});
        }
        document.blocks.push_back(std::move(captures));
        addPastTheRows(document, kMostCaptures, facts.captures.size(), "captures; all of them are in the sums");
    }
    if (!facts.levels.empty()) document.blocks.push_back(Paragraph{"Cost of observing, measured in this run: " + facts.levels});
    for (const std::string& note : facts.notes) document.blocks.push_back(Paragraph{note});
    if (panes.folded)
        document.blocks.push_back(
            Paragraph{fmt::format("There are too many records to read them one by one: this page has the sums that are stored beside them, without "
                                  "places in the model and without kinds of work{}.",
                                  panes.nestedEach ? "; calls within calls of the same name count each in a total" : "")});
}

void addDivided(Document& document, const DividedSteps& divided, const RangePanes& panes) {
    const bool steps = divided.steps > 0 && !betweenCaptures(divided, panes);
    const std::int64_t parts = steps ? divided.steps : 1;
    const std::string whose = panes.severalRanks ? fmt::format(", rank {}", divided.rank) : std::string();
    SharePicture picture{.label = (steps ? "time of a step by kind of work" : "time by kind of work") + whose, .bars = {}};
    Table table{.head = {"kind of work" + whose, steps ? "a step" : "in all", "share"}, .rows = {}, .textColumns = 1};
    for (const ClassTime& one : divided.classes) {
        const std::string time = timeAStep(divided.eachThread(one.time), parts), share = shareText(one.time, divided.divided());
        table.rows.push_back({one.name, time, share});
        if (one.time.ns > 0) picture.bars.push_back({one.name, shareOf(one.time, divided.divided()), time + ", " + share});
    }
    table.rows.push_back({"together", timeAStep(divided.window, parts), shareText(divided.window, divided.window)});
    document.blocks.push_back(std::move(picture));
    document.blocks.push_back(std::move(table));
    if (divided.mostThreads > 1)
        document.blocks.push_back(Paragraph{fmt::format(
            "Of the time of the {} threads of a team, shares of threads times step; times are the mean of the threads. What a thread beside the one "
            "that runs the steps leaves empty of a step is waiting.",
            divided.fewestThreads < divided.mostThreads ? fmt::format("{} to {}", divided.fewestThreads, divided.mostThreads)
                                                        : std::to_string(divided.mostThreads))});
    if (divided.communication.ns > 0)
        document.blocks.push_back(
            Paragraph{fmt::format("Kernels moved data between workers for {} {}; during {} of that others computed.",
                                  timeAStep(divided.communication, parts), steps ? "a step" : "in all", timeAStep(divided.overlapped, parts))});
}

void addStepTime(Document& document, const RangePanes& panes) {
    if (panes.steps.empty()) return;
    document.blocks.push_back(Heading{"What the time of steps went into"});
    for (std::size_t i = 0; i < std::min(kMostRanks, panes.steps.size()); ++i) addDivided(document, panes.steps[i], panes);
    addPastTheRows(document, kMostRanks, panes.steps.size(), "ranks");
    document.blocks.push_back(Paragraph{
        panes.devices ? "Each instant counts once: of what goes on at once, the first of this table. It reaches from the begin of the first "
                        "captured step to the end of the last, so what lies between captures is in it, too."
                      : "Each instant of the thread that runs the steps counts once, as the innermost operation on it; what computes nothing "
                        "is host and waiting. Threads among which LibTorch shares an operation record nothing: their time is in no class."});
}

void addOperations(Document& document, const RangePanes& panes) {
    if (panes.operations.empty()) return;
    document.blocks.push_back(Heading{"Operations"});
    Table table{.head = {"operation", "role", "layer", "calls", "self", "share", "total", "mean"}, .rows = {}, .textColumns = 2};
    const std::size_t shown = std::min(kMostRows, panes.operations.size());
    for (std::size_t i = 0; i < shown; ++i) {
        const SummaryRow& row = panes.operations[i].row;
        const std::string more = row.places > 1 ? fmt::format(" (and {} more)", row.places - 1) : std::string();
        table.rows.push_back({shortName(row.name), orNothing(row.role) + more, layerText(row.layer), format::count(row.calls), timeText(row.self),
                              shareText(row.self, panes.totals.self), timeText(row.total), timeText(row.mean())});
    }
    document.blocks.push_back(std::move(table));
    addPastTheRows(document, shown, panes.operations.size(), "operations, those with the most time of their own");
    document.blocks.push_back(
        Paragraph{"Of all captured steps and all threads together. Self is the time of an operation without what it called, total with it; layer and "
                  "role are those where most of it was spent."});
}

void addKernels(Document& document, const RangePanes& panes) {
    if (panes.kernels.empty()) return;
    document.blocks.push_back(Heading{"Kernels and copies"});
    Table table{.head = {"kernel", "launched by", "role", "layer", "calls", "total", "share", "mean"}, .rows = {}, .textColumns = 3};
    const std::size_t shown = std::min(kMostRows, panes.kernels.size());
    for (std::size_t i = 0; i < shown; ++i) {
        const LaunchedRow& row = panes.kernels[i].row;
        table.rows.push_back({shortName(row.name), orNothing(row.operation), orNothing(row.role), layerText(row.layer), format::count(row.calls),
                              timeText(row.total), shareText(row.total, panes.totals.deviceTime), timeText(row.mean())});
    }
    document.blocks.push_back(std::move(table));
    addPastTheRows(document, shown, panes.kernels.size(), "kernels and copies, those with the most time");
}

void addLayers(Document& document, const RangePanes& panes, bool kernels) {
    const LayerGrid grid = panes.layers.grid(kernels);
    if (grid.layers.empty() || grid.roles.empty()) return;
    document.blocks.push_back(Heading{kernels ? "Kernels by layer and role" : "Operations by layer and role"});
    const std::size_t layers = std::min(kMostLayers, grid.layers.size()), roles = std::min(kMostRoles, grid.roles.size());
    Table table{.head = {"layer"}, .rows = {}, .textColumns = 1};
    for (std::size_t role = 0; role < roles; ++role) table.head.push_back(grid.roles[role].empty() ? "no role" : shortName(grid.roles[role]));
    for (std::size_t layer = 0; layer < layers; ++layer) {
        const std::int32_t number = grid.layers[layer];
        std::vector<std::string> row{number < 0 ? std::string("outside") : fmt::format("layer {}", number)};
        for (std::size_t role = 0; role < roles; ++role) {
            const LayerCell& cell = grid.cells[layer][role];
            row.push_back(cell.calls == 0 ? std::string(kNothing) : timeText({cell.time}));
        }
        table.rows.push_back(std::move(row));
    }
    document.blocks.push_back(std::move(table));
    addPastTheRows(document, layers, grid.layers.size(), "layers");
    addPastTheRows(document, roles, grid.roles.size(), "roles");
    document.blocks.push_back(Paragraph{fmt::format("{} of all captured steps together, in every phase; {} more has no place in the model.",
                                                    kernels ? "Time of kernels" : "Time of their own", timeText({grid.elsewhere.time}))});
}

void addDevices(Document& document, const RangePanes& panes) {
    if (panes.gpus.empty() && panes.streams.empty()) return;
    document.blocks.push_back(Heading{"What GPUs waited for"});
    const auto estimated = [](double share) {
        return share < 0 || !std::isfinite(share) ? std::string("unknown") : fmt::format("{:.1f} %", 100 * share);
    };
    if (!panes.gpus.empty()) {
        Table table{.head = {"GPU", "busy", "share", "kernels", "copies alone", "SM efficiency", "occupancy"}, .rows = {}, .textColumns = 1};
        for (std::size_t i = 0; i < std::min(kMostRows, panes.gpus.size()); ++i) {
            const DeviceTime& time = panes.gpus[i].time;
            const std::string rank = panes.severalRanks ? fmt::format(", rank {}", panes.gpus[i].rank) : std::string();
            table.rows.push_back({fmt::format("GPU {}{}", time.device, rank), timeText(time.busy), shareText(time.busy, time.end - time.begin),
                                  timeText(time.kernels), timeText(time.copies), estimated(time.efficiency), estimated(time.occupancy)});
        }
        document.blocks.push_back(std::move(table));
        addPastTheRows(document, kMostRows, panes.gpus.size(), "GPUs");
    }
    if (!panes.streams.empty()) {
        Table table{
            .head = {"stream", "works", "busy", "host wait", "kernel wait", "other idle", "median launch delay"}, .rows = {}, .textColumns = 1};
        for (std::size_t i = 0; i < std::min(kMostRows, panes.streams.size()); ++i) {
            const PaneStream& stream = panes.streams[i];
            const StreamTime& time = stream.time;
            const SliceThread thread{.thread = time.stream, .device = time.device, .rank = stream.rank};
            const auto told = [&](TimeNs wait) { return panes.folded ? std::string("unknown") : timeText(wait); };
            table.rows.push_back({laneWords(thread, panes.severalRanks), format::count(time.works), timeText(time.busy), told(time.hostWait),
                                  told(time.kernelWait), timeText(time.otherIdle),
                                  stream.launches.launched > 0 ? timeText(stream.launches.median) : std::string("unknown")});
        }
        document.blocks.push_back(std::move(table));
        addPastTheRows(document, kMostRows, panes.streams.size(), "streams");
    }
    document.blocks.push_back(Paragraph{
        "From the first work to the last, what lies between captures too. Host wait: what came next was launched only after what was before "
        "it had ended. Kernel wait: launched in time, and less than 30 µs between two works. SM efficiency and occupancy are estimates."});
}

void addSettings(Document& document, const CaptureFacts& facts) {
    if (facts.preset.empty() && facts.settings.empty()) return;
    document.blocks.push_back(Heading{"Settings"});
    Table table{.head = {"setting", "value"}, .rows = {}, .textColumns = 2};
    if (!facts.preset.empty()) table.rows.push_back({"preset", facts.preset});
    for (const auto& [key, value] : facts.settings) table.rows.push_back({key, value});
    document.blocks.push_back(std::move(table));
    document.blocks.push_back(Paragraph{facts.settings.empty()
                                            ? "Everything else is as the preset has it."
                                            : "Those that differ from the preset; what was switched while the run went on is not among them."});
}

}  // namespace

Document captureReport(const RangePanes& panes, const CaptureFacts& facts) {
    Document document;
    document.title = "Where did the time of captured steps go?";
    document.subtitle = fmt::format("Session {}", facts.session);
    for (const std::string& part : {facts.name, facts.preset.empty() ? std::string() : "preset " + facts.preset, facts.started})
        if (!part.empty()) document.subtitle += ", " + part;
    document.blocks.push_back(Verdict{answerFrom(panes), Verdict::Tone::Neutral});
    addCaptured(document, panes, facts);
    addStepTime(document, panes);
    addOperations(document, panes);
    addKernels(document, panes);
    addLayers(document, panes, false);
    addLayers(document, panes, true);
    addDevices(document, panes);
    addSettings(document, facts);
    addMachine(document, facts);
    document.blocks.push_back(Heading{"How it was measured"});
    document.blocks.push_back(Paragraph{
        "Captured steps are observed and take longer than others: by how much stands beside each capture, where enough steps around it were "
        "timed. Times are of the captured steps as they ran, nothing is taken out of them."});
    addRepeat(document, facts);
    return document;
}

}  // namespace stepscope::report
