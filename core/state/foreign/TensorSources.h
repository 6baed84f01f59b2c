// The kinds of TensorSource beside one safetensors file: many of them by an index, and llm.c's weights. Made by openForeignModel.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "core/data/MappedFile.h"
#include "core/data/foreign/LlmcModel.h"
#include "core/state/SafeTensors.h"

namespace stepscope {

// model.safetensors.index.json and the files that it names. Damaged, BadInput, NotFound: names the index or the file, and what is wrong with it.
class ShardedTensors final : public TensorSource {
public:
    static Result<ShardedTensors> open(const std::string& folder);

    const std::map<std::string, TensorEntry>& entries() const override { return m_entries; }
    Result<at::Tensor> read(const std::string& name) override { return m_files[m_fileOf.at(name)].read(name); }
    Status whole() const override;

private:
    std::vector<SafeTensorsFile> m_files;
    std::map<std::string, std::size_t> m_fileOf;
    std::map<std::string, TensorEntry> m_entries;
};

// llm.c's tensors under GPT-2's names and in its orientation.
class LlmcTensors final : public TensorSource {
public:
    static Result<LlmcTensors> open(const std::string& path);

    const Gpt2Sizes& sizes() const { return m_model.sizes; }
    const std::map<std::string, TensorEntry>& entries() const override { return m_entries; }
    Result<at::Tensor> read(const std::string& name) override;
    Status whole() const override;

private:
    std::string m_path;
    std::shared_ptr<const MappedFile> m_file;
    LlmcModel m_model;
    std::map<std::string, TensorEntry> m_entries;
};

}  // namespace stepscope
