// safetensors files: u64 little-endian header length, JSON header, raw C-order data (format of the safetensors library, Hugging
// Face). Read: F64, F32, F16, BF16, all as float32, from the mapped file. Written: F32 or BF16. No pickles, ever. What a header claims is checked
// before anything is allocated.
#pragma once
#include <ATen/core/Tensor.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/base/Result.h"
#include "core/data/MappedFile.h"
#include "core/state/foreign/TensorSource.h"

namespace stepscope {

using NamedTensors = std::vector<std::pair<std::string, at::Tensor>>;

// Writes and fsyncs. Tensors are written as contiguous float32 from the CPU.
Status writeSafeTensors(const std::string& path, const NamedTensors& tensors, const std::map<std::string, std::string>& metadata = {});

// A tensor that is made when its turn comes to be written.
struct TensorToWrite {
    std::string name;
    std::vector<std::int64_t> shape;
    std::function<Result<at::Tensor>()> make;
};
// The same of tensors that need not all be there at once; type: float32 or bfloat16.
Status writeSafeTensors(const std::string& path, const std::vector<TensorToWrite>& tensors, at::ScalarType type,
                        const std::map<std::string, std::string>& metadata = {});

// An open file: what it holds is known, and each tensor is read when it is asked for.
class SafeTensorsFile final : public TensorSource {
public:
    // Errors name the file and what is wrong with it: too short, header beyond the end or too long, data that overlap, are missing or do not fit.
    static Result<SafeTensorsFile> open(const std::string& path);

    const std::map<std::string, TensorEntry>& entries() const override { return m_entries; }
    Result<at::Tensor> read(const std::string& name) override;
    Status whole() const override;

private:
    std::string m_path;
    std::shared_ptr<const MappedFile> m_file;
    std::uint64_t m_dataAt = 0;
    std::map<std::string, TensorEntry> m_entries;
};

// All of them; an entry of a type that cannot be read is an error.
Result<std::map<std::string, at::Tensor>> readSafeTensors(const std::string& path);

}  // namespace stepscope
