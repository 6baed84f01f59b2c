#include "core/state/SafeTensors.h"

#include <ATen/ops/empty.h>
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/state/DurableFile.h"

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
    json header = json::object();
    if (!metadata.empty()) header["__metadata__"] = metadata;
    std::uint64_t offset = 0;
    for (const auto& [name, tensor] : tensors) {
        const std::uint64_t bytes = static_cast<std::uint64_t>(tensor.numel()) * 4;
        header[name] = {{"dtype", "F32"}, {"shape", tensor.sizes().vec()}, {"data_offsets", {offset, offset + bytes}}};
        offset += bytes;
    }
    std::string text = header.dump();
    text.resize((text.size() + 7) / 8 * 8, ' ');  // data begins on 8 bytes, as the reference writer does
    DurableFile file(path);
    const std::uint64_t length = text.size();
    file.write(&length, sizeof length);
    file.write(text.data(), text.size());
    for (const auto& [name, tensor] : tensors) {
        const at::Tensor plain = tensor.detach().to(at::kCPU, at::kFloat).contiguous();
        file.write(plain.data_ptr(), static_cast<std::size_t>(plain.numel()) * 4);
    }
    return file.close();
}

Result<SafeTensorsFile> SafeTensorsFile::open(const std::string& path) {
    std::error_code ignored;
    SafeTensorsFile all;
    all.m_path = path;
    if (std::filesystem::exists(path, ignored) && !std::filesystem::is_regular_file(path, ignored))
        return makeError(ErrorCode::BadInput, fmt::format("{} is not a file; give a safetensors file.", path));
    if (std::filesystem::is_regular_file(path, ignored)) all.m_file.open(path, std::ios::binary | std::ios::ate);
    if (!all.m_file.is_open()) return makeError(ErrorCode::NotFound, fmt::format("{} cannot be opened; check the path.", path));
    const auto size = static_cast<std::uint64_t>(all.m_file.tellg());
    std::uint64_t length = 0;
    all.m_file.seekg(0);
    if (size < 8 || !all.m_file.read(reinterpret_cast<char*>(&length), 8)) return damaged(path, "it is shorter than a header");
    if (length > size - 8) return damaged(path, "its header would end beyond the file");
    if (length > kLongestHeader) return damaged(path, fmt::format("its header has {} bytes, more than that of any GPT", length));
    std::string text(length, '\0');
    if (!all.m_file.read(text.data(), static_cast<std::streamsize>(length))) return damaged(path, "its header cannot be read");
    auto entries = parseSafeTensorsHeader(text, size - 8 - length, path);
    if (!entries) return entries.error();
    all.m_entries = std::move(*entries);
    all.m_dataAt = 8 + length;
    return all;
}

Result<at::Tensor> SafeTensorsFile::read(const std::string& name) {
    const TensorEntry& entry = m_entries.at(name);
    const auto type = realType(entry.type);
    if (!type)
        return makeError(ErrorCode::Unsupported, fmt::format("{} in {} is of type {}; weights are F32, F16, BF16 or F64.", name, m_path, entry.type));
    at::Tensor tensor = at::empty(entry.shape, at::TensorOptions().dtype(*type));
    m_file.clear();
    m_file.seekg(static_cast<std::streamoff>(m_dataAt + entry.begin));
    if (tensor.numel() > 0 && !m_file.read(static_cast<char*>(tensor.data_ptr()), static_cast<std::streamsize>(entry.end - entry.begin)))
        return damaged(m_path, fmt::format("the data of {} cannot be read", name));
    return tensor.to(at::kFloat);
}

Result<std::map<std::string, at::Tensor>> readSafeTensors(const std::string& path) {
    auto file = SafeTensorsFile::open(path);
    if (!file) return file.error();
    std::map<std::string, at::Tensor> tensors;
    for (const auto& [name, entry] : file->entries()) {
        auto tensor = file->read(name);
        if (!tensor) return tensor.error();
        tensors.emplace(name, std::move(*tensor));
    }
    return tensors;
}

}  // namespace stepscope
