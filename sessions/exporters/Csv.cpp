#include "sessions/exporters/Csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <ostream>
#include <vector>

#include "sessions/SessionStore.h"
#include "sessions/exporters/ExportFile.h"
#include "sessions/exporters/Metrics.h"

namespace stepscope {
namespace {

std::string csvQuoted(const std::string& field) {
    if (field.find_first_of(",\"\r\n") == std::string::npos) return field;
    std::string out = "\"";
    for (const char c : field) out += c == '"' ? std::string("\"\"") : std::string(1, c);
    return out + '"';
}

Error csvRefused(std::int64_t session) {
    return makeError(ErrorCode::Io,
                     fmt::format("Session {} could not be written as CSV; check the free room and the permissions of the target.", session));
}

// Empty where nobody knows it.
std::string secondsCell(const std::optional<TimeNs>& time) {
    return time ? fmt::format("{:.9f}", time->seconds()) : std::string();
}

// Collects the lines of one page of events; numbers have as many digits as it takes to read the same number back.
class Lines final : public MetricSink {
public:
    explicit Lines(std::string run) : m_run(std::move(run)) {}

    void at(std::int64_t step, std::optional<TimeNs> time, Of) override { m_prefix = fmt::format("{},{},{},", m_run, step, secondsCell(time)); }
    void value(const char* metric, double value) override { fmt::format_to(std::back_inserter(m_text), "{}{},{}\n", m_prefix, metric, value); }
    void value(const char* metric, std::int64_t value) override { fmt::format_to(std::back_inserter(m_text), "{}{},{}\n", m_prefix, metric, value); }
    std::string take() { return std::exchange(m_text, {}); }

private:
    std::string m_run, m_prefix, m_text;
};

// Which metrics there are, in the order in which they come up.
class MetricColumns final : public MetricSink {
public:
    void at(std::int64_t, std::optional<TimeNs>, Of) override {}
    void value(const char* metric, double) override { add(metric); }
    void value(const char* metric, std::int64_t) override { add(metric); }
    const std::vector<std::string>& names() const { return m_names; }
    std::size_t placeOf(const char* metric) const { return m_places.at(metric); }

private:
    void add(const char* metric) {
        if (m_places.try_emplace(metric, m_names.size()).second) m_names.emplace_back(metric);
    }
    std::vector<std::string> m_names;
    std::map<std::string, std::size_t, std::less<>> m_places;
};

// A row a step: what is told again before the next step begins another row, so nothing is left out and nothing averaged.
class WideRows final : public MetricSink {
public:
    explicit WideRows(const MetricColumns& columns) : m_columns(columns), m_cells(columns.names().size()) {}

    void at(std::int64_t step, std::optional<TimeNs> time, Of of) override {
        if (step != m_step) flush();
        m_step = step;
        std::string& when = of == Of::Step ? m_time : m_measured;
        std::string text = secondsCell(time);
        if (of == Of::Machine && !when.empty() && when != text) flush();
        if (when.empty()) when = std::move(text);  // a validation comes behind the end of its step
    }
    void value(const char* metric, double value) override { cell(metric, fmt::format("{}", value)); }
    void value(const char* metric, std::int64_t value) override { cell(metric, fmt::format("{}", value)); }
    void flush() {
        if (!m_some) return;
        fmt::format_to(std::back_inserter(m_text), "{},{},{}", m_step, m_time, m_measured);
        for (auto& one : m_cells) {
            // With the least and the most of it, which trackers write beside a value: nothing is thinned out, so it is both.
            for (int times = 0; times < 3; ++times) {
                m_text += ',';
                m_text += one;
            }
            one.clear();
        }
        m_text += '\n';
        m_time.clear();
        m_measured.clear();
        m_some = false;
    }
    std::string take() { return std::exchange(m_text, {}); }

private:
    void cell(const char* metric, std::string text) {
        std::string& place = m_cells[m_columns.placeOf(metric)];
        if (!place.empty()) {
            const std::string time = m_time, measured = m_measured;
            flush();
            m_time = time;
            m_measured = measured;
        }
        place = std::move(text);
        m_some = true;
    }

    const MetricColumns& m_columns;
    std::vector<std::string> m_cells;
    std::string m_time, m_measured, m_text;
    std::int64_t m_step = 0;
    bool m_some = false;
};

}  // namespace

Status exportCsv(const std::string& database, std::int64_t session, std::ostream& out) {
    auto reader = SessionReader::open(database);
    if (!reader) return reader.error();
    const auto info = (*reader)->info(session);
    if (!info) return info.error();
    Lines lines(csvQuoted(info->name.empty() ? std::to_string(session) : info->name));
    bool begun = false;
    auto done = forEachMetric(**reader, session, "CSV", lines, [&]() -> Status {
        if (!std::exchange(begun, true)) out << "run,step,time,metric,value\n";
        out << lines.take();
        return out ? Status() : csvRefused(session);
    });
    if (!done) return done;
    if (!begun) out << "run,step,time,metric,value\n";
    out.flush();
    return out ? Status() : csvRefused(session);
}

Status exportCsvWide(const std::string& database, std::int64_t session, std::ostream& out, const ExportProgress& progress) {
    auto reader = SessionReader::open(database);
    if (!reader) return reader.error();
    const auto info = (*reader)->info(session);
    if (!info) return info.error();
    MetricColumns columns;
    if (auto done = forEachMetric(**reader, session, "CSV", columns, [&] { return stillWanted(progress); }); !done) return done;
    const std::string run = info->name.empty() ? std::to_string(session) : info->name;
    out << "Step," << csvQuoted(run + " - time") << ',' << csvQuoted(run + " - measured_at");
    for (const auto& name : columns.names())
        for (const char* of : {"", "__MIN", "__MAX"}) out << ',' << csvQuoted(run + " - " + name + of);
    out << '\n';
    WideRows rows(columns);
    auto done = forEachMetric(**reader, session, "CSV", rows, [&]() -> Status {
        out << rows.take();
        return out ? Status() : csvRefused(session);
    });
    if (!done) return done;
    rows.flush();
    out << rows.take();
    out.flush();
    return out ? Status() : csvRefused(session);
}

Status exportCsvFile(const std::string& database, std::int64_t session, const std::string& path) {
    return exportToFile(path, [&](std::ostream& out) { return exportCsv(database, session, out); });
}

}  // namespace stepscope
