#include "core/state/SafeTensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/base/Check.h"
#include "core/state/DurableFile.h"
#include "core/state/foreign/MappedTensor.h"

namespace stepscope {
namespace {

using nlohmann::json;

static_assert(std::endian::native == std::endian::little, "safetensors data is little-endian and read as it lies");

// A sixth of what the format allows, and tens of times what the largest GPT needs: a parsed header takes many times its size in memory.
constexpr std::uint64_t kLongestHeader = 16'000'000;

Error damaged(const std::string& path, const std::string& what) {
    return makeError(ErrorCode::Damaged, fmt::format("{} is not a whole safetensors file: {}.", path, what));
}

std::optional<at::ScalarType> realType(const std::string& type) {
    if (type == "F32") return at::kFloat;
    if (type == "F16") return at::kHalf;
    if (type == "BF16") return at::kBFloat16;
    if (type == "F64") return at::kDouble;
    return std::nullopt;
}

}  // namespace

Status writeSafeTensors(const std::string& path, const NamedTensors& tensors, const std::map<std::string, std::string>& metadata) {
    std::vector<TensorToWrite> all;
    for (const auto& [name, tensor] : tensors) all.push_back({name, tensor.sizes().vec(), [tensor = tensor] { return Result<at::Tensor>(tensor); }});
    return writeSafeTensors(path, all, at::kFloat, metadata);
}

Status writeSafeTensors(const std::string& path, const std::vector<TensorToWrite>& tensors, at::ScalarType type,
                        const std::map<std::string, std::string>& metadata) {
    json header = json::object();
    if (!metadata.empty()) header["__metadata__"] = metadata;
    const std::uint64_t element = c10::elementSize(type);
    std::uint64_t offset = 0;
    for (const TensorToWrite& tensor : tensors) {
        std::uint64_t bytes = element;
        for (const std::int64_t extent : tensor.shape) bytes *= static_cast<std::uint64_t>(extent);
        header[tensor.name] = {
            {"dtype", type == at::kBFloat16 ? "BF16" : "F32"}, {"shape", tensor.shape}, {"data_offsets", {offset, offset + bytes}}};
        offset += bytes;
    }
    std::string text = header.dump();
    text.resize((text.size() + 7) / 8 * 8, ' ');  // data begins on 8 bytes, as the reference writer does
    DurableFile file(path);
    const std::uint64_t length = text.size();
    file.write(&length, sizeof length);
    file.write(text.data(), text.size());
    for (const TensorToWrite& tensor : tensors) {
        const auto made = tensor.make();
        if (!made) return made.error();
        SS_CHECK(made->sizes() == at::IntArrayRef(tensor.shape));
        const at::Tensor plain = made->detach().to(at::kCPU, type).contiguous();
        file.write(plain.data_ptr(), static_cast<std::size_t>(plain.numel()) * element);
    }
    return file.close();
}

Result<SafeTensorsFile> SafeTensorsFile::open(const std::string& path) {
    std::error_code ignored;
    SafeTensorsFile all;
    all.m_path = path;
    if (std::filesystem::exists(path, ignored) && !std::filesystem::is_regular_file(path, ignored))
        return makeError(ErrorCode::BadInput, fmt::format("{} is not a file; give a safetensors file.", path));
    auto mapped = MappedFile::open(path);
    if (!mapped) return makeError(ErrorCode::NotFound, fmt::format("{} cannot be opened; check the path.", path), mapped.error().sentence);
    all.m_file = std::make_shared<const MappedFile>(std::move(*mapped));
    const std::string_view bytes = all.m_file->bytes();
    std::uint64_t length = 0;
    if (bytes.size() < sizeof length) return damaged(path, "it is shorter than a header");
    std::memcpy(&length, bytes.data(), sizeof length);
    if (length > bytes.size() - sizeof length) return damaged(path, "its header would end beyond the file");
    if (length > kLongestHeader) return damaged(path, fmt::format("its header has {} bytes, more than that of any GPT", length));
    all.m_dataAt = sizeof length + length;
    auto entries = parseSafeTensorsHeader(bytes.substr(sizeof length, length), bytes.size() - all.m_dataAt, path);
    if (!entries) return entries.error();
    all.m_entries = std::move(*entries);
    return all;
}

Result<at::Tensor> SafeTensorsFile::read(const std::string& name) {
    const TensorEntry& entry = m_entries.at(name);
    const auto type = realType(entry.type);
    if (!type)
        return makeError(ErrorCode::Unsupported, fmt::format("{} in {} is of type {}; weights are F32, F16, BF16 or F64.", name, m_path, entry.type));
    return mappedTensor(m_file, m_dataAt + entry.begin, entry.shape, *type).to(at::kFloat);
}

Status SafeTensorsFile::whole() const {
    if (m_file->cutShort()) return damaged(m_path, "it became shorter while it was read");
    return {};
}

Result<std::map<std::string, at::Tensor>> readSafeTensors(const std::string& path) {
    auto file = SafeTensorsFile::open(path);
    if (!file) return file.error();
    std::map<std::string, at::Tensor> tensors;
    for (const auto& [name, entry] : file->entries()) {
        auto tensor = file->read(name);
        if (!tensor) return tensor.error();
        tensors.emplace(name, tensor->clone());  // in memory of its own
    }
    if (auto whole = file->whole(); !whole) return whole.error();
    return tensors;
}

}  // namespace stepscope
