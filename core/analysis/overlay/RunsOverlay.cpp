// Names of the runs, their groups, and how far they reach.
#include "core/analysis/overlay/RunsOverlay.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace stepscope {
namespace {

constexpr std::size_t kMostKeysInALabel = 3;  // more cannot be read beside a line

std::string nameOf(const OverlaidRun& run) {
    return run.info && !run.info->name.empty() ? run.info->name : fmt::format("session {}", run.session);
}

std::string joined(const std::vector<std::string>& parts, const char* between) {
    std::string text;
    for (std::size_t i = 0; i < parts.size() && i < kMostKeysInALabel; ++i) text += (i == 0 ? "" : between) + parts[i];
    return parts.size() > kMostKeysInALabel ? text + "…" : text;
}

}  // namespace

RunsOverlay::RunsOverlay(const std::vector<std::int64_t>& sessions) {
    for (const std::int64_t session : sessions) m_slots.push_back({.session = session, .colour = m_slots.size()});
}

void RunsOverlay::put(std::shared_ptr<const OverlaidRun> run) {
    const auto slot = std::ranges::find(m_slots, run->session, &OverlaidSlot::session);
    if (slot == m_slots.end()) return;
    slot->run = std::move(run);
    rename();
}

bool RunsOverlay::remove(std::int64_t session) {
    if (std::erase_if(m_slots, [&](const OverlaidSlot& slot) { return slot.session == session; }) == 0) return false;
    rename();
    return true;
}

void RunsOverlay::setHidden(std::int64_t session, bool hidden) {
    for (OverlaidSlot& slot : m_slots)
        if (slot.session == session) slot.hidden = hidden;
    regroup();
}

void RunsOverlay::setLineHidden(const std::string& series, bool hidden) {
    const std::vector<OverlayLine> lines = m_lines;
    for (const OverlayLine& one : lines)
        if (one.series == series)
            for (OverlaidSlot& slot : m_slots)
                if (const OverlayLine* of = lineOf(slot.session); of != nullptr && of->series == series) slot.hidden = hidden;
    regroup();
}

void RunsOverlay::groupBy(const std::string& key) {
    m_group = key;
    m_pointed.clear();
    m_chosen.clear();
    regroup();
}

const OverlaidSlot* RunsOverlay::find(std::int64_t session) const {
    const auto found = std::ranges::find(m_slots, session, &OverlaidSlot::session);
    return found == m_slots.end() ? nullptr : &*found;
}

std::size_t RunsOverlay::read() const {
    return static_cast<std::size_t>(std::ranges::count_if(m_slots, [](const OverlaidSlot& slot) { return slot.run != nullptr; }));
}

std::string RunsOverlay::valueOf(std::int64_t session, const std::string& key) const {
    const auto found = std::ranges::find(m_keys, key, &DifferingKeys::key);
    if (found == m_keys.end()) return {};
    std::size_t place = 0;
    for (const OverlaidSlot& slot : m_slots) {
        if (slot.run == nullptr) continue;
        if (slot.session == session) return found->values[place];
        ++place;
    }
    return {};
}

// Only now, with all that are read, is known which keys differ.
void RunsOverlay::rename() {
    std::vector<StoredRun> facts;
    for (const OverlaidSlot& slot : m_slots)
        if (slot.run != nullptr) facts.push_back({.session = slot.session, .info = slot.run->info, .flipped = slot.run->flipped});
    m_keys = differingKeys(facts);
    std::map<std::string, int> uses;
    for (OverlaidSlot& slot : m_slots) {
        if (slot.run == nullptr) continue;
        std::vector<std::string> parts;
        for (const DifferingKeys& key : m_keys)
            if (const std::string value = valueOf(slot.session, key.key); !value.empty()) parts.push_back(key.key + "=" + value);
        slot.label = parts.empty() ? nameOf(*slot.run) : joined(parts, ", ");
        ++uses[slot.label];
    }
    for (OverlaidSlot& slot : m_slots)
        if (slot.run != nullptr && uses[slot.label] > 1) slot.label += fmt::format(" #{}", slot.session);
    if (!m_group.empty() && std::ranges::find(m_keys, m_group, &DifferingKeys::key) == m_keys.end()) m_group.clear();
    regroup();
}

void RunsOverlay::regroup() {
    m_lines.clear();
    for (const OverlaidSlot& slot : m_slots) {
        if (slot.run == nullptr) continue;
        const std::string value = m_group.empty() ? std::string() : valueOf(slot.session, m_group);
        const std::string series = m_group.empty() ? fmt::format("#{}", slot.session) : m_group + "=" + (value.empty() ? "not stored" : value);
        auto line = std::ranges::find(m_lines, series, &OverlayLine::series);
        if (line == m_lines.end()) {
            const std::string label = m_group.empty() ? slot.label : series;
            m_lines.push_back({.label = label, .shortLabel = m_group.empty() ? fmt::format("#{}", slot.session) : value, .series = series});
            line = m_lines.end() - 1;
            line->colour = slot.colour;
            line->hidden = true;
        }
        ++line->of;
        line->hidden = line->hidden && slot.hidden;
    }
    for (OverlayLine& line : m_lines)
        for (const OverlaidSlot& slot : m_slots)
            if (slot.run != nullptr && lineOf(slot.session) == &line && (line.hidden || !slot.hidden)) line.runs.push_back(slot.run.get());
    if (!m_group.empty())
        for (OverlayLine& line : m_lines)
            if (line.of > 1) line.label += fmt::format(" ({})", line.of);
}

const OverlayLine* RunsOverlay::lineOf(std::int64_t session) const {
    if (m_group.empty()) return line(fmt::format("#{}", session));
    const std::string value = valueOf(session, m_group);
    return line(m_group + "=" + (value.empty() ? "not stored" : value));
}

const OverlayLine* RunsOverlay::line(const std::string& series) const {
    const auto found = std::ranges::find(m_lines, series, &OverlayLine::series);
    return found == m_lines.end() ? nullptr : &*found;
}

const OverlayLine* RunsOverlay::emphasised() const {
    const OverlayLine* pointed = m_pointed.empty() ? nullptr : line(m_pointed);
    if (pointed == nullptr && !m_chosen.empty()) pointed = line(m_chosen);
    return pointed == nullptr || pointed->hidden ? nullptr : pointed;
}

const Markers& RunsOverlay::marks() const {
    static const Markers none;
    const OverlayLine* of = emphasised();
    return of != nullptr && of->runs.size() == 1 ? of->runs[0]->flips : none;
}

double RunsOverlay::first(XAxis axis) const {
    double first = std::numeric_limits<double>::infinity();
    for (const OverlaidSlot& slot : m_slots)
        if (slot.run != nullptr && slot.run->rows() > 0 && slot.run->knows(axis)) first = std::min(first, slot.run->places(axis).front());
    return std::isfinite(first) ? first : 0;
}

double RunsOverlay::last(XAxis axis) const {
    double last = 0;
    for (const OverlaidSlot& slot : m_slots)
        if (slot.run != nullptr && slot.run->rows() > 0 && slot.run->knows(axis)) last = std::max(last, slot.run->places(axis).back());
    return last;
}

double RunsOverlay::stepLength(XAxis axis) const {
    double least = std::numeric_limits<double>::infinity();
    for (const OverlaidSlot& slot : m_slots) {
        if (slot.run == nullptr || slot.run->rows() == 0 || !slot.run->knows(axis)) continue;
        const auto& places = slot.run->places(axis);
        const double from = places.size() > 1 ? places.front() : 0, rows = places.size() > 1 ? static_cast<double>(places.size() - 1) : 1;
        if (const double length = (places.back() - from) / rows / static_cast<double>(slot.run->every); length > 0) least = std::min(least, length);
    }
    return std::isfinite(least) ? least : 1;
}

double RunsOverlay::common(XAxis axis) const {
    double common = kUnknown;
    for (const OverlaidSlot& slot : m_slots)
        if (slot.run != nullptr && slot.run->rows() > 0) {
            if (!slot.run->knows(axis)) continue;
            const double last = slot.run->places(axis).back();
            common = std::isfinite(common) ? std::min(common, last) : last;
        }
    return common;
}

std::string RunsOverlay::remark() const {
    std::map<std::string, int> works;
    std::size_t known = 0, alone = 0;
    for (const OverlaidSlot& slot : m_slots) {
        if (slot.run == nullptr) continue;
        if (!slot.run->info || !slot.run->info->config) {
            ++alone;
            continue;
        }
        ++works[workOf(*slot.run->info->config)];
        ++known;
    }
    if (known + alone < kFewest) return {};
    if (known == 0) return "None of them was run by Stepscope: which settings differ is not known.";
    if (std::ranges::any_of(works, [](const auto& work) { return work.second > 1; })) return {};
    if (alone == 0) return "No two of them trained the same model on the same data: their losses cannot be compared, only their shapes.";
    return fmt::format("Stepscope did not run {} of them: whether any two trained the same model on the same data is not known.", alone);
}

std::string whyNotOverlaid(std::size_t sessions) {
    if (sessions >= RunsOverlay::kFewest && sessions <= RunsOverlay::kMost) return {};
    return fmt::format("{} to {} sessions can be laid over each other, and {} {} chosen; choose {} with Ctrl or Shift in the list.",
                       RunsOverlay::kFewest, RunsOverlay::kMost, sessions, sessions == 1 ? "is" : "are",
                       sessions < RunsOverlay::kFewest ? "more" : "fewer");
}

}  // namespace stepscope
