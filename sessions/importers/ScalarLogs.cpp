#include "sessions/importers/ScalarLogs.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <memory>
#include <utility>

#include "core/base/Format.h"
#include "core/events/Event.h"
#include "sessions/file/MaskedCrc.h"
#include "sessions/importers/ByteSource.h"
#include "sessions/importers/ProtoFields.h"

namespace stepscope::importing {
namespace {

constexpr std::size_t kLongestEventRecord = std::size_t{64} << 20;
constexpr std::size_t kLongestLogLine = std::size_t{16} << 20;  // as of a row of CSV
constexpr std::size_t kLargestLog = std::size_t{256} << 20;
constexpr double kMostStepNumber = 4e9;                             // of such a log: its place in time is a number of ns
constexpr std::int64_t kMostEventStep = 1'000'000'000'000'000'000;  // of TensorBoard: more is nobody's run
constexpr double kMostTokensOfAStep = 1e15;
constexpr std::int64_t kStepApart = 1'000'000;  // ns, where a log has no times

template <std::size_t N>
bool among(const std::string& word, const std::array<const char*, N>& words) {
    return std::ranges::find(words, word) != words.end();
}

Error wrongAt(const std::string& path, const char* what, std::size_t at, const std::string& why) {
    return makeError(ErrorCode::BadInput, fmt::format("\"{}\" cannot be read as {}: {} at byte {}; copy it again.", path, what, why, at))
        .about(Subject::Kind::File, path);
}

constexpr const char* kEvents = "TensorBoard's events";
constexpr const char* kLlmcLog = "a log of llm.c";

class EventReader {
public:
    EventReader(const std::string& path, TraceBuilder& trace, ScalarSteps& steps, bool timed)
        : m_path(path), m_trace(trace), m_steps(steps), m_timed(timed) {}

    Status event(std::string_view record, std::size_t at) {
        double wall = 0;
        std::int64_t step = 0;
        std::string_view summary;
        ProtoFields fields(record);
        while (fields.next()) {
            if (fields.field == 1 && fields.bytes.size() == 8) wall = std::bit_cast<double>(littleEndian<std::uint64_t>(fields.bytes, 0));
            if (fields.field == 2) step = static_cast<std::int64_t>(fields.number);
            if (fields.field == 5) summary = fields.bytes;
        }
        if (!fields.good()) return wrongAt(m_path, kEvents, at, "an event is damaged");
        if (summary.empty()) return {};
        if (!std::isfinite(wall) || wall < 0 || wall > 4e9 || step < 0 || step > kMostEventStep) {
            m_trace.skip("a time or a step that cannot be");
            return {};
        }
        if (!m_timed && static_cast<double>(step) > kMostStepNumber) {
            m_trace.skip("a time or a step that cannot be");
            return {};
        }
        const std::int64_t atNs = m_timed ? static_cast<std::int64_t>(wall * 1e9) : step * kStepApart;
        ProtoFields values(summary);
        while (values.next())
            if (values.field == 1) value(values.bytes, step, atNs);
        if (!values.good()) return wrongAt(m_path, kEvents, at, "a summary is damaged");
        return {};
    }

private:
    void value(std::string_view message, std::int64_t step, std::int64_t atNs) {
        std::string tag;
        std::optional<double> number;
        ProtoFields fields(message);
        while (fields.next()) {
            if (fields.field == 1) tag = std::string(fields.bytes.substr(0, 4096));
            if (fields.field == 2 && fields.bytes.size() == 4) number = std::bit_cast<float>(littleEndian<std::uint32_t>(fields.bytes, 0));
            if (fields.field == 8) number = tensor(fields.bytes);
        }
        if (!fields.good() || !number) return m_trace.skip("values that are no scalars (images, histograms, texts)");
        if (!std::isfinite(*number)) return m_trace.skip("a value that is no finite number");
        ScalarSteps::Step probe;
        const double* const place = scalarPlaceOf(probe, tag);
        if (place != nullptr && m_steps.takes(step)) {
            // A validation comes behind its step, which keeps its own time.
            ScalarSteps::Step& of = place == &probe.validation ? m_steps.validated(step, atNs, m_timed) : m_steps.at(step, atNs, m_timed);
            *scalarPlaceOf(of, tag) = *number;
        }
        m_trace.sample("0", tag, "", atNs, *number);
    }
    // A tensor of one number, as newer writers put scalars: dtype 1 is a float, among float_val or as bytes, and 2 a double, among double_val.
    static std::optional<double> tensor(std::string_view message) {
        constexpr std::uint64_t kFloat = 1, kDouble = 2;
        std::uint64_t type = 0;
        std::optional<double> single, wide;
        ProtoFields fields(message);
        while (fields.next()) {
            if (fields.field == 1) type = fields.number;
            if ((fields.field == 5 || fields.field == 4) && fields.bytes.size() == 4)
                single = std::bit_cast<float>(littleEndian<std::uint32_t>(fields.bytes, 0));
            if ((fields.field == 6 || fields.field == 4) && fields.bytes.size() == 8)
                wide = std::bit_cast<double>(littleEndian<std::uint64_t>(fields.bytes, 0));
        }
        if (!fields.good()) return std::nullopt;
        return type == kFloat ? single : type == kDouble ? wide : std::nullopt;
    }

    const std::string& m_path;
    TraceBuilder& m_trace;
    ScalarSteps& m_steps;
    const bool m_timed;
};

// Bytes that come in pieces, of which no more are held than were asked for and the rest of a piece.
class RecordBytes {
public:
    explicit RecordBytes(std::function<std::string()> next) : m_next(std::move(next)) {}  // the next piece; empty: no more

    // So many from here, fewer only at the end; valid until the next call.
    std::string_view ahead(std::size_t wanted) {
        while (m_bytes.size() - m_begin < wanted)
            if (!more()) break;
        return std::string_view(m_bytes).substr(m_begin, wanted);
    }
    // All before the next line feed, or the end; of what is longer than `longest` as much as has come. Valid until the next call.
    std::string_view line(std::size_t longest) {
        for (std::size_t seen = 0;;) {
            const auto end = m_bytes.find('\n', m_begin + seen);
            if (end != std::string::npos) return std::string_view(m_bytes).substr(m_begin, end - m_begin);
            seen = m_bytes.size() - m_begin;
            if (seen > longest || !more()) return std::string_view(m_bytes).substr(m_begin);
        }
    }
    void skip(std::size_t bytes) {
        m_begin += bytes;
        m_at += bytes;
    }
    std::size_t at() const { return m_at; }  // of the whole

private:
    bool more() {
        const std::string piece = m_next();
        if (piece.empty()) return false;
        m_bytes.erase(0, m_begin);
        m_begin = 0;
        m_bytes += piece;
        return true;
    }

    const std::function<std::string()> m_next;
    std::string m_bytes;
    std::size_t m_begin = 0, m_at = 0;
};

// atOnce: in pieces of so many.
RecordBytes bytesInMemory(std::string_view bytes, std::size_t atOnce = std::string_view::npos) {
    return RecordBytes([bytes, atOnce]() mutable {
        std::string piece(bytes.substr(0, atOnce));
        bytes.remove_prefix(piece.size());
        return piece;
    });
}

// Whether it tells times: no two steps of a program are of one moment, so that a file in which all are was written without them. What is damaged is
// told when it is read.
bool tellsTimes(RecordBytes& bytes) {
    std::optional<double> wall;
    std::optional<std::uint64_t> step;
    bool steps = false;
    for (;;) {
        const std::string_view head = bytes.ahead(16);
        if (head.size() < 16) break;
        const auto size = littleEndian<std::uint64_t>(head, 0);
        if (size > kLongestEventRecord) break;
        const std::string_view whole = bytes.ahead(16 + size);
        if (whole.size() < 16 + size) break;
        double thisWall = 0;
        std::uint64_t thisStep = 0;
        bool summary = false;
        ProtoFields fields(whole.substr(12, size));
        while (fields.next()) {
            if (fields.field == 1 && fields.bytes.size() == 8) thisWall = std::bit_cast<double>(littleEndian<std::uint64_t>(fields.bytes, 0));
            if (fields.field == 2) thisStep = fields.number;
            if (fields.field == 5) summary = true;
        }
        bytes.skip(16 + size);
        if (!summary) continue;
        if (wall && *wall != thisWall) return true;
        wall = thisWall;
        steps = steps || (step && *step != thisStep);
        step = thisStep;
    }
    return !steps && !(wall && *wall == 0);
}

// A file's pieces. They end early where the import is stopped or the file cannot be read: then status is why.
class LogPieces {
public:
    LogPieces(std::unique_ptr<ByteSource> source, const std::string& path, const std::function<bool(double)>& go)
        : m_source(std::move(source)), m_path(path), m_go(go) {}

    std::string next() {
        if (!status) return {};
        if (!m_go(m_source->fraction())) {
            status = makeError(ErrorCode::Cancelled, "The import was stopped; nothing of it is stored.");
            return {};
        }
        std::string piece = m_source->next();
        if (piece.empty()) {
            status = m_source->status();
            return {};
        }
        m_read += piece.size();
        if (m_read > kLargestLog) {
            status = wrongAt(m_path, "a log", m_read, "it is larger than 256 MiB");
            return {};
        }
        return piece;
    }
    Status status;

private:
    const std::unique_ptr<ByteSource> m_source;
    const std::string& m_path;
    const std::function<bool(double)>& m_go;
    std::size_t m_read = 0;
};

Status readRecords(RecordBytes& bytes, EventReader& reader, const std::string& path, TraceBuilder& trace) {
    for (;;) {
        const std::size_t at = bytes.at();
        // A program that still runs, or was killed, ends like this: what is whole is kept.
        const auto cut = [&] {
            trace.skip(fmt::format("a last record that is not whole, at byte {}", at));
            return Status();
        };
        const std::string_view head = bytes.ahead(12);
        if (head.empty()) return {};
        if (head.size() < 12) return at > 0 ? cut() : Status(wrongAt(path, kEvents, at, "it ends in the middle of a record"));
        const auto size = littleEndian<std::uint64_t>(head, 0);
        if (littleEndian<std::uint32_t>(head, 8) != maskedCrc(head.substr(0, 8)))
            return wrongAt(path, kEvents, at, "the checksum of a length is wrong");
        if (size > kLongestEventRecord) return wrongAt(path, kEvents, at, "a record of more than 64 MiB begins");
        const std::string_view whole = bytes.ahead(16 + size);
        if (whole.size() < 16 + size) return cut();
        const std::string_view record = whole.substr(12, size);
        if (littleEndian<std::uint32_t>(whole, 12 + size) != maskedCrc(record))
            return wrongAt(path, kEvents, at + 12, "the checksum of a record is wrong");
        if (auto read = reader.event(record, at + 12); !read) return read;
        bytes.skip(16 + size);
    }
}

// "trl:3.2000" of a line: the number behind the word.
std::optional<double> behind(std::string_view line, std::string_view word) {
    const auto at = line.find(word);
    if (at == std::string_view::npos || (at > 0 && line[at - 1] != ' ')) return std::nullopt;
    const std::string_view rest = line.substr(at + word.size());
    double value = 0;
    const auto [end, problem] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
    return problem == std::errc{} ? std::optional(value) : std::nullopt;
}

// Line by line, so that a large log takes little memory.
Status readLlmcLines(RecordBytes& bytes, const std::string& path, TraceBuilder& trace, ScalarSteps& steps) {
    while (!bytes.ahead(1).empty()) {
        const std::size_t at = bytes.at();
        std::string_view line = bytes.line(kLongestLogLine);
        const std::size_t size = line.size();
        if (size > kLongestLogLine) return wrongAt(path, kLlmcLog, at, "a line of more than 16 MiB begins");
        if (line.ends_with('\r')) line.remove_suffix(1);
        const auto number = behind(line, "s:");
        if (line.starts_with("s:") && number && *number >= 0 && *number < kMostStepNumber) {
            const auto step = static_cast<std::int64_t>(*number);
            if (!steps.hasRoom(step)) return wrongAt(path, kLlmcLog, at, fmt::format("more than {} steps end", steps.most()));
            const std::int64_t when = step * kStepApart;
            auto& one = steps.at(step, when, /*told=*/false);
            const auto take = [&](const char* word, double& into) {
                const auto value = behind(line, word);
                if (value && std::isfinite(*value)) into = *value;
                return value.has_value();
            };
            const bool train = take("trl:", one.loss), validation = take("tel:", one.validation);
            take("lr:", one.learningRate);
            take("norm:", one.gradientNorm);
            if (const auto eval = behind(line, "eval:"))
                trace.sample("0", "HellaSwag", "", when, *eval);
            else if (!train && !validation)
                trace.skip("lines without a loss");
        } else if (!line.empty()) {
            trace.skip("lines that are none of llm.c's log");
        }
        bytes.skip(size);
        if (!bytes.ahead(1).empty()) bytes.skip(1);  // the line feed
    }
    return {};
}

}  // namespace

std::string lowered(std::string_view text) {
    std::string out;
    for (const char c : text) out += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c == '_' || c == '.' || c == ' ' ? '/' : c;
    return out;
}

double* scalarPlaceOf(ScalarSteps::Step& step, const std::string& tag) {
    const std::string word = lowered(tag);
    if (among(word, std::array{"loss", "train/loss", "loss/train", "training/loss", "loss/training", "train/train/loss"})) return &step.loss;
    if (among(word, std::array{"val/loss", "loss/val", "validation/loss", "loss/validation", "eval/loss", "loss/eval", "test/loss", "loss/test",
                               "loss/valid", "valid/loss"}))
        return &step.validation;
    if (among(word, std::array{"lr", "learning/rate", "train/lr", "train/learning/rate"})) return &step.learningRate;
    if (among(word, std::array{"grad/norm", "train/grad/norm", "gradient/norm"})) return &step.gradientNorm;
    return nullptr;
}

ScalarSteps::Step& ScalarSteps::at(std::int64_t step, std::int64_t atNs, bool told) {
    Step& found = m_steps[step];
    // A time that one log tells stands, whatever place another one without times has given the step.
    if (told && !found.told)
        found.at = atNs;
    else if (told == found.told)
        found.at = std::max(found.at, atNs);
    found.told = found.told || told;
    return found;
}

ScalarSteps::Step& ScalarSteps::validated(std::int64_t step, std::int64_t atNs, bool told) {
    Step& found = m_steps[step];
    found.validatedAt = atNs;
    found.validationTold = told;
    return found;
}

bool ScalarSteps::hasRoom(std::int64_t step) const {
    return m_steps.size() < m_most || m_steps.contains(step);
}

bool ScalarSteps::takes(std::int64_t step) {
    const bool fits = hasRoom(step);
    if (!fits) ++m_leftOut;
    return fits;
}

std::string ScalarSteps::leftOut() const {
    if (m_leftOut == 0) return {};
    return fmt::format("A session takes {} steps of logs: {} of later ones {} in its counters alone.",
                       format::count(static_cast<std::int64_t>(m_most)),
                       m_leftOut == 1 ? std::string("1 value") : format::count(m_leftOut) + " values", m_leftOut == 1 ? "is" : "are");
}

std::int64_t ScalarSteps::firstNs() const {
    if (m_begin) return *m_begin;
    std::int64_t first = std::numeric_limits<std::int64_t>::max();
    for (const auto& [number, step] : m_steps) first = std::min(first, step.validatedAt >= 0 && std::isnan(step.loss) ? step.validatedAt : step.at);
    return m_steps.empty() ? 0 : first;
}

bool ScalarSteps::knowsTimes() const {
    return std::ranges::all_of(m_steps, [](const auto& numbered) {
        const Step& step = numbered.second;
        if (std::isfinite(step.loss) && !step.told) return false;
        return !std::isfinite(step.validation) || (step.validatedAt >= 0 ? step.validationTold : step.told);
    });
}

bool ScalarSteps::knowsSomeTimes() const {
    return std::ranges::any_of(m_steps, [](const auto& numbered) { return numbered.second.told || numbered.second.validationTold; });
}

std::vector<Event> ScalarSteps::events(std::int64_t origin) const {
    std::vector<Event> all;
    forEachEvent(origin, [&](Event&& event) {
        all.push_back(std::move(event));
        return true;
    });
    return all;
}

void ScalarSteps::forEachEvent(std::int64_t origin, const std::function<bool(Event&&)>& take) const {
    std::int64_t before = 0, beforeAt = 0;
    bool timed = false;  // of the step before its time is told
    for (const auto& [number, step] : m_steps) {
        const TimeNs at{step.at - origin};
        if (std::isfinite(step.loss)) {
            std::int64_t took = timed && step.told && step.at > beforeAt ? (step.at - beforeAt) / std::max<std::int64_t>(1, number - before) : 0;
            if (std::isfinite(step.milliseconds)) took = std::llround(step.milliseconds * 1e6);
            StepDone done{.step = number,
                          .at = at,
                          .duration = {took},
                          .loss = step.loss,
                          .learningRate = step.learningRate,
                          .gradientNorm = step.gradientNorm};
            const double tokens = std::isfinite(step.tokens) ? step.tokens : step.tokensPerSecond * done.duration.seconds();
            if (std::isfinite(tokens) && tokens < kMostTokensOfAStep) done.tokens = std::llround(tokens);
            if (!take(done)) return;
            before = number;
            beforeAt = step.at;
            timed = step.told;
        }
        if (!std::isfinite(step.validation)) continue;
        if (!take(ValidationDone{
                .step = number, .at = {step.validatedAt >= 0 ? step.validatedAt - origin : at.ns}, .duration = {0}, .loss = step.validation}))
            return;
    }
}

bool looksLikeEventFile(std::string_view head) {
    if (head.size() < 12) return false;
    return littleEndian<std::uint32_t>(head, 8) == maskedCrc(head.substr(0, 8));
}

bool looksLikeLlmcLog(std::string_view head) {
    std::int64_t lines = 0, others = 0;
    while (!head.empty()) {
        const auto end = head.find('\n');
        const std::string_view line = head.substr(0, end);
        if (line.starts_with("s:") && line.find(':', 2) != std::string_view::npos)
            ++lines;
        else if (!line.empty())
            ++others;
        if (end == std::string_view::npos) break;
        head.remove_prefix(end + 1);
    }
    return lines > others;
}

Status readEventBytes(std::string_view bytes, const std::string& path, TraceBuilder& trace, ScalarSteps& steps) {
    auto first = bytesInMemory(bytes), all = bytesInMemory(bytes);
    EventReader reader(path, trace, steps, tellsTimes(first));
    return readRecords(all, reader, path, trace);
}

Status readLlmcText(std::string_view text, const std::string& path, TraceBuilder& trace, ScalarSteps& steps, std::size_t atOnce) {
    auto bytes = bytesInMemory(text, atOnce);
    return readLlmcLines(bytes, path, trace, steps);
}

// Read twice, record by record, so that a large one takes little memory: whether it tells times is known at its second step as a rule.
Status readEventFile(const std::string& path, TraceBuilder& trace, ScalarSteps& steps, const std::function<bool(double)>& go) {
    bool timed = false;
    {
        auto source = ByteSource::open(path);
        if (!source) return source.error();
        const std::function<bool(double)> goes = [&](double) { return go(0); };  // what is shown does not go back
        LogPieces pieces(std::move(*source), path, goes);
        RecordBytes bytes([&] { return pieces.next(); });
        timed = tellsTimes(bytes);
        if (!pieces.status) return pieces.status;
    }
    auto source = ByteSource::open(path);
    if (!source) return source.error();
    LogPieces pieces(std::move(*source), path, go);
    RecordBytes bytes([&] { return pieces.next(); });
    trace.file().source = "tensorboard";
    EventReader reader(path, trace, steps, timed);
    const Status read = readRecords(bytes, reader, path, trace);
    return pieces.status ? read : pieces.status;  // what could not be read looks like a cut record
}

Status readLlmcLog(const std::string& path, TraceBuilder& trace, ScalarSteps& steps, const std::function<bool(double)>& go) {
    auto source = ByteSource::open(path);
    if (!source) return source.error();
    LogPieces pieces(std::move(*source), path, go);
    RecordBytes bytes([&] { return pieces.next(); });
    trace.file().source = "llm.c";
    const Status read = readLlmcLines(bytes, path, trace, steps);
    return pieces.status ? read : pieces.status;
}

}  // namespace stepscope::importing
