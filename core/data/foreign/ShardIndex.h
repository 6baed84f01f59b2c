// model.safetensors.index.json: in which file beside it each tensor of a model lies, as a stranger may have written it. Torch-free; any thread.
#pragma once
#include <map>
#include <string>
#include <string_view>

#include "core/base/Result.h"

namespace stepscope {

// Tensor -> file. A file is a name alone, never a path, and ends with .safetensors. `name` is the index's own, for sentences.
Result<std::map<std::string, std::string>> parseShardIndex(std::string_view text, const std::string& name);

// The index of tensors that take `bytes` together.
std::string shardIndex(const std::map<std::string, std::string>& fileOf, std::int64_t bytes);

// Whether a file that an index names lies in the folder itself once links are followed, or where the hub's cache keeps the files of its snapshots
// (snapshots/<revision>/<file> -> ../../blobs/<hash>). One that is not there does.
bool liesInFolder(const std::string& folder, const std::string& file);

}  // namespace stepscope
