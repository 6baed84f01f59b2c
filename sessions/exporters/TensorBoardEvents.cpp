#include "sessions/exporters/TensorBoardEvents.h"

#include <fmt/format.h>

#include <map>
#include <ostream>

#include "sessions/SessionStore.h"
#include "sessions/exporters/Metrics.h"
#include "sessions/exporters/ProtoMessage.h"
#include "sessions/file/MaskedCrc.h"

namespace stepscope {
namespace {

// Of tensorboard/compat/proto/event.proto and summary.proto.
enum EventField : std::uint32_t { kTbWallTime = 1, kTbStep = 2, kTbFileVersion = 3, kTbSummary = 5 };
enum SummaryField : std::uint32_t { kTbValue = 1 };
enum ValueField : std::uint32_t { kTbTag = 1, kTbSimpleValue = 2 };

// As TensorBoard groups charts: by what stands before the slash.
std::string tensorBoardTag(const std::string& metric) {
    static const std::map<std::string, std::string> known{{"validation_loss", "val/loss"},
                                                          {"validation_ms", "val/ms"},
                                                          {"gradient_norm", "train/grad_norm"},
                                                          {"step_ms", "time/step_ms"},
                                                          {"tokens_per_s", "time/tokens_per_s"},
                                                          {"checkpoint_ms", "time/checkpoint_ms"},
                                                          {"recorder_waited_ms", "time/recorder_waited_ms"},
                                                          {"cpu_pct", "machine/cpu_pct"},
                                                          {"others_pct", "machine/others_pct"},
                                                          {"steal_pct", "machine/steal_pct"},
                                                          {"throttled_pct", "machine/throttled_pct"},
                                                          {"cpu_clock_mhz", "machine/cpu_clock_mhz"},
                                                          {"cpu_temperature_c", "machine/cpu_temperature_c"},
                                                          {"cpu_power_w", "machine/cpu_power_w"},
                                                          {"cpu_energy_j", "machine/cpu_energy_j"},
                                                          {"sampled_resident_bytes", "machine/resident_bytes"},
                                                          {"available_bytes", "machine/available_bytes"}};
    if (const auto found = known.find(metric); found != known.end()) return found->second;
    if (metric.starts_with("phase_")) return "phase/" + metric.substr(6);
    if (metric.starts_with("gpu_")) return "machine/" + metric;
    return (metric.ends_with("_bytes") || metric == "page_faults" ? "memory/" : "train/") + metric;
}

std::string littleEndianOf(std::uint64_t value, int size) {
    std::string text;
    for (int i = 0; i < size; ++i) text += static_cast<char>(value >> (8 * i));
    return text;
}

std::string tfRecord(const std::string& data) {
    const std::string length = littleEndianOf(data.size(), 8);
    return length + littleEndianOf(maskedCrc(length), 4) + data + littleEndianOf(maskedCrc(data), 4);
}

// One Event for all values of a step and moment.
class EventRecords final : public MetricSink {
public:
    explicit EventRecords(double startedUnix) : m_started(startedUnix) {
        m_text = tfRecord(ProtoMessage().real(kTbWallTime, startedUnix).bytes(kTbFileVersion, "brain.Event:2").text());
    }
    // An event must say a time: where nobody knows it, that of the session's begin, which is when it was imported.
    void at(std::int64_t step, std::optional<TimeNs> time, Of) override {
        end();
        m_step = step;
        m_time = time.value_or(TimeNs{});
    }
    void value(const char* metric, double value) override {
        auto& tag = m_tags[metric];
        if (tag.empty()) tag = tensorBoardTag(metric);
        m_summary.message(kTbValue, ProtoMessage().bytes(kTbTag, tag).real32(kTbSimpleValue, static_cast<float>(value)));
    }
    void value(const char* metric, std::int64_t number) override { value(metric, static_cast<double>(number)); }
    void end() {
        if (!m_summary.empty())
            m_text += tfRecord(
                ProtoMessage().real(kTbWallTime, m_started + m_time.seconds()).integer(kTbStep, m_step).message(kTbSummary, m_summary).text());
        m_summary.clear();
    }
    std::string take() { return std::exchange(m_text, {}); }

private:
    double m_started;
    std::map<std::string, std::string> m_tags;
    ProtoMessage m_summary;
    std::int64_t m_step = 0;
    TimeNs m_time;
    std::string m_text;
};

}  // namespace

Status exportTensorBoard(const std::string& database, std::int64_t session, std::ostream& out) {
    auto reader = SessionReader::open(database);
    if (!reader) return reader.error();
    const auto info = (*reader)->info(session);
    if (!info) return info.error();
    EventRecords events(static_cast<double>(std::max<std::int64_t>(0, info->startedUnixMs)) * 1e-3);
    const auto write = [&]() -> Status {
        out << events.take();
        if (out) return {};
        return makeError(ErrorCode::Io, "The events could not be written; check the free room and the permissions of the target.");
    };
    if (auto done = forEachMetric(**reader, session, "TensorBoard's events", events, write); !done) return done;
    events.end();
    if (auto done = write(); !done) return done;
    out.flush();
    return write();
}

}  // namespace stepscope
