#include "core/state/foreign/TensorSources.h"

#include <fmt/format.h>

#include <filesystem>

#include "core/data/foreign/ShardIndex.h"
#include "core/state/foreign/ForeignText.h"
#include "core/state/foreign/MappedTensor.h"

namespace stepscope {
namespace {

bool isLinearOfLlmc(const std::string& name) {
    for (const LlmcGroup& group : llmcGroups())
        if (group.linear && name.ends_with(std::string(".") + group.name)) return true;
    return false;
}

}  // namespace

std::string writtenName(const std::map<std::string, TensorEntry>& entries, const std::string& name) {
    for (const std::string& written : {name, "transformer." + name})
        if (entries.contains(written)) return written;
    return {};
}

std::string plainName(const std::string& written) {
    constexpr std::string_view prefix = "transformer.";
    return written.starts_with(prefix) ? written.substr(prefix.size()) : written;
}

Result<ShardedTensors> ShardedTensors::open(const std::string& folder) {
    const std::string index = folder + "/" + kShardIndexFile;
    const auto text = foreignText(index);
    if (!text) return text.error();
    const auto fileOf = parseShardIndex(*text, index);
    if (!fileOf) return fileOf.error();
    ShardedTensors all;
    std::map<std::string, std::size_t> placeOf;
    std::error_code ignored;
    for (const auto& [tensor, file] : *fileOf) {
        const std::string path = folder + "/" + file;
        const auto [place, isNew] = placeOf.try_emplace(file, all.m_files.size());
        if (isNew) {
            if (!std::filesystem::exists(path, ignored))
                return makeError(ErrorCode::NotFound, fmt::format("{} names {}, which is not there; fetch that file too.", index, file));
            if (!liesInFolder(folder, file))
                return makeError(ErrorCode::BadInput, fmt::format("{} is a link to a place outside of its folder; put the file itself there.", path));
            auto opened = SafeTensorsFile::open(path);
            if (!opened) return opened.error();
            all.m_files.push_back(std::move(*opened));
        }
        const auto& entries = all.m_files[place->second].entries();
        const auto entry = entries.find(tensor);
        if (entry == entries.end())
            return makeError(ErrorCode::Damaged, fmt::format("{} says that {} is in {}, which has no such tensor.", index, tensor, file));
        all.m_fileOf.emplace(tensor, place->second);
        all.m_entries.emplace(tensor, entry->second);
    }
    // A tensor that two files have, or one that the index leaves out, is a folder that two saves are mixed in.
    for (const auto& [file, place] : placeOf)
        for (const auto& [tensor, entry] : all.m_files[place].entries())
            if (const auto known = all.m_fileOf.find(tensor); known == all.m_fileOf.end() || known->second != place)
                return makeError(ErrorCode::Damaged, fmt::format("{}/{} has the tensor {}, which {} says is {}; the folder mixes two models.", folder,
                                                                 file, tensor, index, known == all.m_fileOf.end() ? "nowhere" : "in another file"));
    return all;
}

Status ShardedTensors::whole() const {
    for (const SafeTensorsFile& file : m_files)
        if (auto whole = file.whole(); !whole) return whole;
    return {};
}

Result<LlmcTensors> LlmcTensors::open(const std::string& path) {
    auto file = MappedFile::open(path);
    if (!file) return file.error();
    auto model = parseLlmcModel(file->bytes().substr(0, kLlmcHeaderBytes), file->bytes().size(), path);
    if (!model) return model.error();
    LlmcTensors all;
    all.m_path = path;
    all.m_file = std::make_shared<const MappedFile>(std::move(*file));
    all.m_model = std::move(*model);
    for (const auto& [name, lying] : all.m_model.tensors) {
        TensorEntry entry = lying;
        if (isLinearOfLlmc(name)) std::swap(entry.shape[0], entry.shape[1]);
        all.m_entries.emplace(name, std::move(entry));
    }
    return all;
}

Result<at::Tensor> LlmcTensors::read(const std::string& name) {
    const TensorEntry& entry = m_model.tensors.at(name);
    const at::Tensor tensor = mappedTensor(m_file, entry.begin, entry.shape, m_model.bf16 ? at::kBFloat16 : at::kFloat).to(at::kFloat);
    return isLinearOfLlmc(name) ? tensor.t() : tensor;
}

Status LlmcTensors::whole() const {
    if (m_file->cutShort()) return makeError(ErrorCode::Damaged, fmt::format("{} became shorter while it was read.", m_path));
    return {};
}

}  // namespace stepscope
