#include "core/train/SafeTensors.h"

#include <fmt/format.h>

#include <bit>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/train/DurableFile.h"

namespace stepscope {
namespace {

using nlohmann::json;

static_assert(std::endian::native == std::endian::little, "safetensors data is little-endian and read as it lies");

constexpr std::uint64_t kLongestHeader = 100'000'000;  // the format's own limit

Error damaged(const std::string& path, const std::string& what) {
    return makeError(ErrorCode::Damaged, fmt::format("{} is not a whole safetensors file: {}.", path, what));
}

struct ElementType {
    at::ScalarType type;
    std::int64_t bytes;
};
std::optional<ElementType> elementType(const std::string& name) {
    if (name == "F32") return ElementType{at::kFloat, 4};
    if (name == "F16") return ElementType{at::kHalf, 2};
    if (name == "BF16") return ElementType{at::kBFloat16, 2};
    return std::nullopt;
}

struct Entry {
    ElementType element;
    std::vector<std::int64_t> shape;
    std::uint64_t begin = 0, end = 0;
};

// One entry of the header, checked by itself; nullopt when it does not hold together.
std::optional<Entry> readEntry(const json& stored, std::uint64_t dataBytes) {
    if (!stored.is_object() || !stored.contains("dtype") || !stored["dtype"].is_string()) return std::nullopt;
    const auto element = elementType(stored["dtype"].get<std::string>());
    if (!element || !stored.contains("shape") || !stored["shape"].is_array() || !stored.contains("data_offsets")) return std::nullopt;
    Entry entry{.element = *element};
    std::uint64_t bytes = static_cast<std::uint64_t>(element->bytes);
    for (const auto& extent : stored["shape"]) {
        if (!extent.is_number_unsigned()) return std::nullopt;
        const auto size = extent.get<std::uint64_t>();
        if (size > dataBytes || (size != 0 && bytes > dataBytes / size)) return std::nullopt;
        bytes *= size;
        entry.shape.push_back(static_cast<std::int64_t>(size));
    }
    const json& offsets = stored["data_offsets"];
    if (!offsets.is_array() || offsets.size() != 2 || !offsets[0].is_number_unsigned() || !offsets[1].is_number_unsigned()) return std::nullopt;
    entry.begin = offsets[0].get<std::uint64_t>();
    entry.end = offsets[1].get<std::uint64_t>();
    if (entry.begin > entry.end || entry.end > dataBytes || entry.end - entry.begin != bytes) return std::nullopt;
    return entry;
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

Result<std::map<std::string, at::Tensor>> readSafeTensors(const std::string& path) {
    std::ifstream file(path, std::ios::binary | std::ios::ate);
    if (!file) return makeError(ErrorCode::NotFound, fmt::format("{} cannot be opened; check the path.", path));
    const auto size = static_cast<std::uint64_t>(file.tellg());
    std::uint64_t length = 0;
    file.seekg(0);
    if (size < 8 || !file.read(reinterpret_cast<char*>(&length), 8)) return damaged(path, "it is shorter than a header");
    if (length > kLongestHeader || length > size - 8) return damaged(path, "its header would end beyond the file");
    std::string text(length, '\0');
    file.read(text.data(), static_cast<std::streamsize>(length));
    const json header = json::parse(text, nullptr, false);
    if (!header.is_object()) return damaged(path, "its header is not JSON");
    const std::uint64_t dataBytes = size - 8 - length;
    std::map<std::string, at::Tensor> tensors;
    for (const auto& [name, stored] : header.items()) {
        if (name == "__metadata__") continue;
        const auto entry = readEntry(stored, dataBytes);
        if (!entry) return damaged(path, fmt::format("the entry of {} does not fit its data", name));
        at::Tensor tensor = at::empty(entry->shape, at::TensorOptions().dtype(entry->element.type));
        file.seekg(static_cast<std::streamoff>(8 + length + entry->begin));
        if (tensor.numel() > 0 && !file.read(static_cast<char*>(tensor.data_ptr()), static_cast<std::streamsize>(entry->end - entry->begin)))
            return damaged(path, fmt::format("the data of {} cannot be read", name));
        tensors.emplace(name, tensor.to(at::kFloat));
    }
    return tensors;
}

}  // namespace stepscope
