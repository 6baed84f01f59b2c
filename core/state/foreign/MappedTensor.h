// A tensor whose data are bytes of a mapped file, for reading only: nothing is copied unless the bytes lie where the type cannot be read. It keeps
// the file mapped as long as it lives. Any thread.
#pragma once
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>

#include "core/data/MappedFile.h"

namespace stepscope {

// The caller has checked that [offset, offset + the bytes of the shape) is in the file.
at::Tensor mappedTensor(const std::shared_ptr<const MappedFile>& file, std::uint64_t offset, at::IntArrayRef shape, at::ScalarType type);

}  // namespace stepscope
