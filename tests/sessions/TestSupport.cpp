#include "tests/sessions/TestSupport.h"

#include <SQLiteCpp/Database.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "sessions/Columns.h"
#include "sessions/EventFields.h"
#include "sessions/EventTime.h"
#include "sessions/SessionStore.h"

namespace stepscope::test {
namespace {

// The third `io` of EventFields.h: name=value pairs.
struct TextWriter {
    std::string text;
    void operator()(const char* name, TimeNs v) { add(name, v.ns); }
    void operator()(const char* name, RunState v) { add(name, toString(v)); }
    void operator()(const char* name, Arm v) { add(name, toString(v)); }
    void operator()(const char* name, LogLevel v) { add(name, wordOf(v)); }
    void operator()(const char* name, Subject::Kind v) { add(name, toString(v)); }
    void operator()(const char* name, std::optional<ErrorCode> v) { add(name, v ? toString(*v) : ""); }
    void operator()(const char* name, const Value& v) { add(name, fmt::format("{}:{}", v.index(), stepscope::toString(v))); }
    void operator()(const char* name, const auto& v) { add(name, v); }
    void add(const char* name, const auto& v) { text += fmt::format(" {}={}", name, v); }
};

}  // namespace

TempFolder::TempFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "stepscope-test-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary folder");
    ::chmod(pattern.c_str(), 0755);
    m_path = pattern;
}

TempFolder::~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(m_path, ignored);
}

SessionInfo sampleInfo(const std::string& name) {
    SessionInfo info;
    info.name = name;
    info.notes = "notes, with \"quotes\" and\nlines";
    info.tags = {"first", "zweites, ü"};
    info.startedUnixMs = 1'700'000'000'123;
    info.config->preset = "tiny-cpu";
    info.config->lr = 0.1 + 0.2;
    info.config->data = "/some where/text.txt";
    info.config->switches = {{"amp", std::string("bf16")}, {"batch-size", std::int64_t{12}}, {"clip", 1.0}};
    info.machine->cpu = "Some CPU";
    info.machine->cores = 2;
    info.machine->memory = {8'000'000'000};
    info.machine->instructions = {"avx2", "avx512_bf16"};
    info.machine->system = "Linux";
    info.machine->stepscope = "0.1.0";
    info.machine->libtorch = "2.11.0";
    info.machine->gpus = {{"Some GPU", {80'000'000'000}, 9, 0}};
    info.machine->driver = "580.1";
    info.machine->whyNoCuda = "because";
    info.machine->whyNoProcessorEnergy = "hidden";
    info.vocabulary = 256;
    info.parameters = 820'000;
    info.trainTokens = 4'000'000;
    info.validationTokens = 400'000;
    info.firstStep = 7;
    info.resumedFrom = "/checkpoints/7";
    info.goesOnWith = 6;
    info.predictedBytes = 140'000'000;
    info.workers = 3;
    info.link = {{4096, 0.000125}, {4 << 20, 0.25}};
    return info;
}

StepDone sampleStep(std::int64_t step, TimeNs at) {
    StepDone done;
    done.step = step;
    done.at = at;
    done.duration = {900'000 + step % 7};
    done.loss = 5.5 / (1.0 + 0.01 * static_cast<double>(step));
    done.learningRate = 1e-3;
    done.gradientNorm = 0.5;
    done.tokens = 768;
    for (std::size_t phase = 0; phase < kPhases; ++phase) done.phaseNs[phase] = static_cast<std::int64_t>(100'000 + phase);
    done.residentBytes = 200'000'000;
    done.allocatedBytes = 100'000'000;
    done.pageFaults = 3;
    done.peakBytes = 150'000'000;
    done.operations = 41;
    return done;
}

std::shared_ptr<const std::vector<CapturedOperation>> sampleOperations() {
    return std::make_shared<const std::vector<CapturedOperation>>(
        std::vector<CapturedOperation>{{"aten::addmm", "matrix product", "forward", "attention/qkv", false, 8, 8, {5'000}, {4'000}},
                                       {"norm + QKV", "matrix product", "forward", "norm1 + attention/qkv", true, 2, 2, {900}, {900}},
                                       {"aten::view", "other", "", "", false, 12, 0, {10}, {10}}});
}

std::vector<Event> oneOfEachKind() {
    StepDone skipped = sampleStep(12, {1'700});
    skipped.loss = skipped.gradientNorm = kUnknown;
    skipped.lossScale = 65536;
    skipped.skipped = skipped.disturbed = true;
    return {
        Preparing{{1'000}, "tokenising", 0.25},
        Preparing{{1'050}, "building", kUnknown},
        StateChanged{{1'100}, 10, RunState::Running, ""},
        sampleStep(11, {1'200}),
        ValidationDone{11, {1'300}, {50}, 4.25},
        SwitchApplied{11, {1'400}, "amp", std::string("off"), std::string("bf16"), "a note"},
        SwitchApplied{11, {1'410}, "batch-size", std::int64_t{12}, std::int64_t{24}, ""},
        SwitchApplied{11, {1'420}, "clip", 1.0, 0.5, "1.0 stays a real number"},
        SwitchRefused{11,
                      {1'500},
                      "device",
                      std::string("cuda:0"),
                      "No NVIDIA driver is installed.",
                      ErrorCode::Unsupported,
                      {Subject::Kind::Switch, "device"}},
        DeviceSample{{1'600}, 97.5, 1, 2, 3.5, 4.5, 5.5, 6.5, 7.5, 8.5, 9.5, 10.5, 11.5, 12.5, 13.5, 14.5, 15.5, 16.5},
        DeviceSample{{1'610}, kUnknown, 1, 2},
        skipped,
        LogLine{{1'800}, 12, LogLevel::Warning, std::string("text with a \0 in it and ünïcode", 33)},
        LogLine{{1'800}, 12, LogLevel::Error, "the same instant, published later", ErrorCode::Io, {Subject::Kind::Checkpoint, "/checkpoints/12"}},
        CheckpointSaved{12, {1'900}, {60}, "/checkpoints/12"},
        TextGenerated{12, {2'000}, "In the", "In the beginning", false},
        TextGenerated{12, {2'010}, "In the", "In the beginning was", true},
        RecorderWaited{{2'100}, {70}},
        CaptureDone{12, {2'150}, {9'000}, 11, 2, 263.5, 1, sampleOperations(), {1'250.5, 96.25}},
        CaptureDone{.step = 12, .at = {2'160}, .rows = std::make_shared<const std::vector<CapturedOperation>>()},
        ExperimentBegan{12,
                        {2'170},
                        R"({"steps":3})",
                        R"({"steps":4})",
                        "amp=off beside amp=bf16",
                        true,
                        7,
                        60.5,
                        0.02,
                        0.05,
                        true,
                        "Not the same batch.",
                        "/checkpoints/12",
                        "weights.safetensors",
                        false,
                        20.5,
                        6,
                        false},
        BlockDone{12, {2'175}, {500}, 3, Arm::B, true, 2, 1, 40, 960, {70}, {12}, {90}, 4.5, 0.25, 1.5, 11, 5e6, 263, 8.5},
        BlockDone{.step = 12, .at = {2'178}},
        ExperimentJudged{.step = 12,
                         .at = {2'180},
                         .over = true,
                         .pair = 3,
                         .difference = 0.25,
                         .sameArm = -0.01,
                         .sameArmTurned = true,
                         .rebuild = 2,
                         .discarded = true,
                         .outcome = "faster",
                         .reason = "too-wide",
                         .why = "A sentence.",
                         .ratio = 1.25,
                         .low = 1.2,
                         .high = 1.3,
                         .floor = 1.01,
                         .rareSlowSteps = true,
                         .pairs = 4,
                         .left = 1,
                         .rebuilds = 2,
                         .secondsToGo = 9,
                         .seconds = 61,
                         .pilotVariance = 1e-4,
                         .pilotMad = 1e-3,
                         .othersLimit = 0.5,
                         .pilotPairs = 6,
                         .pairsARebuild = 2,
                         .equalTime = {20.5, 6, 2.25, 2.125, -0.125, -0.25, -0.0625, 410.5, 520}},
        ExperimentJudged{.step = 12, .at = {2'190}},
        StudyBegan{.at = {2'191},
                   .kind = "ladder",
                   .title = "mine",
                   .source = "- amp=bf16\n",
                   .unit = "ms a step",
                   .config = "{}",
                   .question = "9f",
                   .budgetSeconds = 290.5,
                   .delta = 0.02,
                   .alpha = 0.01,
                   .seed = 9,
                   .legs = 11,
                   .leaveOneOut = true,
                   .pairs = true,
                   .finalLook = false},
        StudyRow{.at = {2'192},
                 .row = 3,
                 .role = "rung",
                 .state = "measured",
                 .name = "bf16",
                 .settings = "amp=bf16",
                 .reported = "300",
                 .why = "a sentence",
                 .outcome = "faster",
                 .ratio = 1.5,
                 .low = 1.25,
                 .high = 1.75,
                 .total = 2.5,
                 .totalLow = 2.25,
                 .totalHigh = 2.75,
                 .msPerStep = 12.5,
                 .tokensPerSecond = 1e5,
                 .peakBytes = 1e8,
                 .operations = 96,
                 .loss = -0.001,
                 .floor = 1.0078125,
                 .pairs = 12,
                 .seconds = 20.5,
                 .keptSession = 3,
                 .keptVersions = "Stepscope 0.9",
                 .waits = true,
                 .arithmetic = "same"},
        StudyRow{.at = {2'193}},
        StateChanged{{2'200}, 12, RunState::Failed, "The loss is not a number.", ErrorCode::Training, {Subject::Kind::Key, "lr"}},
    };
}

std::string asText(const Event& event) {
    const auto plain = [](const char* kind, const auto& e) {
        TextWriter out;
        fields(out, e);
        return fmt::format("{} at={}{}", kind, e.at.ns, out.text);
    };
    return std::visit(
        Visitor{
            [](const SessionStarted& e) { return fmt::format("SessionStarted session={} name={} replay={}", e.session, e.info->name, e.replay); },
            [&](const StepDone& e) { return plain("StepDone", e); },
            [&](const ValidationDone& e) { return plain("ValidationDone", e); },
            [&](const SwitchApplied& e) { return plain("SwitchApplied", e); },
            [&](const SwitchRefused& e) { return plain("SwitchRefused", e); },
            [&](const DeviceSample& e) { return plain("DeviceSample", e); },
            [&](const LogLine& e) { return plain("LogLine", e); },
            [&](const StateChanged& e) { return plain("StateChanged", e); },
            [&](const CheckpointSaved& e) { return plain("CheckpointSaved", e); },
            [&](const TextGenerated& e) { return plain("TextGenerated", e); },
            [&](const Preparing& e) { return plain("Preparing", e); },
            [&](const RecorderWaited& e) { return plain("RecorderWaited", e); },
            [&](const CaptureDone& e) {
                std::string text = plain("CaptureDone", e);
                for (const auto& row : e.rows ? *e.rows : std::vector<CapturedOperation>()) {
                    TextWriter out;
                    fields(out, row);
                    text += "\n " + out.text;
                }
                return text;
            },
            [&](const ExperimentBegan& e) { return plain("ExperimentBegan", e); },
            [&](const BlockDone& e) { return plain("BlockDone", e); },
            [&](const ExperimentJudged& e) { return plain("ExperimentJudged", e); },
            [&](const StudyBegan& e) { return plain("StudyBegan", e); },
            [&](const StudyRow& e) { return plain("StudyRow", e); },
        },
        event);
}

std::vector<std::string> asText(const std::vector<Event>& events) {
    std::vector<std::string> all;
    for (const auto& event : events) all.push_back(asText(event));
    return all;
}

std::vector<Event> storedEvents(const std::string& database, std::int64_t session) {
    auto reader = SessionReader::open(database);
    if (!reader) throw std::runtime_error(reader.error().sentence);
    auto events = (*reader)->events(session, 0, 10'000'000);
    if (!events) throw std::runtime_error(events.error().sentence);
    return std::move(*events);
}

std::vector<std::int64_t> stepsOf(const std::vector<Event>& events) {
    std::vector<std::int64_t> steps;
    for (const auto& event : events)
        if (const auto* done = std::get_if<StepDone>(&event)) steps.push_back(done->step);
    return steps;
}

std::string pragma(const std::string& database, const std::string& name) {
    SQLite::Database connection(database, SQLite::OPEN_READONLY, 5000);
    return connection.execAndGet("PRAGMA " + name).getString();
}

std::string besideThis(const std::string& name) {
    return (std::filesystem::read_symlink("/proc/self/exe").parent_path() / name).string();
}

std::string contentOf(const std::string& path) {
    std::ostringstream all;
    all << std::ifstream(path, std::ios::binary).rdbuf();
    return all.str();
}

void writeFile(const std::string& path, const std::string& content) {
    std::ofstream(path, std::ios::binary) << content;
}

bool eventually(const std::function<bool()>& holds, double seconds) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
    while (!holds()) {
        if (std::chrono::steady_clock::now() > until) return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    return true;
}

int asOrdinaryUser(const std::function<int()>& body) {
    const pid_t child = ::fork();
    if (child == 0) {
        int status = 255;
        try {
            const uid_t nobody = 65534;
            if (::getuid() != 0 || ::setuid(nobody) == 0) status = body();
        } catch (const std::exception& thrown) {
            fmt::print(stderr, "{}\n", thrown.what());
        }
        ::_exit(status);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 254;
}

}  // namespace stepscope::test
