#include "core/analysis/panes/StepDivision.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>
#include <utility>

#include "core/base/StepPlace.h"
#include "core/base/SumLaunch.h"
#include "core/trace/Lod.h"

namespace stepscope {
namespace {

enum DeviceClass : std::size_t { Kernels, Copies, Memsets, Communication, RuntimeCalls, Loading, OnCpu };
constexpr std::array<const char*, 8> kDeviceClasses{"kernels", "copies", "memsets", "communication", "runtime calls", "data", "operations on the CPU",
                                                    "other"};

using Spans = std::vector<NsSpan>;

// In order and without overlaps.
Spans merged(Spans spans) {
    std::ranges::sort(spans);
    Spans all;
    for (const auto& [from, to] : spans) {
        if (to <= from) continue;
        if (!all.empty() && from <= all.back().second)
            all.back().second = std::max(all.back().second, to);
        else
            all.emplace_back(from, to);
    }
    return all;
}
std::int64_t lengthWithin(const Spans& spans, std::int64_t from, std::int64_t to) {
    std::int64_t length = 0;
    for (const auto& [a, b] : spans) length += std::max<std::int64_t>(0, std::min(b, to) - std::max(a, from));
    return length;
}

// Of two lists as merged() leaves them.
Spans both(const Spans& a, const Spans& b) {
    Spans all;
    for (auto one = a.begin(), other = b.begin(); one != a.end() && other != b.end();) {
        const NsSpan common{std::max(one->first, other->first), std::min(one->second, other->second)};
        if (common.first < common.second) all.push_back(common);
        one->second < other->second ? ++one : ++other;
    }
    return all;
}

// The step that a part of one is of, among `steps` by their begin; where it is not there the part itself.
NsSpan wholeStep(const Spans& steps, NsSpan part) {
    const auto after = std::ranges::partition_point(steps, [&](const NsSpan& one) { return one.first <= part.first; });
    if (after == steps.begin() || std::prev(after)->second < part.second) return part;
    return *std::prev(after);
}

}  // namespace

TimeNs DividedSteps::eachThread(TimeNs time) const {
    if (shared.ns <= 0) return time;
    return {std::llround(static_cast<double>(time.ns) * (static_cast<double>(window.ns) / static_cast<double>(divided().ns)))};
}

bool isCommunication(const std::string& kernel) {
    return kernel.starts_with("nccl") || kernel.starts_with("rccl") || kernel.find("ncclKernel") != std::string::npos ||
           kernel.find("ncclDevKernel") != std::string::npos;
}

bool movesOnHost(SliceKind kind, const std::string& name, const std::string& role) {
    if (!isOperation(kind) && kind != SliceKind::Annotation) return false;
    return (role == toString(Role::Communication) && name != kSumLaunch) || name.starts_with("gloo:");
}

void StepDivision::addSpan(std::size_t kind, std::int64_t start, std::int64_t end) {
    auto& spans = m_spans[kind];
    // What lies in the one before, as what is called does, adds nothing.
    if (!spans.empty() && start >= spans.back().first && start <= spans.back().second)
        spans.back().second = std::max(spans.back().second, end);
    else
        spans.emplace_back(start, end);
}

void StepDivision::addWork(SliceKind kind, bool communication, std::int64_t start, std::int64_t end) {
    if (!isDeviceWork(kind)) return;
    m_lastWork = m_device ? std::max(m_lastWork, end) : end;
    if (!std::exchange(m_device, true))  // what overlaps is then told by kernels
        for (Lane& lane : m_lanes) lane.nested = {};
    addSpan(communication ? Communication : kind == SliceKind::Kernel ? Kernels : kind == SliceKind::Memcpy ? Copies : Memsets, start, end);
}

void StepDivision::addThread(const std::string& name, std::vector<NestedSlice> slices, const std::vector<std::string>& texts, LaneFacts facts) {
    if (slices.empty() && !facts.team) return;  // a thread of a team that did nothing in the range has waited there
    Lane lane{.name = name, .begin = std::numeric_limits<std::int64_t>::max(), .end = std::numeric_limits<std::int64_t>::min()};
    lane.process = facts.process;
    lane.team = facts.team;
    if (lane.team)
        lane.member = {ownTimes(slices), merged(std::move(facts.whole))};
    else
        std::ranges::sort(facts.whole);
    for (const NestedSlice& one : slices) {
        lane.begin = std::min(lane.begin, one.start);
        lane.end = std::max(lane.end, one.end);
        const auto work = static_cast<std::size_t>(one.work);
        lane.ofAll[work] += one.self;
        if (one.inStep) lane.ofSteps[work] += one.self;
        if (one.kind == SliceKind::Step) {
            lane.firstStep = lane.steps == 0 ? one.start : std::min(lane.firstStep, one.start);
            lane.lastStep = lane.steps == 0 ? one.end : std::max(lane.lastStep, one.end);
            lane.steps += 1;
            lane.cut += one.cut || one.open ? 1 : 0;
            if (one.parent < 0 || !slices[static_cast<std::size_t>(one.parent)].inStep) {
                lane.stepTime = cappedSum(lane.stepTime, one.length());
                // A stranger's steps may lie over each other; each moment of the team is divided once.
                const std::int64_t from = lane.ofTeam.empty() ? one.start : std::max(one.start, lane.ofTeam.back().shown.second);
                if (!lane.team && from < one.end) lane.ofTeam.push_back({{from, one.end}, wholeStep(facts.whole, {from, one.end})});
            }
        }
        if (one.moves) m_moving.emplace_back(one.start, one.end);
        if (one.kind == SliceKind::Runtime || one.kind == SliceKind::Driver)
            addSpan(RuntimeCalls, one.start, one.end);
        else if (one.work == WorkClass::Data || texts[one.text].starts_with("enumerate(DataLoader)"))
            addSpan(Loading, one.start, one.end);
        else if (isOperation(one.kind))
            addSpan(OnCpu, one.start, one.end);
    }
    if (!lane.team && !m_device) lane.nested = std::move(slices);
    m_lanes.push_back(std::move(lane));
    findComputing();
}

// Which operations computed, instant by instant, is asked beside what moves alone: most captures have no other worker, and their slices wait in vain.
void StepDivision::findComputing() {
    if (m_moving.empty() || m_device) return;
    for (; m_found < m_lanes.size(); ++m_found) {
        Lane& lane = m_lanes[m_found];
        for (const OwnTime& one : lane.team ? lane.member.times : ownTimes(lane.nested)) {
            if (one.work == WorkClass::Host || one.work == WorkClass::LaunchGaps || one.work == WorkClass::Data) continue;
            if (!m_computing.empty() && m_computing.back().second == one.start)
                m_computing.back().second = one.end;
            else
                m_computing.emplace_back(one.start, one.end);
        }
        lane.nested = {};
    }
}

void StepDivision::divideDevice(DividedSteps& into) const {
    std::int64_t from = std::numeric_limits<std::int64_t>::max(), to = std::numeric_limits<std::int64_t>::min();
    for (const Lane& lane : m_lanes) {
        if (lane.steps == 0) continue;
        into.steps = std::max(into.steps, lane.steps);
        into.cut = std::max(into.cut, lane.cut);
        from = std::min(from, lane.firstStep);
        to = std::max(to, lane.lastStep);
    }
    if (into.steps > 0) {
        to = std::max(to, m_lastWork);  // what the last step launched
    } else {
        for (const auto& spans : m_spans)
            for (const auto& [a, b] : spans) from = std::min(from, a), to = std::max(to, b);
        for (const Lane& lane : m_lanes) from = std::min(from, lane.begin), to = std::max(to, lane.end);
    }
    into.from.ns = from;
    into.to.ns = to;
    into.window = into.to - into.from;
    const Spans moving = merged(m_spans[Communication]), computing = merged(m_spans[Kernels]);
    Spans either = moving;
    either.insert(either.end(), computing.begin(), computing.end());
    into.communication.ns = lengthWithin(moving, from, to);
    into.overlapped.ns = into.communication.ns + lengthWithin(computing, from, to) - lengthWithin(merged(std::move(either)), from, to);
    Spans taken;
    std::int64_t before = 0;
    for (std::size_t i = 0; i < kOnDevice; ++i) {
        taken.insert(taken.end(), m_spans[i].begin(), m_spans[i].end());
        taken = merged(std::move(taken));
        const std::int64_t now = lengthWithin(taken, from, to);
        into.classes.push_back({kDeviceClasses[i], {now - before}});
        before = now;
    }
    into.classes.push_back({kDeviceClasses[kOnDevice], {into.window.ns - before}});
}

void StepDivision::divideThread(DividedSteps& into) const {
    const Lane* best = nullptr;
    const auto working = [](const Lane& lane) { return std::accumulate(lane.ofAll.begin(), lane.ofAll.end(), std::int64_t{0}); };
    for (const Lane& lane : m_lanes) {
        if (lane.begin > lane.end) continue;  // nothing of it is in the range
        if (best == nullptr || std::pair(lane.stepTime, working(lane)) > std::pair(best->stepTime, working(*best))) best = &lane;
    }
    if (best == nullptr) return;
    into.thread = best->name;
    into.steps = best->steps;
    into.cut = best->cut;
    into.from.ns = best->steps > 0 ? best->firstStep : best->begin;
    into.to.ns = best->steps > 0 ? best->lastStep : best->end;
    into.window = best->steps > 0 ? TimeNs{best->stepTime} : into.to - into.from;
    const auto& times = best->steps > 0 ? best->ofSteps : best->ofAll;
    std::int64_t others = 0;
    for (std::size_t i = 0; i < kWorkClasses; ++i) {
        if (static_cast<WorkClass>(i) == WorkClass::LaunchGaps) continue;  // of a GPU
        into.classes.push_back({toString(static_cast<WorkClass>(i)), {times[i]}});
        if (static_cast<WorkClass>(i) != WorkClass::Host) others += times[i];
    }
    into.classes[static_cast<std::size_t>(WorkClass::Host)].time.ns = std::max<std::int64_t>(0, into.window.ns - others);
    divideTeam(*best, into);
    overlap(*best, into);
}

void StepDivision::overlap(const Lane& steps, DividedSteps& into) const {
    if (m_moving.empty()) return;
    Spans divided;
    for (const TeamStep& step : steps.ofTeam) divided.push_back(step.shown);
    if (divided.empty()) divided.emplace_back(into.from.ns, into.to.ns);
    const Spans moving = both(merged(m_moving), merged(std::move(divided)));
    into.communication.ns = lengthWithin(moving, into.from.ns, into.to.ns);
    into.overlapped.ns = lengthWithin(both(moving, merged(m_computing)), into.from.ns, into.to.ns);
}

void StepDivision::divideTeam(const Lane& steps, DividedSteps& into) const {
    std::vector<const TeamMember*> members;
    for (const Lane& lane : m_lanes)
        if (lane.team && &lane != &steps && lane.process == steps.process) members.push_back(&lane.member);
    const TeamTime team = teamTime(steps.ofTeam, members);
    if (team.most <= 1) return;
    into.fewestThreads = team.fewest;
    into.mostThreads = team.most;
    into.shared.ns = team.together();
    for (std::size_t i = 0; i < into.classes.size(); ++i) into.classes[i].time.ns += team.classes[i];
    into.classes.push_back({kTeamWaits, {team.waiting}});
}

DividedSteps StepDivision::result() const {
    DividedSteps all{.rank = m_rank, .device = m_device};
    if (m_device)
        divideDevice(all);
    else
        divideThread(all);
    for (const Lane& lane : m_lanes) {
        const auto& times = !m_device && all.steps > 0 && lane.steps > 0 ? lane.ofSteps : lane.ofAll;
        const std::int64_t busy = std::accumulate(times.begin(), times.end(), std::int64_t{0}) - times[static_cast<std::size_t>(WorkClass::Host)];
        if (busy > 0) all.threads.push_back({lane.name, {busy}});
    }
    std::ranges::stable_sort(all.threads, [](const ThreadBusy& a, const ThreadBusy& b) { return a.busy > b.busy; });
    return all;
}

}  // namespace stepscope
