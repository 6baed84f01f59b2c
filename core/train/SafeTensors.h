// safetensors files: u64 little-endian header length, JSON header, raw C-order data (format of the safetensors library, Hugging
// Face). Read: F32, F16, BF16, all as float32. Written: F32. No pickles, ever.
#pragma once
#include <ATen/core/Tensor.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/base/Result.h"

namespace stepscope {

using NamedTensors = std::vector<std::pair<std::string, at::Tensor>>;

// Writes and fsyncs. Tensors are written as contiguous float32 from the CPU.
Status writeSafeTensors(const std::string& path, const NamedTensors& tensors, const std::map<std::string, std::string>& metadata = {});

// Errors name the file and what is wrong with it: too short, header beyond the end, overlapping or missing data, unknown type.
Result<std::map<std::string, at::Tensor>> readSafeTensors(const std::string& path);

}  // namespace stepscope
