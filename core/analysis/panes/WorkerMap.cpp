#include "core/analysis/panes/WorkerMap.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/Format.h"
#include "core/events/Phase.h"

namespace stepscope {
namespace {

constexpr double kUnknownTime = std::numeric_limits<double>::quiet_NaN();
// Sums of all columns together; a stranger's block may name a million workers.
constexpr std::size_t kMostSums = kMostTimes;
// Of a step: what workers differ by anyway is not worth a name.
constexpr double kWorthNaming = 0.02;

}  // namespace

WorkerMap::WorkerMap(std::size_t mostColumns) : m_most(std::max<std::size_t>(2, mostColumns / 2 * 2)) {}

// A worker or a phase that nobody had before.
void WorkerMap::widen(std::int64_t workers, const std::vector<std::string>& phases) {
    std::vector<std::string> all = m_phases;
    for (const auto& phase : phases)
        if (std::ranges::find(all, phase) == all.end()) all.push_back(phase);
    const std::int64_t most = std::max(m_workers, workers);
    if (all.size() == m_phases.size() && most == m_workers) return;
    const std::size_t before = width(), after = all.size() + 2;
    for (Column& column : m_columns) {
        std::vector<Sum> sums(static_cast<std::size_t>(most) * after);
        for (std::size_t worker = 0; worker < column.made.size(); ++worker) {
            for (std::size_t phase = 0; phase < m_phases.size(); ++phase) sums[worker * after + phase] = column.sums[worker * before + phase];
            for (std::size_t last : {1U, 2U}) sums[worker * after + after - last] = column.sums[worker * before + before - last];
        }
        column.sums = std::move(sums);
        column.made.resize(static_cast<std::size_t>(most));
    }
    m_phases = std::move(all);
    m_workers = most;
}

void WorkerMap::fold(Column& into, const Column& from) {
    into.last = from.last;
    into.steps += from.steps;
    for (std::size_t i = 0; i < into.made.size(); ++i) into.made[i] += from.made[i];
    for (std::size_t i = 0; i < into.sums.size(); ++i) {
        into.sums[i].ns += from.sums[i].ns;
        into.sums[i].most = std::max(into.sums[i].most, from.sums[i].most);
    }
}

void WorkerMap::halve() {
    m_stepsInColumn *= 2;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < m_columns.size(); ++kept) {
        if (kept != i) m_columns[kept] = std::move(m_columns[i]);
        for (++i; i < m_columns.size() && m_columns[kept].steps + m_columns[i].steps <= m_stepsInColumn; ++i) fold(m_columns[kept], m_columns[i]);
    }
    m_columns.resize(kept);
}

void WorkerMap::add(const WorkerTimes& block) {
    widen(block.workers, block.phases);
    std::vector<std::size_t> places;
    for (const auto& phase : block.phases) places.push_back(placeOf(phase));
    const std::size_t wide = width(), waiting = placeOf(toString(Phase::Waiting));
    const std::size_t sums = static_cast<std::size_t>(m_workers) * wide;
    const std::size_t most = std::clamp<std::size_t>(kMostSums / std::max<std::size_t>(1, sums) / 2 * 2, 2, m_most);
    const auto* time = block.ns.data();
    for (const auto& step : block.steps) {
        if (m_columns.empty() || m_columns.back().steps >= m_stepsInColumn) {
            while (m_columns.size() >= most) halve();
            if (m_columns.empty() || m_columns.back().steps >= m_stepsInColumn)
                m_columns.push_back(
                    {step.number, step.number, 0, std::vector<std::int64_t>(static_cast<std::size_t>(m_workers)), std::vector<Sum>(sums)});
        }
        Column& column = m_columns.back();
        column.last = step.number;
        ++column.steps;
        ++m_stepsAdded;
        for (std::size_t worker = 0; worker < static_cast<std::size_t>(block.workers); ++worker) {
            ++column.made[worker];
            Sum* own = &column.sums[worker * wide];
            double whole = 0, work = 0;
            for (const std::size_t place : places) {
                const auto ns = static_cast<double>(*time++);
                own[place].ns += ns;
                own[place].most = std::max(own[place].most, ns);
                whole += ns;
                if (place != waiting) work += ns;
            }
            own[wide - 2].ns += whole;
            own[wide - 2].most = std::max(own[wide - 2].most, whole);
            own[wide - 1].ns += work;
            own[wide - 1].most = std::max(own[wide - 1].most, work);
        }
    }
}

void WorkerMap::add(const WorkerClocks& clocks) {
    if (m_clocks.size() < clocks.readings.size()) m_clocks.resize(clocks.readings.size());
    for (std::size_t worker = 0; worker < clocks.readings.size(); ++worker) {
        const ClockReading& reading = clocks.readings[worker];
        Clock& clock = m_clocks[worker];
        // What no clock drifts by is the clock of another process, and so is one that goes back: the run was started anew.
        const ClockDrift since = driftBetween(clock.last, reading);
        if (clock.facts.exchanges == 0 || reading.at <= clock.last.at || std::abs(since.drift) - since.error > kMostDrift) clock.first = reading;
        clock.last = reading;
        ++clock.facts.exchanges;
        clock.facts.lastError = reading.error;
        clock.facts.mostError = std::max(clock.facts.mostError, reading.error);
    }
}

std::vector<ClockFacts> WorkerMap::clocks() const {
    std::vector<ClockFacts> all;
    for (const Clock& clock : m_clocks) {
        all.push_back(clock.facts);
        const ClockDrift drift = driftBetween(clock.first, clock.last);
        if (!drift.told()) continue;
        // The offset shrinks by what a worker's clock gains.
        all.back().drift = -1e9 * drift.drift;
        all.back().driftError = 1e9 * drift.error;
    }
    return all;
}

std::string WorkerMap::clockWords() const {
    const auto all = clocks();
    if (all.size() < 2) return {};
    const auto worst = std::ranges::max_element(all, {}, &ClockFacts::mostError);
    const auto words = [](double ns) { return format::milliseconds(ns / 1e6); };
    std::string text =
        fmt::format("Their clocks were compared {}: each one's times are known to within {} of the first one's (worker {}'s least well).",
                    worst->exchanges == 1 ? std::string("once") : format::count(worst->exchanges) + " times",
                    words(static_cast<double>(worst->mostError)), worst - all.begin());
    const ClockFacts* drifts = nullptr;
    for (const ClockFacts& one : all)
        if (std::isfinite(one.drift) && (drifts == nullptr || std::abs(one.drift) > std::abs(drifts->drift))) drifts = &one;
    if (drifts != nullptr && std::abs(drifts->drift) > drifts->driftError)
        text += fmt::format(" That of worker {} drifts most, by {} a second.", drifts - all.data(), words(std::abs(drifts->drift)));
    return text;
}

std::size_t WorkerMap::placeOf(const std::string& phase) const {
    if (phase.empty()) return width() - 2;
    if (phase == kWork) return width() - 1;
    const auto found = std::ranges::find(m_phases, phase);
    return found == m_phases.end() ? width() : static_cast<std::size_t>(found - m_phases.begin());
}

std::vector<std::string> WorkerMap::phases() const {
    std::vector<std::string> some;
    for (std::size_t phase = 0; phase < m_phases.size(); ++phase) {
        const auto took = [&](const Column& column) {
            for (std::size_t worker = 0; worker < column.made.size(); ++worker)
                if (column.sums[worker * width() + phase].ns > 0) return true;
            return false;
        };
        if (std::ranges::any_of(m_columns, took)) some.push_back(m_phases[phase]);
    }
    return some;
}

WorkerGrid WorkerMap::grid(const std::string& phase) const {
    WorkerGrid grid{.workers = m_workers, .columns = {}, .mean = {}, .most = {}};
    const std::size_t place = placeOf(phase);
    for (const Column& column : m_columns) grid.columns.push_back({column.first, column.last});
    grid.mean.assign(static_cast<std::size_t>(m_workers) * m_columns.size(), kUnknownTime);
    grid.most = grid.mean;
    for (std::size_t worker = 0; worker < static_cast<std::size_t>(m_workers); ++worker)
        for (std::size_t i = 0; i < m_columns.size(); ++i) {
            const Column& column = m_columns[i];
            if (column.made[worker] == 0) continue;
            const Sum sum = place < width() ? column.sums[worker * width() + place] : Sum{};
            grid.mean[worker * m_columns.size() + i] = sum.ns / static_cast<double>(column.made[worker]);
            grid.most[worker * m_columns.size() + i] = sum.most;
        }
    return grid;
}

std::vector<double> WorkerMap::means(const std::string& phase) const {
    const std::size_t place = placeOf(phase);
    std::vector<double> means;
    for (std::size_t worker = 0; worker < static_cast<std::size_t>(m_workers); ++worker) {
        double ns = 0;
        std::int64_t made = 0;
        for (const Column& column : m_columns) {
            if (place < width()) ns += column.sums[worker * width() + place].ns;
            made += column.made[worker];
        }
        means.push_back(made > 0 ? ns / static_cast<double>(made) : kUnknownTime);
    }
    return means;
}

// All have the same time for a step, so the slow one is who works longest and waits least.
std::string WorkerMap::slowest() const {
    const std::vector<double> work = means(kWork);
    const auto made = [](double ns) { return std::isfinite(ns); };
    if (std::ranges::count_if(work, made) < 2) return {};
    std::size_t slow = work.size();
    for (std::size_t worker = 0; worker < work.size(); ++worker)
        if (made(work[worker]) && (slow == work.size() || work[worker] > work[slow])) slow = worker;
    const auto ofOthers = [&](const std::vector<double>& of) {
        double sum = 0, count = 0;
        for (std::size_t worker = 0; worker < of.size(); ++worker)
            if (worker != slow && made(of[worker])) {
                sum += of[worker];
                ++count;
            }
        return sum / count;
    };
    const double step = means()[slow], others = ofOthers(work), more = work[slow] - others;
    if (!(more > kWorthNaming * step))
        return fmt::format("No worker is slower than the others: worker {} works longest, by {} of a step.", slow, format::percent(more / step));
    std::string with;
    double mostOfIt = 0;
    for (const auto& phase : phases()) {
        if (phase == toString(Phase::Waiting)) continue;
        const std::vector<double> took = means(phase);
        if (const double longer = took[slow] - ofOthers(took); longer > mostOfIt) {
            mostOfIt = longer;
            with = phase;
        }
    }
    return fmt::format(
        "Worker {} is the slow one, for which the others wait: it works {} of a step, the other{} {}{}.", slow,
        format::milliseconds(work[slow] / 1e6), std::ranges::count_if(work, made) > 2 ? "s on average" : "", format::milliseconds(others / 1e6),
        with.empty() ? std::string() : fmt::format("; {} of what it takes longer is {}", format::percent(std::min(1.0, mostOfIt / more)), with));
}

}  // namespace stepscope
