// Checkpoints: a resumed run continues the identical losses; a damaged one is refused with a sentence and nothing else happens.
#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/randn.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <future>
#include <limits>
#include <nlohmann/json.hpp>

#include "TinyTraining.h"
#include "core/events/Event.h"
#include "core/state/Checkpoint.h"
#include "core/state/SafeTensors.h"
#include "tests/sessions/FileSizeLimit.h"

namespace stepscope {
namespace {

namespace fs = std::filesystem;

class Checkpoint : public ::testing::Test {
protected:
    Checkpoint() {
        fs::remove_all(folder);
        fs::create_directories(folder);
    }
    ~Checkpoint() override { fs::remove_all(folder); }
    std::string path(const std::string& name) const { return (folder / name).string(); }
    // As versions wrote it that kept no hashes.
    static void forgetHashes(const std::string& checkpoint) {
        auto meta = nlohmann::json::parse(std::ifstream(checkpoint + "/state.json"));
        meta.erase("xxh128");
        std::ofstream(checkpoint + "/state.json") << meta;
    }

    fs::path folder = fs::temp_directory_path() / ("stepscope-checkpoint-" + std::to_string(::getpid()));
    Registry registry{testing::plainCpu()};
};

TEST_F(Checkpoint, AResumedRunContinuesTheIdenticalLossSequence) {
    RunConfig config = testing::tinyConfig(registry, 40);
    config.switches["vocab-padding"] = std::string("64");
    testing::TinyTrainer whole(config);
    whole.run();

    testing::TinyTrainer first(config);
    first.sink.onEvent = [&](const Event& event) {
        const auto* done = std::get_if<StepDone>(&event);
        if (done == nullptr || done->step != 17) return;
        first.commands.push(SaveCheckpoint{path("middle")});
        first.commands.push(Stop{});
    };
    first.run();
    testing::TinyTrainer second(config);
    auto state = loadCheckpoint(path("middle"), 64);
    ASSERT_TRUE(state.ok()) << state.error().sentence;
    second.setup.state = std::move(*state);
    second.run();

    auto joined = first.sink.losses();
    const auto rest = second.sink.losses();
    joined.insert(joined.end(), rest.begin(), rest.end());
    EXPECT_EQ(joined, whole.sink.losses());
}

TEST_F(Checkpoint, HoldsTheConfigurationAndTheShape) {
    const RunConfig config = testing::tinyConfig(registry, 40);
    const auto state = TrainState::initialise(registry.modelShape(config, 61), 9);
    ASSERT_TRUE(saveCheckpoint(path("a"), state, config, "", 1.5).ok());
    const auto meta = readCheckpointMeta(path("a"));
    ASSERT_TRUE(meta.ok()) << meta.error().sentence;
    EXPECT_EQ(meta->config, config);
    EXPECT_EQ(meta->model.vocabulary, 61);
    EXPECT_EQ(meta->seed, 9u);
    EXPECT_EQ(meta->loss, 1.5);
    EXPECT_FALSE(saveCheckpoint(path("a"), state, config, "", 1.5).ok()) << "nothing is written over";
    EXPECT_EQ(std::distance(fs::directory_iterator(folder), {}), 1) << "no unfinished folder stays behind";
}

TEST_F(Checkpoint, IsWrittenUnderABareNameInTheWorkingDirectory) {
    const RunConfig config = testing::tinyConfig(registry, 40);
    const auto state = TrainState::initialise(registry.modelShape(config, 61), 9);
    const fs::path before = fs::current_path();
    fs::current_path(folder);
    const Status saved = saveCheckpoint("half", state, config, "", 1.5);
    fs::current_path(before);
    EXPECT_TRUE(saved.ok()) << saved.error().sentence;
    EXPECT_TRUE(readCheckpointMeta(path("half")).ok());
}

TEST_F(Checkpoint, IsRefusedWithASentenceWhenAnythingInItIsDamaged) {
    const RunConfig config = testing::tinyConfig(registry, 40);
    const auto state = TrainState::initialise(registry.modelShape(config, 61), 9);
    const auto expectRefused = [&](const std::string& what, const std::function<void(const std::string&)>& damage) {
        for (const bool hashed : {true, false}) {
            const std::string at = path(what + (hashed ? "" : "-without-hashes"));
            ASSERT_TRUE(saveCheckpoint(at, state, config, "", 1.5).ok());
            if (!hashed) forgetHashes(at);
            damage(at);
            const auto read = loadCheckpoint(at, 61);
            ASSERT_FALSE(read.ok()) << what;
            EXPECT_NE(read.error().sentence.find(what), std::string::npos) << read.error().sentence;
            EXPECT_EQ(read.error().sentence.find('\n'), std::string::npos);
        }
    };
    expectRefused("no-state", [](const std::string& at) { fs::remove(at + "/state.json"); });
    expectRefused("half-state", [](const std::string& at) { fs::resize_file(at + "/state.json", 40); });
    expectRefused("empty-json", [](const std::string& at) { std::ofstream(at + "/state.json") << R"({"version":1})"; });
    expectRefused("short-weights",
                  [](const std::string& at) { fs::resize_file(at + "/model.safetensors", fs::file_size(at + "/model.safetensors") / 2); });
    expectRefused("no-optimizer", [](const std::string& at) { fs::remove(at + "/optimizer.safetensors"); });
    expectRefused("garbage", [](const std::string& at) { std::ofstream(at + "/model.safetensors") << "this is not a tensor file at all"; });
    expectRefused("other-shape", [&](const std::string& at) {
        auto other = TrainState::initialise({.layers = 2, .heads = 2, .width = 8, .vocabulary = 61, .paddedVocabulary = 61, .positions = 12}, 1);
        fs::remove_all(at + "x");
        ASSERT_TRUE(saveCheckpoint(at + "x", other, config, "", 0).ok());
        fs::copy_file(at + "x/model.safetensors", at + "/model.safetensors", fs::copy_options::overwrite_existing);
    });
}

TEST_F(Checkpoint, IsRefusedWhenOneByteOfItIsAnother) {
    const RunConfig config = testing::tinyConfig(registry, 40);
    const auto state = TrainState::initialise(registry.modelShape(config, 61), 9);
    for (const std::string name : {"model.safetensors", "optimizer.safetensors"}) {
        const std::string at = path("of-" + name), file = at + "/" + name;
        ASSERT_TRUE(saveCheckpoint(at, state, config, "", 1.5).ok());
        EXPECT_TRUE(loadCheckpoint(at, 61).ok());
        std::fstream bytes(file, std::ios::in | std::ios::out | std::ios::binary);
        bytes.seekg(-2, std::ios::end);
        const char changed = static_cast<char>(bytes.get() ^ 1);
        bytes.seekp(-2, std::ios::end);
        bytes.put(changed);
        bytes.close();
        const auto read = loadCheckpoint(at, 61);
        ASSERT_FALSE(read.ok()) << name;
        EXPECT_EQ(read.error().code, ErrorCode::Damaged);
        EXPECT_NE(read.error().sentence.find(file), std::string::npos) << read.error().sentence;
        forgetHashes(at);
        EXPECT_TRUE(loadCheckpoint(at, 61).ok()) << "checkpoints of before had no hash to tell by";
    }
}

TEST_F(Checkpoint, WhoseWeightsAreOfAnotherModelThanItsOptionsTellIsRefused) {
    RunConfig config = testing::tinyConfig(registry, 40);
    ASSERT_EQ(config.positions, "learned");
    const auto state = TrainState::initialise(registry.modelShape(config, 61), 9);
    ASSERT_TRUE(saveCheckpoint(path("a"), state, config, "", 1.5).ok());
    ASSERT_TRUE(loadCheckpoint(path("a"), 61).ok());
    auto meta = nlohmann::json::parse(std::ifstream(path("a") + "/state.json"));
    meta["config"]["positions"] = "rope";
    std::ofstream(path("a") + "/state.json") << meta;
    const auto refused = loadCheckpoint(path("a"), 61);
    ASSERT_FALSE(refused.ok()) << "it would go on without its positions";
    EXPECT_EQ(refused.error().code, ErrorCode::Damaged);
    EXPECT_NE(refused.error().sentence.find("wpe.weight"), std::string::npos) << refused.error().sentence;
}

// Each entry of state.json as a stranger may write it: refused before anything is allocated for it.
TEST_F(Checkpoint, IsRefusedWhenItsDescriptionClaimsWhatItsFilesCannotHold) {
    const RunConfig config = testing::tinyConfig(registry, 40);
    const auto state = TrainState::initialise(registry.modelShape(config, 61), 9);
    ASSERT_TRUE(saveCheckpoint(path("a"), state, config, "", 1.5).ok());
    const auto whole = nlohmann::json::parse(std::ifstream(path("a") + "/state.json"));
    const auto refusal = [&](const std::vector<std::pair<std::string, nlohmann::json>>& changes) {
        auto meta = whole;
        for (const auto& [where, value] : changes) meta[nlohmann::json::json_pointer(where)] = value;
        std::ofstream(path("a") + "/state.json") << meta;
        const auto read = readCheckpointMeta(path("a"));
        EXPECT_FALSE(read.ok()) << changes.front().first << " " << changes.front().second;
        return read ? Error{} : read.error();
    };
    for (const auto& [where, value] : std::vector<std::pair<std::string, nlohmann::json>>{{"/model/n_layer", 1e9},
                                                                                          {"/model/n_layer", 3},
                                                                                          {"/model/n_head", 0},
                                                                                          {"/model/n_embd", -16},
                                                                                          {"/model/vocab_size", 10'000'000},
                                                                                          {"/model/n_positions", 9'000'000},
                                                                                          {"/model/vocab_size", 1e30},
                                                                                          {"/cursor", std::numeric_limits<std::int64_t>::max()},
                                                                                          {"/step", -1},
                                                                                          {"/skipped", 7},
                                                                                          {"/loss_scale", 0},
                                                                                          {"/text", 3},
                                                                                          {"/config/layers", -1},
                                                                                          {"/config/heads", 0},
                                                                                          {"/config/dropout", 5}}) {
        const Error error = refusal({{where, value}});
        EXPECT_EQ(error.code, ErrorCode::Damaged) << where;
        EXPECT_NE(error.sentence.find(path("a") + "/state.json"), std::string::npos) << error.sentence;
    }
    // Both places agree, and the files are those of a smaller model.
    EXPECT_NE(refusal({{"/model/n_layer", 1000}, {"/config/layers", 1000}}).sentence.find("parameters"), std::string::npos);
    std::ofstream(path("a") + "/state.json") << whole;
    EXPECT_TRUE(readCheckpointMeta(path("a")).ok());
    // A file with a hole in it, larger than memory: said before any of it is read.
    std::filesystem::resize_file(path("a") + "/optimizer.safetensors", std::uintmax_t{1} << 36);
    const auto read = readCheckpointMeta(path("a"));
    ASSERT_FALSE(read);
    EXPECT_NE(read.error().sentence.find("optimizer.safetensors is larger"), std::string::npos) << read.error().sentence;
}

TEST_F(Checkpoint, IsRefusedWhenItsDescriptionNestsDeepOrIsLarge) {
    fs::create_directories(path("a"));
    std::ofstream(path("a") + "/state.json") << "{\"version\":1,\"config\":" << std::string(60'000, '[') << std::string(60'000, ']') << "}";
    auto read = readCheckpointMeta(path("a"));
    ASSERT_FALSE(read.ok());
    EXPECT_NE(read.error().sentence.find("nest"), std::string::npos);
    std::ofstream(path("a") + "/state.json") << "{\"version\":1,\"config\":\"" << std::string(20'000'000, 'x') << "\"}";
    read = readCheckpointMeta(path("a"));
    ASSERT_FALSE(read.ok());
    EXPECT_NE(read.error().sentence.find("too large"), std::string::npos);
}

// Whoever opens a pipe waits for one who writes: such a checkpoint kept every command waiting for ever.
TEST_F(Checkpoint, WhoseDescriptionIsAPipeIsRefusedAndNotWaitedFor) {
    const RunConfig config = testing::tinyConfig(registry, 40);
    const auto state = TrainState::initialise(registry.modelShape(config, 61), 9);
    ASSERT_TRUE(saveCheckpoint(path("a"), state, config, "", 1.5).ok());
    const std::string description = path("a") + "/state.json";
    ASSERT_EQ(::unlink(description.c_str()), 0);
    ASSERT_EQ(::mkfifo(description.c_str(), 0600), 0);
    auto reading = std::async(std::launch::async, [&] { return readCheckpointMeta(path("a")); });
    const bool answered = reading.wait_for(std::chrono::seconds(30)) == std::future_status::ready;
    EXPECT_TRUE(answered) << "it waits for somebody who writes";
    // So that a test that failed ends: the pipe is opened for writing, and closed.
    if (!answered) ::close(::open(description.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC));
    const auto read = reading.get();
    ASSERT_FALSE(read.ok());
    EXPECT_EQ(read.error().sentence, path("a") + " is not a checkpoint: its state.json is no ordinary file; name the folder of another checkpoint.");
}

TEST_F(Checkpoint, RemembersItsDataItsThreadsAndItsWorkers) {
    const RunConfig config = testing::tinyConfig(registry, 40);
    const auto state = TrainState::initialise(registry.modelShape(config, 61), 9);
    ASSERT_TRUE(saveCheckpoint(path("a"), state, config, "", 1.5, {"abc", 3, 2}).ok());
    auto meta = readCheckpointMeta(path("a"));
    ASSERT_TRUE(meta.ok()) << meta.error().sentence;
    EXPECT_EQ(meta->origin.text, "abc");
    EXPECT_EQ(meta->origin.threads, 3);
    EXPECT_EQ(meta->origin.workers, 2);
    auto older = nlohmann::json::parse(std::ifstream(path("a") + "/state.json"));
    older.erase("text");
    older.erase("threads");
    older.erase("workers");
    std::ofstream(path("a") + "/state.json") << older;
    meta = readCheckpointMeta(path("a"));
    ASSERT_TRUE(meta.ok()) << "older versions wrote none";
    EXPECT_TRUE(meta->origin.text.empty());
    EXPECT_EQ(meta->origin.workers, 0);
}

TEST_F(Checkpoint, SaysThatTheDiskTakesNoMore) {
    test::FileSizeLimit full(64);
    const auto saved = writeSafeTensors(path("full.safetensors"), {{"vector", at::randn({500})}});
    full.lift();
    ASSERT_FALSE(saved.ok());
    EXPECT_EQ(saved.error().code, ErrorCode::Io);
    EXPECT_NE(saved.error().sentence.find("full.safetensors cannot be written: File too large"), std::string::npos) << saved.error().sentence;
}

TEST_F(Checkpoint, IsMadeForItsOwnerAlone) {
    const RunConfig config = testing::tinyConfig(registry, 40);
    const auto state = TrainState::initialise(registry.modelShape(config, 61), 9);
    const auto before = ::umask(0);
    const auto saved = saveCheckpoint(path("deeper/a"), state, config, "", 1.5);
    ::umask(before);
    ASSERT_TRUE(saved.ok()) << saved.error().sentence;
    const auto has = [](const std::string& place, fs::perms wanted) { return (fs::status(place).permissions() & fs::perms::all) == wanted; };
    EXPECT_TRUE(has(path("deeper"), fs::perms::owner_all));
    EXPECT_TRUE(has(path("deeper/a"), fs::perms::owner_all));
    for (const char* name : {"model.safetensors", "optimizer.safetensors", "state.json"})
        EXPECT_TRUE(has(path("deeper/a/") + name, fs::perms::owner_read | fs::perms::owner_write)) << name;
}

TEST_F(Checkpoint, CannotBeWrittenWhereNoFolderCanBeMade) {
    const RunConfig config = testing::tinyConfig(registry, 40);
    const auto state = TrainState::initialise(registry.modelShape(config, 61), 9);
    const auto saved = saveCheckpoint("/proc/stepscope/x", state, config, "", 0);
    ASSERT_FALSE(saved.ok());
    EXPECT_NE(saved.error().sentence.find("/proc/stepscope"), std::string::npos);
}

TEST_F(Checkpoint, SafeTensorsComeBackBitForBitAndLowPrecisionWidens) {
    const at::Tensor matrix = at::randn({3, 5}), vector = at::arange(7, at::TensorOptions().dtype(at::kFloat));
    ASSERT_TRUE(writeSafeTensors(path("t.safetensors"), {{"matrix", matrix.t()}, {"vector", vector}}, {{"made", "here"}}).ok());
    const auto read = readSafeTensors(path("t.safetensors"));
    ASSERT_TRUE(read.ok());
    EXPECT_TRUE(at::equal(read->at("matrix"), matrix.t()));
    EXPECT_TRUE(at::equal(read->at("vector"), vector));

    const std::string header = R"({"half":{"dtype":"BF16","shape":[2],"data_offsets":[0,4]}})";
    const std::uint64_t length = header.size();
    std::ofstream file(path("b.safetensors"), std::ios::binary);
    file.write(reinterpret_cast<const char*>(&length), 8);
    file << header;
    const std::uint16_t values[] = {0x3f80, 0xc000};  // 1, -2 in bfloat16
    file.write(reinterpret_cast<const char*>(values), 4);
    file.close();
    const auto widened = readSafeTensors(path("b.safetensors"));
    ASSERT_TRUE(widened.ok()) << widened.error().sentence;
    EXPECT_EQ(widened->at("half")[0].item<float>(), 1.0f);
    EXPECT_EQ(widened->at("half")[1].item<float>(), -2.0f);
}

TEST_F(Checkpoint, SafeTensorsWithLyingHeadersAreRefused) {
    for (const std::string header :
         {R"({"x":{"dtype":"F32","shape":[4],"data_offsets":[0,8]}})", R"({"x":{"dtype":"F32","shape":[1e30],"data_offsets":[0,8]}})",
          R"({"x":{"dtype":"F99","shape":[2],"data_offsets":[0,8]}})",
          R"({"x":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,8]}})",
          R"({"x":{"dtype":"F32","shape":[2],"data_offsets":[8,0]}})", R"({"x":7})", R"([1])", R"({"x")"}) {
        const std::uint64_t length = header.size();
        std::ofstream file(path("lie.safetensors"), std::ios::binary);
        file.write(reinterpret_cast<const char*>(&length), 8);
        file << header << "12345678";
        file.close();
        EXPECT_FALSE(readSafeTensors(path("lie.safetensors")).ok()) << header;
    }
}

}  // namespace
}  // namespace stepscope
