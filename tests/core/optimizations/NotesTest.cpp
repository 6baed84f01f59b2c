// What the registry says of a value that runs: that it does nothing beside the other switches, or what it costs on this machine. An entry whose
// note has no case here fails.
#include <gtest/gtest.h>

#include <set>

#include "TinyTraining.h"
#include "core/events/ConfigKeys.h"
#include "core/events/Event.h"

namespace stepscope {
namespace {

// A value with something to know of it, where others take its effect away or the machine makes it dear.
struct NoteCase {
    bool gpu;
    std::vector<std::pair<std::string, std::string>> values;
    std::string id, part;  // of the sentence; empty = nothing is said
};

// Of the GPU only the verdicts are asked.
Machine machineOf(const NoteCase& c) {
    Machine machine = testing::plainCpu();
    if (c.gpu) machine.gpus.push_back({.name = "a GPU", .memory = {80'000'000'000}, .computeMajor = 9, .computeMinor = 0});
    return machine;
}

std::vector<NoteCase> noteCases() {
    std::vector<NoteCase> all{
        {false, {{"chunked-loss", "64"}, {"fusion", "step"}}, "chunked-loss", "chunked-loss=64 does nothing beside fusion=step"},
        {false, {{"chunked-loss", "32"}, {"fusion", "kernels"}}, "chunked-loss", ""},
        {false, {{"chunked-loss", "32"}, {"fusion", "step"}, {"attention", "manual"}}, "chunked-loss", ""},  // kernels run in its place
        {false, {{"chunked-loss", "47"}}, "chunked-loss", ""},
        {false, {{"chunked-loss", "48"}}, "chunked-loss", "chunked-loss=48 saves nothing here: a micro-batch has 48 tokens"},
        {false, {{"optimizer", "foreach"}}, "optimizer", "as loop does"},
        {true, {{"optimizer", "foreach"}}, "optimizer", ""},
        {false, {{"optimizer", "loop"}}, "optimizer", ""},
        {false, {{"attention", "sdpa-flash"}}, "attention", "auto takes it too"},
        {false, {{"attention", "sdpa-flash"}, {"fusion", "kernels"}}, "attention", ""},
        {false, {{"attention", "sdpa-math"}}, "attention", ""},
        {true, {{"attention", "sdpa-flash"}, {"amp", "bf16"}}, "attention", ""},
        {false, {{"zero-grad", "zero"}, {"fusion", "step"}}, "zero-grad", "beside fusion=step"},
        {true, {{"zero-grad", "zero"}, {"fusion", "kernels"}, {"cuda-graph", "on"}}, "zero-grad", "beside cuda-graph=on"},
        {false, {{"zero-grad", "zero"}, {"fusion", "kernels"}}, "zero-grad", ""},
        {false, {{"grad-sums", "bf16"}}, "grad-sums", "grad-sums=bf16 does nothing in a run of one worker"},
        {false, {{"zero", "1"}}, "zero", "zero=1 does nothing in a run of one worker"},
        {false, {{"loader-prefetch", "8"}}, "loader-prefetch", "while loader-workers is 0"},
        {false, {{"loader-prefetch", "8"}, {"loader-workers", "1"}}, "loader-prefetch", ""},
        {true, {{"loader-prefetch", "8"}, {"data-source", "device"}}, "loader-prefetch", "with data-source=device"},
        {true, {{"loader-workers", "2"}, {"data-source", "device"}}, "loader-workers", "with data-source=device"},
        {true, {{"loader-workers", "2"}}, "loader-workers", ""},
        {true, {{"loader-pinned", "on"}, {"data-source", "device"}}, "loader-pinned", "with data-source=device"},
        {true, {{"loader-pinned", "on"}}, "loader-pinned", ""},
        {true, {{"batch-creation", "loop"}, {"data-source", "device"}}, "batch-creation", "with data-source=device"},
        {true, {{"batch-creation", "loop"}}, "batch-creation", ""},
        {false, {{"validation-amp", "on"}, {"validation-every", "10"}}, "validation-amp", "while amp is off"},
        {false, {{"validation-amp", "on"}, {"amp", "bf16"}, {"validation-every", "0"}}, "validation-amp", "while validation-every is 0"},
        {false, {{"validation-amp", "on"}, {"amp", "bf16"}, {"validation-every", "10"}}, "validation-amp", ""},
        {true, {{"cudnn-autotune", "on"}}, "cudnn-autotune", "no convolutions"},
        {false, {{"amp", "bf16"}}, "amp", ""},  // a CPU with units for it
        {false, {{"amp", "fp16"}}, "amp", "no units for fp16"},
        {true, {{"amp", "fp16"}}, "amp", ""},
        {true, {{"fused-attention", "off"}, {"fusion", "kernels"}}, "fused-attention", "does nothing on a GPU"},
    };
    for (const auto& entry : allSwitches()) {
        if (!entry.id.starts_with("fused-")) continue;
        all.push_back({false, {{entry.id, "off"}, {"fusion", "step"}}, entry.id, entry.id + "=off does nothing beside fusion=step"});
        all.push_back({false, {{entry.id, "off"}, {"fusion", "kernels"}}, entry.id, ""});
        all.push_back({false, {{entry.id, "off"}}, entry.id, entry.id + "=off does nothing while fusion is off"});
        all.push_back({false, {{entry.id, "on"}}, entry.id, ""});
        all.push_back({false, {{entry.id, "on"}, {"fusion", "kernels"}}, entry.id, entry.id + "=on is what auto comes to"});
    }
    return all;
}

RunConfig configOf(const Registry& registry, const NoteCase& c) {
    RunConfig config = testing::tinyConfig(registry);
    if (c.gpu) config.switches["device"] = std::string("cuda:0");
    for (const auto& [id, value] : c.values) EXPECT_TRUE(setKey(config, registry.catalogue(config), id, value).ok()) << id;
    return registry.complete(config).value();
}

TEST(Note, SaysOfAValueThatItDoesNothingBesideTheOthersAndOnlyThere) {
    std::set<std::string> silent, spoken;
    for (const NoteCase& c : noteCases()) {
        const Registry registry(machineOf(c));
        for (const auto& info : registry.catalogue(configOf(registry, c))) {
            const bool says = info.id == c.id && !c.part.empty();
            EXPECT_EQ(info.note.empty(), !says) << info.id << " beside " << c.id << ": " << info.note;
            if (!says) continue;
            EXPECT_NE(info.note.find(c.part), std::string::npos) << info.note;
            EXPECT_TRUE(info.note.ends_with('.')) << info.note;
            spoken.insert(c.id);
        }
    }
    for (const auto& entry : allSwitches())
        if (entry.note && entry.id != "amp" && entry.id != "vocab-padding" && !spoken.contains(entry.id)) silent.insert(entry.id);
    EXPECT_EQ(silent, std::set<std::string>{}) << "an entry with a note and no case above; these two have a test of their own";
}

TEST(Note, SaysNothingOfSumsInBf16WhereSeveralWorkersTrain) {
    const Registry registry(testing::plainCpu(), 2);
    RunConfig config = testing::tinyConfig(registry);
    config.switches["grad-sums"] = std::string("bf16");
    config.switches["zero"] = std::string("1");
    for (const auto& info : registry.catalogue(config)) EXPECT_EQ(info.note, "") << info.id;
    EXPECT_EQ(registry.plan(config).value().notes, "");
}

TEST(Note, SaysNothingOfDefaultsWhateverTheyAreBeside) {
    const Registry registry(testing::plainCpu());
    for (const char* fusion : {"off", "kernels", "step"}) {
        RunConfig config = testing::tinyConfig(registry);
        config.switches["fusion"] = std::string(fusion);
        for (const auto& info : registry.catalogue(config)) EXPECT_EQ(info.note, "") << info.id;
    }
}

TEST(Note, SaysWhatBf16AndFp16CostOnACpuWithoutUnitsForThem) {
    const auto noteOf = [](const std::vector<std::string>& instructions, const std::string& amp, const std::string& fusion) {
        Machine machine = testing::plainCpu();
        machine.instructions = instructions;
        RunConfig config = testing::tinyConfig(Registry(testing::plainCpu()));
        config.switches["amp"] = amp;
        config.switches["fusion"] = fusion;
        for (const auto& info : Registry(machine).catalogue(config))
            if (info.id == "amp") return info.note;
        return std::string("no such switch");
    };
    for (const char* fusion : {"off", "kernels"}) {
        EXPECT_NE(noteOf({"avx2"}, "bf16", fusion).find("many times longer"), std::string::npos) << noteOf({"avx2"}, "bf16", fusion);
        EXPECT_NE(noteOf({"avx2", "avx512"}, "bf16", fusion).find("amp=bf16 takes longer"), std::string::npos);
        EXPECT_EQ(noteOf({"avx2", "avx512", "avx512_bf16"}, "bf16", fusion), "");
        EXPECT_EQ(noteOf({"avx2", "amx_bf16"}, "bf16", fusion), "");
        EXPECT_EQ(noteOf({"avx2"}, "off", fusion), "");
    }
    EXPECT_NE(noteOf({"avx2", "avx512", "avx512_bf16"}, "fp16", "off").find("amp=fp16 takes many times longer"), std::string::npos);
    for (const char* units : {"avx512_fp16", "amx_fp16"}) EXPECT_EQ(noteOf({"avx2", units}, "fp16", "off"), "");
    EXPECT_EQ(noteOf({"avx2"}, "bf16", "step"), "") << "its products are not LibTorch's";
}

TEST(Note, SaysOfPaddingThatItAddsNothingWhereTheVocabularyIsKnownToBeAMultiple) {
    const Registry registry(testing::plainCpu());
    const auto noteOf = [&](const char* padding, std::int64_t vocabulary) {
        RunConfig config = testing::tinyConfig(registry);
        config.switches["vocab-padding"] = std::string(padding);
        for (const auto& info : registry.catalogue(config, vocabulary))
            if (info.id == "vocab-padding") return info.note;
        return std::string("no such switch");
    };
    EXPECT_EQ(noteOf("64", 256), "vocab-padding=64 adds no row here: 256 ids are a multiple of 64 already.");
    EXPECT_EQ(noteOf("128", 256), "vocab-padding=128 adds no row here: 256 ids are a multiple of 128 already.");
    EXPECT_EQ(noteOf("power-of-two", 256), "vocab-padding=power-of-two adds no row here: 256 ids are a power of two already.");
    EXPECT_EQ(noteOf("128", 192), "");
    EXPECT_EQ(noteOf("power-of-two", 192), "");
    EXPECT_EQ(noteOf("64", 50'257), "");
    EXPECT_EQ(noteOf("64", 0), "") << "not known before the data are read";
}

TEST(Note, IsToldByTheRunAndSoIsWhenItHoldsNoMore) {
    RunConfig config = testing::tinyConfig(Registry(testing::plainCpu()), 12);
    config.switches["zero-grad"] = std::string("zero");
    testing::TinyTrainer trainer(config);
    trainer.sink.onEvent = [&](const Event& event) {
        const auto* done = std::get_if<StepDone>(&event);
        if (done == nullptr || (done->step != 3 && done->step != 6)) return;
        trainer.commands.push(Flip{"fusion", std::string(done->step == 3 ? "step" : "kernels")});
    };
    ASSERT_EQ(trainer.run().state, RunState::Finished);
    std::vector<std::string> told;
    for (const auto& line : trainer.sink.all<LogLine>())
        if (line.text.find("does nothing") != std::string::npos || line.text == "Every switch runs as it is set.")
            told.push_back(std::to_string(line.step) + " " + line.text);
    ASSERT_EQ(told.size(), 2u);
    EXPECT_EQ(told[0].find("3 zero-grad=zero does nothing beside fusion=step"), 0u) << told[0];
    EXPECT_EQ(told[1], "6 Every switch runs as it is set.");
}

}  // namespace
}  // namespace stepscope
