#include "core/analysis/StudyHistory.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/analysis/JudgedSentence.h"
#include "core/analysis/PairedVerdict.h"
#include "core/base/Utf8.h"
#include "core/events/Event.h"

namespace stepscope {

namespace {

// What broke off has pairs and no figures: those that it came to by then were on their way to others.
StudyRow withFiguresThatStand(StudyRow row) {
    if (row.state == study::kFailed || row.state == study::kSkipped)
        for (double* figure : {&row.ratio, &row.low, &row.high, &row.total, &row.totalLow, &row.totalHigh, &row.floor}) *figure = kUnknown;
    return row;
}

// Rows are a stranger's as well: whatever draws or measures their words does so for each row, and a name of a ladder has at most 200 bytes.
StudyRow asItCanBeShown(StudyRow row) {
    constexpr std::size_t kLongestName = 1000, kLongestText = 20'000;
    const auto cut = [](std::string& text, std::size_t most) {
        if (text.size() > most) text = std::string(firstBytes(text, most)) + "...";
    };
    cut(row.name, kLongestName);
    for (std::string* text : {&row.settings, &row.reported, &row.why, &row.keptVersions}) cut(*text, kLongestText);
    return withFiguresThatStand(std::move(row));
}

std::string timesWords(double ratio, double low, double high) {
    const int digits = ratio < 10 ? 2 : 1;
    if (!(low > 0 && std::isfinite(high))) return fmt::format("×{:.{}f}, no interval", ratio, digits);
    return fmt::format("×{0:.{3}f} [{1:.{3}f}, {2:.{3}f}]", ratio, low, high, digits);
}

}  // namespace

void StudyHistory::add(const Event& event) {
    if (const auto* began = std::get_if<StudyBegan>(&event)) {
        *this = {};
        m_began = *began;
        return;
    }
    if (const auto* row = std::get_if<StudyRow>(&event)) {
        if (row->row < 0 || row->row >= kMostStudyRows) return;
        const auto at = std::ranges::lower_bound(m_rows, row->row, {}, &StudyRow::row);
        if (at != m_rows.end() && at->row == row->row) {
            // The experiment that ended is the one that made this row. Those that race have none.
            const bool ends = at->state == study::kRunning && row->state != study::kRunning && row->role != study::kCandidate;
            if (ends && !std::exchange(m_taken, true)) {
                m_windows[row->row] = m_experiment.machineWindow();
                m_meanwhile.erase(row->row);
                if (m_kept + m_experiment.pairs().size() <= kMostStudyPairs) {
                    m_kept += m_experiment.pairs().size();
                    m_pairs[row->row] = m_experiment.pairs();
                }
            }
            *at = asItCanBeShown(*row);
        } else {
            m_rows.insert(at, asItCanBeShown(*row));
        }
        return;
    }
    if (const auto* sample = std::get_if<DeviceSample>(&event)) {
        m_samples.add(*sample);
        const double at = sample->at.seconds();
        std::erase_if(m_meanwhile, [&](const auto& known) {
            const MachineWindow& window = m_windows.at(known.first);
            return window.from <= at && at <= window.to;
        });
    }
    if (std::holds_alternative<ExperimentBegan>(event)) m_taken = false;
    m_experiment.add(event);
}

const StudyRow* StudyHistory::find(const char* role) const {
    const auto found = std::ranges::find(m_rows, role, &StudyRow::role);
    return found == m_rows.end() ? nullptr : &*found;
}

std::vector<StudyRow> StudyHistory::rejectedValues() const {
    std::vector<StudyRow> all;
    for (const StudyRow& row : m_rows) {
        if (row.role != study::kValue) continue;
        const auto same = std::ranges::find_if(all, [&](const StudyRow& one) { return one.name == row.name && one.why == row.why; });
        if (same == all.end())
            all.push_back(row);
        else
            same->settings += ", " + row.settings;
    }
    return all;
}

bool StudyHistory::recommendedUnconfirmed() const {
    const StudyRow* last = recommended();
    return last != nullptr && last->outcome == toString(PairedOutcome::Inconclusive);
}

const StudyRow* StudyHistory::recommended() const {
    const StudyRow* last = find(study::kFinal);
    return last != nullptr && last->state == study::kChosen && !last->settings.empty() ? last : nullptr;
}

bool StudyHistory::isMeasuredAnew(const StudyRow& row) const {
    const StudyRow* last = find(study::kFinal);
    return row.role == study::kCandidate && row.state == study::kChosen && last != nullptr && !last->settings.empty() && std::isfinite(last->ratio);
}

const std::vector<ExperimentJudged>& StudyHistory::pairsOf(const StudyRow& row) const {
    static const std::vector<ExperimentJudged> kNone;
    if (const auto found = m_pairs.find(row.row); found != m_pairs.end()) return found->second;
    return row.state == study::kRunning && row.role != study::kCandidate && !m_taken ? m_experiment.pairs() : kNone;
}

std::optional<MachineMeanwhile> StudyHistory::machineMeanwhile(const StudyRow& row) const {
    const auto found = m_windows.find(row.row);
    if (found == m_windows.end() || row.pairs == 0) return std::nullopt;
    const auto known = m_meanwhile.find(row.row);
    return known != m_meanwhile.end() ? known->second : m_meanwhile[row.row] = m_samples.within(found->second);
}

std::int64_t StudyHistory::measuredLegs() const {
    return std::ranges::count_if(m_rows, [](const StudyRow& row) { return row.role != study::kBottom && row.state == study::kMeasured; });
}

bool StudyHistory::saysAnything() const {
    return std::ranges::any_of(m_rows, [](const StudyRow& row) { return row.pairs > 0 && row.state != study::kRunning; });
}

double StudyHistory::seconds() const {
    TimeNs newest = m_began ? m_began->at : TimeNs{};
    for (const StudyRow& row : m_rows) newest = std::max(newest, row.at, [](TimeNs a, TimeNs b) { return a.ns < b.ns; });
    return m_began ? static_cast<double>(newest.ns - m_began->at.ns) / 1e9 : 0;
}

double StudyHistory::measuredSeconds() const {
    double all = 0;
    for (const StudyRow& row : m_rows)
        if (std::isfinite(row.seconds)) all += row.seconds;
    return all;
}

std::string whyWords(const StudyRow& row) {
    if (row.keptSession <= 0) return row.why;
    return fmt::format("Measured in session {}{}.{}{}", row.keptSession,
                       row.keptVersions.empty() ? "" : fmt::format(" by another version ({})", row.keptVersions), row.why.empty() ? "" : " ",
                       row.why);
}

std::string rowWords(const StudyHistory& history, const StudyRow& row) {
    std::string words = whyWords(row);
    const auto machine = history.machineMeanwhile(row);
    if (const std::string said = machine ? machineSentence(*machine) : std::string(); !said.empty()) words += (words.empty() ? "" : " ") + said;
    return words;
}

bool waitsForBudget(const StudyHistory& history) {
    return std::ranges::any_of(history.rows(), [](const StudyRow& row) { return row.waits && row.state == study::kSkipped; });
}

Arithmetic arithmeticOf(const StudyRow& row) {
    return row.arithmetic == study::kOther ? Arithmetic::Other : row.arithmetic == study::kSame ? Arithmetic::Same : Arithmetic::Unknown;
}

std::string searchLossSentence(const StudyHistory& history) {
    const StudyRow* last = history.recommended();
    if (last == nullptr) return "";
    const std::string begin = "Loss at equal tokens, soon after the start: ";
    if (!std::isfinite(last->loss)) return begin + "unknown.";
    if (std::abs(last->loss) < 5e-5) return begin + "the same as with the present settings to four digits.";
    return begin + fmt::format("{:.4f} {} than with the present settings.", std::abs(last->loss), last->loss < 0 ? "lower" : "higher");
}

std::string studyHeadline(const StudyHistory& history) {
    if (!history.began()) return "";
    if (history.began()->kind != "ladder") {
        const StudyRow* last = history.find(study::kFinal);
        if (last == nullptr || last->state == study::kWaiting || last->state == study::kRunning || last->state == study::kFailed) return "";
        if (last->settings.empty() && last->outcome == toString(PairedOutcome::Inconclusive)) return "nothing recommended";
        if (history.recommended() == nullptr) return "recommended: the present settings";
        return fmt::format("recommended{}: {}, {}", history.recommendedUnconfirmed() ? ", not confirmed" : "", last->settings,
                           timesWords(last->ratio, last->low, last->high));
    }
    const StudyRow* top = history.find(study::kTop);
    if (top != nullptr && top->state == study::kMeasured && std::isfinite(top->ratio))
        return fmt::format("the top is {} as fast as the bottom", timesWords(top->ratio, top->low, top->high));
    const StudyRow* newest = nullptr;
    for (const StudyRow& row : history.rows())
        if (row.role == study::kRung && row.state == study::kMeasured && std::isfinite(row.total)) newest = &row;
    if (newest == nullptr) return "";
    return fmt::format("up to {}: {} as fast as the bottom", newest->name, timesWords(newest->total, newest->totalLow, newest->totalHigh));
}

std::string intervalMethod(bool finalLook) {
    return fmt::format(
        "a self-normalised confidence sequence on the logarithm of the ratio of both times per token (de la Peña 1999; Howard et al. 2020){}",
        finalLook ? ", with one look by Student's t over the pairs (Efron 1969), of fewer than 16 by all their signs too, when the time is spent"
                  : "");
}

}  // namespace stepscope
