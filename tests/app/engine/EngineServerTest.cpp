// The engine's side of the line, spoken to byte by byte: what it says first, that it ends with who asked for a run, and what it refuses. CTest.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <stdlib.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <future>
#include <limits>
#include <string>

#include "app/workbench/engine/EngineServer.h"
#include "app/workbench/engine/StartWords.h"
#include "core/events/Event.h"
#include "core/events/Presets.h"
#include "sessions/wire/EventWire.h"
#include "sessions/wire/Hello.h"
#include "sessions/wire/LookWords.h"

namespace stepscope {
namespace {

using ::testing::HasSubstr;

// Serves on a thread; this side writes and reads frames.
class Served {
public:
    Served() {
        std::signal(SIGPIPE, SIG_IGN);
        EXPECT_EQ(::pipe2(m_in.data(), O_CLOEXEC), 0);
        EXPECT_EQ(::pipe2(m_out.data(), O_CLOEXEC), 0);
        m_outcome = std::async(std::launch::async, [this] {
            const auto workbench = Workbench::create();
            Status status = serveEngine(*workbench, m_in[0], m_out[1]);
            ::close(m_out[1]);
            return status;
        });
    }
    ~Served() {
        hangUp();
        if (m_outcome.valid()) (void)m_outcome.get();
        ::close(m_in[0]);
        ::close(m_out[0]);
    }
    void write(const FrameBytes& bytes) { ASSERT_EQ(::write(m_in[1], bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size())); }
    void send(FrameType type, const FrameBytes& payload) { write(frameOf(type, payload)); }
    // Nothing: it has ended.
    std::optional<Frame> next() {
        while (true) {
            auto frame = m_frames.next();
            if (!frame) return std::nullopt;
            if (*frame) return std::move(*frame);
            std::array<std::byte, 4096> piece;
            const ssize_t count = ::read(m_out[0], piece.data(), piece.size());
            if (count <= 0) return std::nullopt;
            m_frames.add(piece.data(), static_cast<std::size_t>(count));
        }
    }
    std::optional<Frame> nextOf(FrameType type) {
        while (auto frame = next())
            if (frame->type == type) return frame;
        return std::nullopt;
    }
    void hangUp() {
        if (m_in[1] >= 0) ::close(m_in[1]);
        m_in[1] = -1;
    }
    Status outcome() { return m_outcome.get(); }

private:
    std::array<int, 2> m_in{-1, -1}, m_out{-1, -1};
    FrameReader m_frames;
    std::future<Status> m_outcome;
};

RunRequest tiny(std::int64_t steps) {
    RunRequest request;
    request.config = presetConfig("tiny-cpu").value();
    request.config.data = "generated";
    request.config.layers = 1;
    request.config.heads = 2;
    request.config.width = 32;
    request.config.threads = 1;
    request.config.steps = steps;
    request.config.warmup = 2;
    request.config.switches["batch-size"] = std::int64_t{2};
    request.config.switches["context"] = std::int64_t{32};
    request.record = false;
    return request;
}

TEST(EngineServer, SaysFirstWhoItIs) {
    Served served;
    const auto first = served.next();
    ASSERT_TRUE(first);
    const auto hello = engineHelloFrom(*first);
    ASSERT_TRUE(hello) << hello.error().sentence;
    EXPECT_GT(hello->machine.cores, 0);
    served.hangUp();
    EXPECT_TRUE(served.outcome());
}

TEST(EngineServer, NumbersWhatHappensFromOneAndEndsWithASummary) {
    Served served;
    served.send(FrameType::Start, startToBytes(tiny(4)));
    std::uint64_t number = 0;
    std::int64_t steps = 0;
    std::optional<Frame> frame = served.next();
    for (; frame && frame->type != FrameType::Summary; frame = served.next()) {
        if (frame->type != FrameType::Event) continue;
        const auto event = eventFromBytes(frame->payload);
        ASSERT_TRUE(event) << event.error().sentence;
        EXPECT_EQ(event->number, ++number);
        if (std::holds_alternative<StepDone>(event->event)) ++steps;
    }
    ASSERT_TRUE(frame) << "no summary came";
    EXPECT_EQ(steps, 4);
    const auto summary = summaryFromBytes(frame->payload);
    ASSERT_TRUE(summary);
    EXPECT_EQ(summary->state, RunState::Finished);
    EXPECT_GT(summary->peakMemoryBytes, 0);
    EXPECT_TRUE(served.outcome());
}

TEST(EngineServer, StopsItsRunAndEndsWhenWhoAskedForItHasGone) {
    Served served;
    served.send(FrameType::Start, startToBytes(tiny(1'000'000)));
    ASSERT_TRUE(served.nextOf(FrameType::Event));
    served.hangUp();
    const auto summary = served.nextOf(FrameType::Summary);
    ASSERT_TRUE(summary);
    EXPECT_EQ(summaryFromBytes(summary->payload)->state, RunState::Stopped);
    EXPECT_TRUE(served.outcome());
}

TEST(EngineServer, EndsThoughNobodyAnswersWhereTheSessionIsKept) {
    Served served;
    RunRequest request = tiny(5);
    request.record = true;
    served.send(FrameType::Start, startToBytes(request));
    const auto asked = served.nextOf(FrameType::Keep);
    ASSERT_TRUE(asked);
    const auto session = askedFromBytes(asked->payload);
    ASSERT_TRUE(session) << session.error().sentence;
    EXPECT_EQ(session->info.config->layers, 1);
    served.hangUp();
    EXPECT_TRUE(served.nextOf(FrameType::Summary));
    EXPECT_TRUE(served.outcome());
}

TEST(EngineServer, RefusesWhatIsNoFrameAndWhatAnEngineSays) {
    {
        Served served;
        served.write(FrameBytes(20, std::byte{'x'}));
        EXPECT_EQ(served.outcome().error().sentence, "What came is not what a window of Stepscope sends; start stepscope --engine instead.");
    }
    {
        Served served;
        served.send(FrameType::Summary, {});
        EXPECT_THAT(served.outcome().error().sentence, HasSubstr("what only an engine says"));
    }
    {
        Served served;
        served.send(FrameType::Command, {std::byte{1}, std::byte{100}});
        EXPECT_THAT(served.outcome().error().sentence, HasSubstr("a command that nobody knows"));
    }
}

TEST(EngineServer, CarriesOutEachCommandOnceAndKnowsWhenOneIsMissing) {
    {
        Served served;
        served.send(FrameType::Start, startToBytes(tiny(1'000'000)));
        ASSERT_TRUE(served.nextOf(FrameType::Event));
        served.send(FrameType::Command, commandToBytes(1, Flip{"amp", std::string("bf16")}));
        served.send(FrameType::Command, commandToBytes(1, Flip{"amp", std::string("off")}));
        int applied = 0, stepsAfter = 0;
        for (auto frame = served.next(); frame && stepsAfter < 20; frame = served.next()) {
            if (frame->type != FrameType::Event) continue;
            const Event event = eventFromBytes(frame->payload)->event;
            applied += std::holds_alternative<SwitchApplied>(event) ? 1 : 0;
            stepsAfter += applied > 0 && std::holds_alternative<StepDone>(event) ? 1 : 0;
        }
        EXPECT_EQ(applied, 1) << "said again, it is the same command";
        served.send(FrameType::Command, commandToBytes(2, Stop{}));
        const auto summary = served.nextOf(FrameType::Summary);
        ASSERT_TRUE(summary);
        EXPECT_EQ(summaryFromBytes(summary->payload)->state, RunState::Stopped);
    }
    Served served;
    served.send(FrameType::Command, commandToBytes(1, Pause{}));
    served.send(FrameType::Command, commandToBytes(3, Pause{}));
    EXPECT_THAT(served.outcome().error().sentence, HasSubstr("command 3 where 2 was due"));
}

TEST(EngineServer, LooksAtNoDataForAQuestionThatIsTakenBackInTheSameBreath) {
    std::string folder = (std::filesystem::temp_directory_path() / "stepscope-look-XXXXXX").string();
    ASSERT_NE(::mkdtemp(folder.data()), nullptr);
    const std::string text = folder + "/long.txt";
    std::ofstream(text, std::ios::binary) << std::string(std::size_t{20} << 20, 'a') << '\xff';
    Served served;
    const FrameBytes question = frameOf(FrameType::CheckData, dataAskedToBytes({.data = text})), never = frameOf(FrameType::NeverMind, {});
    FrameBytes both = question;
    both.insert(both.end(), never.begin(), never.end());
    served.write(both);
    const auto left = served.nextOf(FrameType::DataChecked);
    ASSERT_TRUE(left);
    EXPECT_FALSE(dataCheckedFromBytes(left->payload)->problem);
    served.write(question);
    const auto looked = served.nextOf(FrameType::DataChecked);
    ASSERT_TRUE(looked);
    EXPECT_TRUE(dataCheckedFromBytes(looked->payload)->problem) << "asked in earnest it is not UTF-8";
    std::filesystem::remove_all(folder);
}

TEST(EngineServer, EndsWithASentenceWhereItsGreetingCannotBeWritten) {
    const int in = ::open("/dev/null", O_RDONLY | O_CLOEXEC), out = ::open("/dev/full", O_WRONLY | O_CLOEXEC);
    ASSERT_TRUE(in >= 0 && out >= 0);
    const auto workbench = Workbench::create();
    const Status served = serveEngine(*workbench, in, out);
    ::close(in);
    ::close(out);
    ASSERT_FALSE(served);
    EXPECT_EQ(served.error().code, ErrorCode::Io);
    EXPECT_THAT(served.error().sentence, HasSubstr("cannot be written"));
}

TEST(EngineServer, TellsWhyARunCannotBe) {
    Served served;
    RunRequest request = tiny(5);
    request.config.switches["amp"] = std::string("nothing");
    served.send(FrameType::Start, startToBytes(request));
    const auto refused = served.nextOf(FrameType::Refused);
    ASSERT_TRUE(refused);
    EXPECT_THAT(errorFromBytes(refused->payload).sentence, HasSubstr("amp"));
}

TEST(StartWords, CarryAllThatARunIsAskedFor) {
    RunRequest request = tiny(7);
    request.name = "a name";
    request.notes = "notes\nof two lines";
    request.tags = {"one", "two"};
    request.record = false;
    request.init = "/somewhere/gpt2";
    request.initPartial = true;
    request.capture = Capture{.steps = 3, .firstStep = 9, .warmUp = 2};
    request.captureCap = 12;
    request.scheduled = {{5, Flip{"amp", std::string("bf16")}}, {6, Reseed{3}}};
    request.resume = "/somewhere/step-5";
    request.mayBeDone = true;
    request.localWorkers = 3;
    const auto read = startFromBytes(startToBytes(request));
    ASSERT_TRUE(read) << read.error().sentence;
    EXPECT_EQ(read->config, request.config);
    EXPECT_EQ(read->name, request.name);
    EXPECT_EQ(read->notes, request.notes);
    EXPECT_EQ(read->tags, request.tags);
    EXPECT_EQ(read->record, false);
    EXPECT_EQ(read->init, request.init);
    EXPECT_TRUE(read->initPartial);
    ASSERT_TRUE(read->capture);
    EXPECT_EQ(read->capture->warmUp, 2);
    EXPECT_EQ(read->captureCap, 12);
    ASSERT_EQ(read->scheduled.size(), 2u);
    EXPECT_EQ(read->scheduled[0].step, 5);
    EXPECT_EQ(std::get<Flip>(read->scheduled[0].command).id, "amp");
    EXPECT_EQ(std::get<Reseed>(read->scheduled[1].command).seed, 3);
    EXPECT_EQ(read->resume, request.resume);
    EXPECT_TRUE(read->mayBeDone);
    EXPECT_EQ(read->localWorkers, 3);
    request.localWorkers = 1'000'000;
    EXPECT_THAT(startFromBytes(startToBytes(request)).error().sentence, HasSubstr("more or fewer workers than there can be"));
}

TEST(StartWords, OfWhatCannotBeAreOneSentence) {
    RunRequest request = tiny(7);
    request.captureCap = -1;
    EXPECT_THAT(startFromBytes(startToBytes(request)).error().sentence, HasSubstr("less room for captures than none"));
    request.captureCap = 0;
    request.scheduled = {{0, Reseed{3}}};
    EXPECT_THAT(startFromBytes(startToBytes(request)).error().sentence, HasSubstr("a command before the first step"));
    SessionAsked asked{.info = {}, .now = {std::numeric_limits<std::int64_t>::max()}};
    EXPECT_THAT(askedFromBytes(askedToBytes(asked)).error().sentence, HasSubstr("a time before its session began, or years behind it"));
    asked = {.info = {}, .now = {5}};
    EXPECT_TRUE(askedFromBytes(askedToBytes(asked)));
    asked.info.trainTokens = -1;  // stored, the session could not be read again
    EXPECT_THAT(askedFromBytes(askedToBytes(asked)).error().sentence, HasSubstr("a count that cannot be"));
    EXPECT_THAT(placeFromBytes(placeToBytes({.session = 0, .checkpointFolder = {}})).error().sentence, HasSubstr("a session without a number"));
    EXPECT_THAT(storedFromBytes(storedToBytes({.chunkBytes = -1})).error().sentence, HasSubstr("fewer bytes than none"));
    RunSummary summary;
    summary.state = RunState::Running;
    EXPECT_THAT(summaryFromBytes(summaryToBytes(summary)).error().sentence, HasSubstr("a run that goes on"));
    summary.state = RunState::Finished;
    EXPECT_TRUE(summaryFromBytes(summaryToBytes(summary)));
    summary.lostCheckpoints = -1;
    EXPECT_THAT(summaryFromBytes(summaryToBytes(summary)).error().sentence, HasSubstr("a count below zero"));
}

TEST(StartWords, CutShortAreOneSentence) {
    RunRequest request = tiny(7);
    request.capture = Capture{.steps = 3};
    request.scheduled = {{5, Flip{"amp", std::string("bf16")}}};
    const FrameBytes whole = startToBytes(request);
    for (std::size_t size = 0; size < whole.size(); ++size) {
        const auto cut = startFromBytes(FrameBytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)));
        ASSERT_FALSE(cut) << size;
        EXPECT_THAT(cut.error().sentence, HasSubstr("What is to be trained from the other side is damaged at byte "));
    }
}

}  // namespace
}  // namespace stepscope
