// Every event and every command on the line and back. A new alternative is among them as soon as it is one of the variant's; what it lacks does not
// compile. CTest.
#include <gmock/gmock.h>

#include <bit>
#include <limits>

#include "core/events/Presets.h"
#include "sessions/wire/CommandFields.h"
#include "sessions/wire/EventWire.h"
#include "sessions/wire/InfoFields.h"
#include "sessions/wire/LayoutWords.h"
#include "sessions/wire/WireIo.h"

namespace stepscope {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// Gives every field that is listed a value of its own.
class Filler {
public:
    void operator()(const char*, std::int64_t& v) { v = ++m_next; }
    void operator()(const char*, double& v) { v = 0.1 * static_cast<double>(++m_next); }
    void operator()(const char*, bool& v) { v = !v; }
    void operator()(const char*, TimeNs& v) { v.ns = ++m_next; }
    void operator()(const char*, std::string& v) { v = "a text\n\xFF " + std::to_string(++m_next); }
    void operator()(const char*, Value& v) { v = 0.25 * static_cast<double>(++m_next); }
    template <WireWord E>
    void operator()(const char*, E& v) {
        v = lastWord(E{});
    }
    template <class T>
    void operator()(const char* name, std::optional<T>& v) {
        (*this)(name, v.emplace());
    }
    template <class T>
    void operator()(const char* name, std::vector<T>& v) {
        for (int i = 0; i < 2; ++i) (*this)(name, v.emplace_back());
    }

private:
    std::int64_t m_next = 0;
};

// Answers must be ones that can be.
void makePossible(auto&) {}
void makePossible(ExperimentJudged& judged) {
    judged.outcome = "faster";
    judged.ratio = 1.2;
    judged.low = 1.1;
    judged.high = 1.3;
    judged.equalTime.difference = judged.equalTime.low + 0.05;
}
void makePossible(ExperimentBegan& began) {
    began.delta = 0.011;
    began.alpha = 0.012;
}
void makePossible(StudyBegan& began) {
    began.delta = 0.011;
    began.alpha = 0.012;
}
void makePossible(StudyRow& row) {
    row.outcome = "faster";
    row.low = 1.1;
    row.high = 1.3;
}

SessionInfo someInfo() {
    SessionInfo info;
    Filler filler;
    filler("name", info.name);
    info.kind = SessionKind::Ladder;
    info.tags = {"a", ""};
    info.startedUnixMs = 17;
    info.config = presetConfig("tiny-cpu").value();
    info.config->data = "somewhere/\xFF with bytes.txt";
    info.config->lr = 0.1 + 0.2;
    info.config->switches = {{"amp", std::string("bf16")}, {"batch-size", std::int64_t{3}}, {"some", 0.1}};
    info.machine = Machine{.cpu = "A CPU", .cores = 3, .memory = {7}, .instructions = {"avx2"}, .system = "Some", .gpus = {{"GPU", {5}, 9, 0}}};
    info.trainTokens = 5;
    info.firstStep = 12;
    info.resumedFrom = "somewhere";
    info.goesOnWith = 2;
    return info;
}

template <class E>
E filled() {
    E event{};
    if constexpr (std::same_as<E, SessionStarted>) {
        event = {.session = 3, .info = std::make_shared<const SessionInfo>(someInfo()), .replay = true};
    } else {
        Filler filler;
        filler("at", event.at);
        fields(filler, event);
        makePossible(event);
    }
    return event;
}

template <class Variant, std::size_t... Places>
void forEach(const auto& check, std::index_sequence<Places...>) {
    (check(std::variant_alternative_t<Places, Variant>{}), ...);
}
void forEveryEvent(const auto& check) {
    forEach<AnyEvent>(check, std::make_index_sequence<std::variant_size_v<AnyEvent>>());
}
void forEveryCommand(const auto& check) {
    forEach<Command>(check, std::make_index_sequence<std::variant_size_v<Command>>());
}

template <class E>
Command filledCommand() {
    E command{};
    Filler filler;
    fields(filler, command);
    return command;
}

TEST(EventWire, EveryEventComesBackAsItWas) {
    forEveryEvent([]<class E>(const E&) {
        const Event event = filled<E>();
        const FrameBytes bytes = eventToBytes(7, event);
        const auto back = eventFromBytes(bytes);
        ASSERT_TRUE(back) << event.index() << ": " << back.error().sentence;
        EXPECT_EQ(back->number, 7u);
        ASSERT_EQ(back->event.index(), event.index());
        EXPECT_EQ(eventToBytes(7, back->event), bytes) << event.index();
        Event nothing = E{};
        if constexpr (std::same_as<E, SessionStarted>) std::get<E>(nothing).info = std::make_shared<const SessionInfo>();
        EXPECT_NE(eventToBytes(7, nothing), bytes) << event.index() << ": what is said depends on what it holds";
    });
}

TEST(EventWire, EveryCommandComesBackAsItWas) {
    forEveryCommand([]<class E>(const E&) {
        const Command command = filledCommand<E>();
        const FrameBytes bytes = commandToBytes(9, command);
        const auto back = commandFromBytes(bytes);
        ASSERT_TRUE(back) << command.index() << ": " << back.error().sentence;
        ASSERT_EQ(back->command.index(), command.index());
        EXPECT_EQ(back->number, 9u);
        EXPECT_EQ(commandToBytes(back->number, back->command), bytes) << command.index();
    });
}

TEST(EventWire, CommandsKeepWhatTheyAskFor) {
    GenerateText text{.prompt = "In the beginning", .tokens = 3, .temperature = 0.1, .topK = 4, .topP = 0.5, .seed = 6, .stop = {"\n", "."}};
    text.repetitionPenalty = 1.5;
    text.besides = {"Another", ""};
    const auto back = commandFromBytes(commandToBytes(1, text));
    ASSERT_TRUE(back);
    const auto& read = std::get<GenerateText>(back->command);
    EXPECT_EQ(read.prompt, text.prompt);
    EXPECT_EQ(read.stop, text.stop);
    EXPECT_EQ(read.besides, text.besides);
    EXPECT_EQ(read.repetitionPenalty, 1.5);
    EXPECT_EQ(read.seed, 6);
    EXPECT_EQ(std::get<Capture>(commandFromBytes(commandToBytes(1, Capture{.steps = 2, .slowest = false}))->command).slowest, false);
    EXPECT_EQ(std::get<Capture>(commandFromBytes(commandToBytes(1, Capture{}))->command).slowest, std::nullopt);
    EXPECT_EQ(std::get<Flip>(commandFromBytes(commandToBytes(1, Flip{"amp", std::string("bf16")}))->command).value, Value{std::string("bf16")});
}

TEST(EventWire, NumbersKeepEveryBit) {
    StepDone step{.step = 5, .at = {9}, .loss = 0.1 + 0.2, .learningRate = -0.0};
    step.gradientNorm = std::bit_cast<double>(0x7FF8000000000123ull);
    step.phaseNs[6] = std::numeric_limits<std::int64_t>::min();
    const auto back = eventFromBytes(eventToBytes(1, step));
    ASSERT_TRUE(back);
    const auto& read = std::get<StepDone>(back->event);
    for (const auto member : {&StepDone::loss, &StepDone::learningRate, &StepDone::gradientNorm, &StepDone::lossScale})
        EXPECT_EQ(std::bit_cast<std::uint64_t>(read.*member), std::bit_cast<std::uint64_t>(step.*member));
    EXPECT_EQ(read.phaseNs, step.phaseNs);
}

TEST(EventWire, WhatATableDoesNotHoldCrossesToo) {
    const TextGenerated text{
        .step = 1, .at = {2}, .prompt = "p", .text = "t", .complete = false, .promptPerSecond = 3, .textPerSecond = 4, .place = 2};
    const auto textBack = eventFromBytes(eventToBytes(1, text));
    ASSERT_TRUE(textBack);
    EXPECT_EQ(std::get<TextGenerated>(textBack->event).textPerSecond, 4);
    EXPECT_EQ(std::get<TextGenerated>(textBack->event).place, 2);
    EXPECT_EQ(std::get<TextGenerated>(textBack->event).at, TimeNs{2});

    CaptureDone capture{.step = 3, .at = {4}};
    capture.rows =
        std::make_shared<const std::vector<CapturedOperation>>(std::vector<CapturedOperation>{{.name = "aten::mm", .runs = 2, .self = {9}}});
    const auto captureBack = eventFromBytes(eventToBytes(1, capture));
    ASSERT_TRUE(captureBack);
    ASSERT_NE(std::get<CaptureDone>(captureBack->event).rows, nullptr);
    EXPECT_EQ(std::get<CaptureDone>(captureBack->event).rows->at(0).name, "aten::mm");
    EXPECT_EQ(std::get<CaptureDone>(captureBack->event).rows->at(0).self, TimeNs{9});
    capture.rows = nullptr;
    EXPECT_EQ(std::get<CaptureDone>(eventFromBytes(eventToBytes(1, capture))->event).rows, nullptr);
}

TEST(EventWire, ASessionKeepsItsSettingsAndItsMachine) {
    const SessionInfo info = someInfo();
    const auto back = eventFromBytes(eventToBytes(1, SessionStarted{4, std::make_shared<const SessionInfo>(info), false}));
    ASSERT_TRUE(back) << back.error().sentence;
    const auto& read = *std::get<SessionStarted>(back->event).info;
    EXPECT_EQ(read.config, info.config) << "every key, and bytes that are no text";
    EXPECT_EQ(read.machine, info.machine);
    EXPECT_EQ(read.name, info.name);
    EXPECT_EQ(read.kind, SessionKind::Ladder);
    EXPECT_EQ(read.tags, info.tags);
    EXPECT_EQ(read.firstStep, 12);
    SessionInfo bare;
    bare.config.reset();
    bare.machine.reset();
    const auto bareBack = eventFromBytes(eventToBytes(1, SessionStarted{4, std::make_shared<const SessionInfo>(bare), false}));
    ASSERT_TRUE(bareBack);
    EXPECT_FALSE(std::get<SessionStarted>(bareBack->event).info->config);
    EXPECT_FALSE(std::get<SessionStarted>(bareBack->event).info->machine);
}

TEST(EventWire, ABlockOfBulkDataComesBackAsItWas) {
    const Chunk chunk{.kind = "slices/2", .lane = -3, .begin = {5}, .end = {9}, .count = 2, .bytes = {std::byte{1}, std::byte{0}, std::byte{255}}};
    const auto back = chunkFromBytes(chunkToBytes(12, chunk));
    ASSERT_TRUE(back);
    EXPECT_EQ(back->number, 12u);
    EXPECT_EQ(back->chunk.kind, chunk.kind);
    EXPECT_EQ(back->chunk.lane, -3);
    EXPECT_EQ(back->chunk.begin, TimeNs{5});
    EXPECT_EQ(back->chunk.end, TimeNs{9});
    EXPECT_EQ(back->chunk.bytes, chunk.bytes);
    Chunk backwards = chunk;
    std::swap(backwards.begin, backwards.end);
    EXPECT_FALSE(chunkFromBytes(chunkToBytes(1, backwards)));
}

TEST(EventWire, WhatIsCutShortOrHasMoreBehindItIsOneSentenceWithThePlace) {
    forEveryEvent([]<class E>(const E&) {
        FrameBytes bytes = eventToBytes(1, filled<E>());
        for (std::size_t size = 0; size < bytes.size(); ++size) {
            const auto cut = eventFromBytes(FrameBytes(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size)));
            ASSERT_FALSE(cut) << size;
            EXPECT_THAT(cut.error().sentence, StartsWith("An event from the other side is damaged at byte "));
        }
        bytes.push_back(std::byte{0});
        EXPECT_THAT(eventFromBytes(bytes).error().sentence, EndsWith("more bytes follow than belong to it."));
    });
    forEveryCommand([]<class E>(const E&) {
        FrameBytes bytes = commandToBytes(1, filledCommand<E>());
        for (std::size_t size = 0; size < bytes.size(); ++size)
            EXPECT_FALSE(commandFromBytes(FrameBytes(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size)))) << size;
        bytes.push_back(std::byte{0});
        EXPECT_FALSE(commandFromBytes(bytes));
    });
}

FrameBytes bytesOf(std::initializer_list<int> all) {
    FrameBytes bytes;
    for (const int one : all) bytes.push_back(static_cast<std::byte>(one));
    return bytes;
}

TEST(EventWire, WhatCannotBeIsRefusedByName) {
    EXPECT_THAT(eventFromBytes(bytesOf({1, 100})).error().sentence, HasSubstr("an event that nobody knows"));
    EXPECT_THAT(commandFromBytes(bytesOf({1, 100})).error().sentence, HasSubstr("a command that nobody knows"));
    EXPECT_THAT(eventFromBytes(eventToBytes(1, LogLine{.at = {-1}, .text = "x"})).error().sentence, HasSubstr("before its session began"));
    constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
    for (const StepDone& step : {StepDone{.step = -1, .at = {1}}, StepDone{.step = kMost, .at = {1}}, StepDone{.step = 1, .at = {kMost}}})
        EXPECT_THAT(eventFromBytes(eventToBytes(1, step)).error().sentence, HasSubstr("a time or a step that cannot be"))
            << "step " << step.step << " at " << step.at.ns;
    ExperimentJudged judged;
    judged.outcome = "faster";
    judged.low = 0.5;
    judged.high = 2;
    EXPECT_THAT(eventFromBytes(eventToBytes(1, judged)).error().sentence, HasSubstr("an answer that cannot be"));
    SessionInfo info = someInfo();
    info.config->layers = -4;
    EXPECT_THAT(eventFromBytes(eventToBytes(1, SessionStarted{1, std::make_shared<const SessionInfo>(info), false})).error().sentence,
                HasSubstr("a setting that cannot be"));
    info = someInfo();
    info.machine->cores = 0;
    EXPECT_THAT(eventFromBytes(eventToBytes(1, SessionStarted{1, std::make_shared<const SessionInfo>(info), false})).error().sentence,
                HasSubstr("a machine that cannot be"));
    WireWriter text;  // GenerateText's fields up to its list of stops
    text.bytes().whole(1);
    text.bytes().whole(7);
    text("prompt", std::string());
    text("tokens", std::int64_t{1});
    text("temperature", 1.0);
    text("top_k", std::int64_t{0});
    text("top_p", 1.0);
    text("seed", std::int64_t{1});
    text.bytes().whole(std::uint64_t{1} << 62);
    EXPECT_THAT(commandFromBytes(text.take()).error().sentence, HasSubstr("a list that is longer than it can be"));
}

TEST(WireLayout, NamesTheFieldsOfAllThatIsSaidHere) {
    LayoutWords layout;
    addWireLayout(layout);
    // Of an event, a command, a session, an error, a setting, a list of files, data, weights, and a line that is taken up again.
    for (const char* field : {"gradient_norm:f8 ", "top_k:i8 ", "train_tokens:i8 ", "subject_kind:e", " data ", "folders_only:b", "unnamed:i8 ",
                              "validation:b", "shaped:", "anew:b", "behind:u8 ", "all:b"})
        EXPECT_THAT(layout.words(), HasSubstr(field));
}

TEST(WireLayout, IsAnotherOneWhereAFieldIsOfAnotherKindOfTheSameSize) {
    const auto hashOf = [](const auto& field) {
        LayoutWords layout;
        layout("field", field);
        return layout.hash();
    };
    EXPECT_NE(hashOf(std::int64_t{0}), hashOf(std::uint64_t{0}));
    EXPECT_NE(hashOf(std::int64_t{0}), hashOf(double{0}));
    EXPECT_EQ(hashOf(std::int64_t{0}), hashOf(std::int64_t{1}));
    EXPECT_EQ(hashOf(RunState::Paused), hashOf(RunState::Failed));
}

}  // namespace
}  // namespace stepscope
