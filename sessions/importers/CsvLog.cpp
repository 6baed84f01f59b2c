#include "sessions/importers/CsvLog.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <limits>
#include <optional>

#include "core/base/Utf8.h"
#include "sessions/exporters/Metrics.h"
#include "sessions/importers/ByteSource.h"
#include "sessions/importers/CsvScan.h"

namespace stepscope::importing {
namespace {

constexpr std::int64_t kMostCsvStep = 1'000'000'000'000'000'000;
constexpr std::int64_t kCsvStepApart = 1'000'000;          // ns, where a file has no times
constexpr double kLastSecond = 4e9, kMilliseconds = 1e11;  // a time beyond is one of milliseconds
constexpr double kLastMillisecond = 1e12, kMostTokens = 1e15;
constexpr std::size_t kLongestName = 4096, kColumnsTold = 12;

// The first that there is, is the one.
constexpr std::array kStepNames{"step",       "/step",  "global/step", "trainer/global/step", "train/global/step", "steps", "iter", "iteration",
                                "iterations", "update", "epoch"};
constexpr std::array kTimeNames{"time", "/timestamp", "timestamp", "wall/time", "walltime", "/runtime", "relative/time", "elapsed"};
constexpr std::array kRateNames{
    "tokens/per/s",      "tokens/per/sec",       "tokens/per/second",      "tokens/s", "tokens/sec", "train/tokens/per/s", "tok/s",
    "throughput/tokens", "train/tokens/per/sec", "train/tokens/per/second"};

bool isOneOf(const std::string& word, const auto& words) {
    return std::ranges::find(words, word) != words.end();
}

std::string_view trimmed(std::string_view text) {
    const auto first = text.find_first_not_of(" \t");
    return first == std::string_view::npos ? std::string_view{} : text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

// A number as programs write it; infinities and NaN are none of use, but they are numbers.
std::optional<double> numberOf(std::string_view text, char separator) {
    text = trimmed(text);
    if (text.starts_with('+')) text.remove_prefix(1);
    std::string mended;
    // Where semicolons separate, people write 0,5.
    if (separator == ';' && text.find('.') == std::string_view::npos && std::ranges::count(text, ',') == 1) {
        mended = text;
        std::ranges::replace(mended, ',', '.');
        text = mended;
    }
    double value = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (end != text.data() + text.size() || text.empty()) return std::nullopt;
    if (problem == std::errc::result_out_of_range) return std::numeric_limits<double>::infinity();
    return problem == std::errc{} ? std::optional(value) : std::nullopt;
}

// "run - loss", as Stepscope and Weights & Biases name the columns of a run: the run and the metric.
std::pair<std::string, std::string> runAndMetric(std::string_view name) {
    constexpr std::string_view kBetween = " - ";
    const auto at = name.rfind(kBetween);
    if (at == std::string_view::npos) return {{}, std::string(name)};
    return {std::string(name.substr(0, at)), std::string(name.substr(at + kBetween.size()))};
}

// "run-.-tag-Loss_train.csv" of TensorBoard's page says what the column Value is.
std::string tagOfName(const std::string& path) {
    const std::string stem = std::filesystem::path(path).stem().string();
    const auto at = stem.find("-tag-");
    return at == std::string::npos ? std::string() : stem.substr(at + 5);
}

class CsvLog {
public:
    CsvLog(const std::string& path, TraceBuilder& trace, ScalarSteps& steps, std::vector<std::string>& notes)
        : m_path(path), m_trace(trace), m_steps(steps), m_notes(notes), m_scan(path, [this](const CsvScan::Row& row) { return take(row); }) {}

    Status add(std::string_view piece) { return m_scan.add(piece); }
    Status finish() {
        if (auto done = m_scan.finish(); !done) return done;
        if (m_columns == 0) return m_scan.wrongAt(1, 0, "is not there: the file holds no row of names; put one before its numbers");
        if (!m_anyTime)
            m_notes.push_back(
                fmt::format("\"{}\" holds no times: how long a step took is not known, and its steps are put one millisecond apart.", m_path));
        for (const auto& [what, count] : m_leftOut)
            m_notes.push_back(
                fmt::format("\"{}\": {} left out {}.", m_path, count == 1 ? "one column was" : fmt::format("{} columns were", count), what));
        return {};
    }

private:
    static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
    struct Column {
        std::string metric;  // empty: none of a number
        bool ofMachine = false;
    };

    Status take(const CsvScan::Row& row) {
        if (m_columns == 0) return names(row);
        if (row.fields.size() != m_columns) {
            // A program that still runs, or was killed, ends like this: what is whole is kept.
            if (!row.whole) {
                m_trace.skip(fmt::format("a last row that is not whole, at byte {}", row.byte));
                return {};
            }
            return m_scan.wrongAt(
                row.line, row.byte,
                fmt::format("has {} fields where the first row names {} columns; mend it there or export it again", row.fields.size(), m_columns));
        }
        const auto step = stepOf(row);
        if (!step) return {};
        return m_metric != kNone ? longRow(row, *step) : wideRow(row, *step);
    }

    Status names(const CsvScan::Row& row) {
        m_columns = row.fields.size();
        std::vector<std::string> words;
        words.reserve(m_columns);
        for (const auto field : row.fields) words.push_back(lowered(trimmed(field.substr(0, kLongestName))));
        m_step = firstOf(words, kStepNames);
        if (m_step == kNone) return noSteps(row);
        m_metric = firstOf(words, std::array{"metric", "tag"});
        m_value = firstOf(words, std::array{"value"});
        if (m_metric == kNone || m_value == kNone) m_metric = kNone;
        const std::size_t run = firstOf(words, std::array{"run"});
        m_run = m_metric != kNone ? run : kNone;
        m_own = m_metric != kNone && m_run != kNone;
        m_time = firstOf(words, kTimeNames);
        return m_metric != kNone ? Status{} : wideNames(row, words);
    }

    Status wideNames(const CsvScan::Row& row, const std::vector<std::string>& words) {
        bool any = false;
        std::string first;  // run
        for (std::size_t i = 0; i < words.size(); ++i) {
            Column& column = m_table.emplace_back();
            if (i == m_step || i == m_time) continue;
            auto [run, metric] = runAndMetric(trimmed(row.fields[i].substr(0, kLongestName)));
            if (metric.empty()) continue;
            if (metric.ends_with("__MIN") || metric.ends_with("__MAX")) {
                if (!m_own) ++m_leftOut["that hold the least and the most of other columns"];  // in our own they are the value
                continue;
            }
            if (!run.empty() && first.empty()) first = run;
            if (!run.empty() && run != first) {
                ++m_leftOut[fmt::format("of other runs than \"{}\": export each by itself", printable(first))];
                continue;
            }
            const std::string word = lowered(metric);
            if (isOneOf(word, kStepNames)) continue;
            if (word == "measured/at" && !run.empty()) {
                m_measured = i;
                m_own = true;
                continue;
            }
            if (m_time == kNone && isOneOf(word, kTimeNames)) {
                m_time = i;
                continue;
            }
            column.metric = word == "value" && !tagOfName(m_path).empty() ? tagOfName(m_path) : metric;
            any = true;
        }
        if (!any) return m_scan.wrongAt(row.line, row.byte, "names no column beside those of steps and times; add one of numbers, loss for example");
        // When the machine was measured is told apart only in our own tables.
        for (Column& column : m_table) column.ofMachine = m_measured != kNone && isOfMachine(column.metric);
        return {};
    }

    template <std::size_t N>
    static std::size_t firstOf(const std::vector<std::string>& words, const std::array<const char*, N>& wanted) {
        for (const char* name : wanted)
            if (const auto found = std::ranges::find(words, name); found != words.end()) return static_cast<std::size_t>(found - words.begin());
        return kNone;
    }

    Error noSteps(const CsvScan::Row& row) const {
        std::string names;
        for (std::size_t i = 0; i < std::min(row.fields.size(), kColumnsTold); ++i)
            names += fmt::format("{}\"{}\"", i > 0 ? ", " : "", printable(firstBytes(row.fields[i], 60)));
        return m_scan.wrongAt(row.line, row.byte,
                              fmt::format("names no column of steps (step, _step, iter, iteration, epoch) but {}{}; name one of them so", names,
                                          row.fields.size() > kColumnsTold ? ", ..." : ""));
    }

    std::optional<std::int64_t> stepOf(const CsvScan::Row& row) {
        const auto step = numberOf(row.fields[m_step], m_scan.separator());
        if (!step) {
            m_trace.skip(trimmed(row.fields[m_step]).empty() ? "rows without a step" : "rows whose step is no number");
            return std::nullopt;
        }
        if (!(*step >= 0 && *step <= static_cast<double>(kMostCsvStep))) {
            m_trace.skip("a time or a step that cannot be");
            return std::nullopt;
        }
        return static_cast<std::int64_t>(*step);
    }

    // Nothing where it cannot be; what is not told is that of the row before.
    std::optional<std::int64_t> timeOf(std::string_view field, std::int64_t step) {
        const auto told = numberOf(field, m_scan.separator());
        if (!told) return m_anyTime ? m_last : step <= kMostCsvStep / kCsvStepApart ? std::optional(step * kCsvStepApart) : std::nullopt;
        const double seconds = *told > kMilliseconds ? *told / 1000 : *told;
        if (!(seconds >= 0 && seconds <= kLastSecond)) return std::nullopt;
        if (!std::exchange(m_anyTime, true) && seconds < 1e8) m_steps.beginsAt(0);  // since its own begin
        return m_last = std::llround(seconds * 1e9);
    }

    Status longRow(const CsvScan::Row& row, std::int64_t step) {
        if (m_run != kNone) {
            const std::string_view run = row.fields[m_run];
            if (!m_firstRun) m_firstRun = run;
            if (run != *m_firstRun) {
                m_trace.skip("rows of another run than the first");
                return {};
            }
        }
        const auto at = timeOf(m_time == kNone ? std::string_view{} : row.fields[m_time], step);
        return value(row, std::string(row.fields[m_metric].substr(0, kLongestName)), row.fields[m_value], step, at);
    }

    Status wideRow(const CsvScan::Row& row, std::int64_t step) {
        std::optional<std::int64_t> at, measured;
        bool timed = false, measuredTimed = false;
        for (std::size_t i = 0; i < m_table.size(); ++i) {
            const Column& column = m_table[i];
            if (column.metric.empty() || trimmed(row.fields[i]).empty()) continue;
            auto& when = column.ofMachine ? measured : at;
            if (!std::exchange(column.ofMachine ? measuredTimed : timed, true))
                when = timeOf(column.ofMachine ? row.fields[m_measured] : m_time == kNone ? std::string_view{} : row.fields[m_time], step);
            if (auto taken = value(row, column.metric, row.fields[i], step, when); !taken) return taken;
        }
        return {};
    }

    Status value(const CsvScan::Row& row, const std::string& metric, std::string_view field, std::int64_t step, std::optional<std::int64_t> at) {
        if (metric.empty() || trimmed(field).empty()) return {};
        const auto number = numberOf(field, m_scan.separator());
        if (!number) {
            m_trace.skip("values that are no numbers");
            return {};
        }
        if (!std::isfinite(*number)) {
            m_trace.skip("a value that is no finite number");
            return {};
        }
        if (!at) {
            m_trace.skip("a time or a step that cannot be");
            return {};
        }
        if (auto learned = learn(row, metric, *number, step, *at); !learned) return learned;
        m_trace.sample("0", metric, "", *at, *number);
        return {};
    }

    // What is of a step or a validation, by the names that people give these.
    Status learn(const CsvScan::Row& row, const std::string& metric, double number, std::int64_t step, std::int64_t at) {
        const std::string word = lowered(metric);
        ScalarSteps::Step probe;
        const bool isValidation = scalarPlaceOf(probe, metric) == &probe.validation;
        const bool isRate = isOneOf(word, kRateNames), isOwn = word == "step/ms" || (m_own && word == "tokens");
        if (scalarPlaceOf(probe, metric) == nullptr && !isRate && !isOwn) return {};
        if ((isOwn || isRate) && !(number >= 0 && number < (word == "step/ms" ? kLastMillisecond : kMostTokens))) return {};
        if (!m_steps.hasRoom(step))
            return m_scan.wrongAt(row.line, row.byte, fmt::format("is behind more than {} steps; import a part of it", m_steps.most()));
        // A validation comes behind its step, which keeps its own time.
        // Before the file has told a first time its steps have places in time, and no times.
        ScalarSteps::Step& of = isValidation ? m_steps.validated(step, at, m_anyTime) : m_steps.at(step, at, m_anyTime);
        double& place = isRate ? of.tokensPerSecond : word == "step/ms" ? of.milliseconds : isOwn ? of.tokens : *scalarPlaceOf(of, metric);
        if (!std::isnan(place)) m_trace.tell("values of a step that was told again: the last one counts");
        place = number;
        return {};
    }

    const std::string& m_path;
    TraceBuilder& m_trace;
    ScalarSteps& m_steps;
    std::vector<std::string>& m_notes;
    CsvScan m_scan;
    std::size_t m_columns = 0, m_step = kNone, m_time = kNone, m_measured = kNone, m_metric = kNone, m_value = kNone, m_run = kNone;
    std::vector<Column> m_table;  // of a wide one
    std::optional<std::string> m_firstRun;
    std::map<std::string, std::int64_t> m_leftOut;
    bool m_own = false, m_anyTime = false;
    std::int64_t m_last = 0;
};

}  // namespace

bool looksLikeCsv(const std::string& path, std::string_view head) {
    std::string ending = std::filesystem::path(path).extension().string();
    std::ranges::transform(ending, ending.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    if (ending == ".csv" || ending == ".tsv") return true;
    bool steps = false;
    CsvScan scan(path, [&, first = true](const CsvScan::Row& row) mutable -> Status {
        if (std::exchange(first, false) && row.whole && row.fields.size() > 1)
            steps = std::ranges::any_of(row.fields, [](std::string_view name) { return isOneOf(lowered(trimmed(name)), kStepNames); });
        return {};
    });
    return scan.add(head) && steps;
}

Status readCsvLog(const std::string& path, TraceBuilder& trace, ScalarSteps& steps, std::vector<std::string>& notes,
                  const std::function<bool(double)>& go) {
    auto source = ByteSource::open(path);
    if (!source) return source.error();
    trace.file().source = "csv";
    CsvLog log(path, trace, steps, notes);
    for (;;) {
        if (!go((*source)->fraction())) return makeError(ErrorCode::Cancelled, "The import was stopped; nothing of it is stored.");
        const std::string piece = (*source)->next();
        if (piece.empty()) break;
        if (auto read = log.add(piece); !read) return read;
        if (!trace.status()) return trace.status();
    }
    return (*source)->status() ? log.finish() : (*source)->status();
}

Status readCsvText(std::string_view text, const std::string& path, TraceBuilder& trace, ScalarSteps& steps, std::vector<std::string>& notes,
                   std::size_t atOnce) {
    CsvLog log(path, trace, steps, notes);
    for (; !text.empty(); text.remove_prefix(std::min(atOnce, text.size())))
        if (auto read = log.add(text.substr(0, atOnce)); !read) return read;
    return log.finish();
}

}  // namespace stepscope::importing
