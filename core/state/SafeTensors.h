// safetensors files: u64 little-endian header length, JSON header, raw C-order data (format of the safetensors library, Hugging
// Face). Read: F64, F32, F16, BF16, all as float32. Written: F32. No pickles, ever. What a header claims is checked before anything is allocated.
#pragma once
#include <ATen/core/Tensor.h>

#include <fstream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/base/Result.h"
#include "core/data/SafeTensorsHeader.h"

namespace stepscope {

using NamedTensors = std::vector<std::pair<std::string, at::Tensor>>;

// Writes and fsyncs. Tensors are written as contiguous float32 from the CPU.
Status writeSafeTensors(const std::string& path, const NamedTensors& tensors, const std::map<std::string, std::string>& metadata = {});

// An open file: what it holds is known, and each tensor is read when it is asked for.
class SafeTensorsFile {
public:
    // Errors name the file and what is wrong with it: too short, header beyond the end or too long, data that overlap, are missing or do not fit.
    static Result<SafeTensorsFile> open(const std::string& path);

    const std::map<std::string, TensorEntry>& entries() const { return m_entries; }
    // As float32. The name is one of entries(). Unsupported: integers and other types that are no weights.
    Result<at::Tensor> read(const std::string& name);

private:
    std::string m_path;
    std::ifstream m_file;
    std::uint64_t m_dataAt = 0;
    std::map<std::string, TensorEntry> m_entries;
};

// All of them; an entry of a type that cannot be read is an error.
Result<std::map<std::string, at::Tensor>> readSafeTensors(const std::string& path);

}  // namespace stepscope
