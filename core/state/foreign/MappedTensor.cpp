#include "core/state/foreign/MappedTensor.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>

#include <cstring>

namespace stepscope {

at::Tensor mappedTensor(const std::shared_ptr<const MappedFile>& file, std::uint64_t offset, at::IntArrayRef shape, at::ScalarType type) {
    const auto options = at::TensorOptions().dtype(type);
    std::size_t bytes = c10::elementSize(type);
    const std::size_t element = bytes;
    for (const std::int64_t extent : shape) bytes *= static_cast<std::size_t>(extent);
    if (bytes == 0) return at::empty(shape, options);
    const char* data = file->bytes().data() + offset;
    if (reinterpret_cast<std::uintptr_t>(data) % element == 0)
        return at::from_blob(
            const_cast<char*>(data), shape, [file](void*) {}, options);
    at::Tensor copy = at::empty(shape, options);
    std::memcpy(copy.data_ptr(), data, bytes);
    return copy;
}

}  // namespace stepscope
