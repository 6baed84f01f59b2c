// A folder as transformers would have written it, of a small model with weights of a seed, for tests to read, to damage and to compare with.
#pragma once
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "core/data/foreign/HuggingFaceConfig.h"
#include "core/state/WeightsFile.h"

namespace stepscope::testing {

inline const GptConfig kForeignModel{.layers = 2, .heads = 2, .width = 16, .vocabulary = 61, .paddedVocabulary = 61, .positions = 12};

class ForeignFolder : public ::testing::Test {
protected:
    ForeignFolder() {
        std::filesystem::remove_all(m_root);
        std::filesystem::create_directories(m_root / "model");
    }
    ~ForeignFolder() override { std::filesystem::remove_all(m_root); }

    std::string folder() const { return path("model"); }
    std::string path(const std::string& name) const { return (m_root / name).string(); }
    std::string file(const std::string& name) const { return folder() + "/" + name; }

    void write(const std::string& name, const std::string& text) const { std::ofstream(file(name), std::ios::binary) << text; }
    static std::string read(const std::string& file) {
        std::ifstream stream(file, std::ios::binary);
        return {std::istreambuf_iterator<char>(stream), {}};
    }
    void writeConfig(const std::string& key = {}, const nlohmann::json& value = {}) const {
        const GptConfig& m = kForeignModel;
        auto config = nlohmann::json::parse(huggingFaceConfig({.sizes = {.layers = m.layers,
                                                                         .heads = m.heads,
                                                                         .width = m.width,
                                                                         .vocabulary = m.vocabulary,
                                                                         .positions = m.positions,
                                                                         .tiedHead = m.tiedHead}}));
        if (!key.empty()) config[key] = value;
        write("config.json", config.dump());
    }

    // Named as transformers names them.
    static NamedTensors tensors(const GptConfig& model = kForeignModel, std::uint64_t seed = 9) {
        const TrainState state = TrainState::initialise(model, seed);
        NamedTensors all;
        for (auto& [name, tensor] : namedForFile(state.weights, state, ""))
            all.emplace_back(name == "lm_head.weight" ? name : "transformer." + name, tensor.clone());
        return all;
    }
    void writeTensors(const std::string& name, const NamedTensors& tensors) const {
        std::filesystem::remove(file(name));  // nothing is written over
        ASSERT_TRUE(writeSafeTensors(file(name), tensors).ok());
    }
    // The tensors in two files and an index: the table and the positions in the first.
    void writeShards(const NamedTensors& tensors) const {
        const auto cut = tensors.begin() + 2;
        writeTensors("model-00001-of-00002.safetensors", NamedTensors(tensors.begin(), cut));
        writeTensors("model-00002-of-00002.safetensors", NamedTensors(cut, tensors.end()));
        nlohmann::json index;
        for (auto at = tensors.begin(); at != tensors.end(); ++at)
            index["weight_map"][at->first] = at < cut ? "model-00001-of-00002.safetensors" : "model-00002-of-00002.safetensors";
        write("model.safetensors.index.json", index.dump());
    }
    void changeIndex(const std::string& tensor, const nlohmann::json& to) const {
        auto index = nlohmann::json::parse(read(file("model.safetensors.index.json")));
        index["weight_map"][tensor] = to;
        write("model.safetensors.index.json", index.dump());
    }

private:
    std::filesystem::path m_root = std::filesystem::temp_directory_path() / ("stepscope-foreign-" + std::to_string(::getpid()) + "-" +
                                                                             ::testing::UnitTest::GetInstance()->current_test_info()->name());
};

}  // namespace stepscope::testing
