// The header of a safetensors file, as a stranger may have written it: which tensors it says there are, and where. Torch-free; core/state/SafeTensors
// reads the data.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/Result.h"

namespace stepscope {

struct TensorEntry {
    std::string type;  // "F32", ...
    std::vector<std::int64_t> shape;
    std::uint64_t begin = 0, end = 0;  // in the data

    bool isReal() const { return type == "F32" || type == "F16" || type == "BF16" || type == "F64"; }
};

// `json`: the header; `dataBytes`: how many bytes follow it; `name` is for the sentences. Damaged: no JSON, an entry that does not fit its data, two
// that overlap. So all entries together take no more than the file has.
Result<std::map<std::string, TensorEntry>> parseSafeTensorsHeader(std::string_view json, std::uint64_t dataBytes, const std::string& name);

}  // namespace stepscope
