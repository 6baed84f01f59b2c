// TensorSource: named weights in files of whatever format, one tensor at a time. Read on the thread that asks, the trainer's or a command's.
#pragma once
#include <ATen/core/Tensor.h>

#include <map>
#include <string>

#include "core/base/Result.h"
#include "core/data/SafeTensorsHeader.h"

namespace stepscope {

class TensorSource {
public:
    TensorSource() = default;
    TensorSource(const TensorSource&) = default;
    TensorSource(TensorSource&&) = default;
    TensorSource& operator=(const TensorSource&) = default;
    TensorSource& operator=(TensorSource&&) = default;
    virtual ~TensorSource() = default;

    // What there is, by the names that the files have; shapes in the orientation of GPT-2's files: linear weights (in, out).
    virtual const std::map<std::string, TensorEntry>& entries() const = 0;
    // As float32. The name is one of entries(). What comes may be the mapped file itself: for reading only, and so read that whole() is asked
    // afterwards. Unsupported: integers and other types that are no weights.
    virtual Result<at::Tensor> read(const std::string& name) = 0;
    // Whether every file still had all that was read of it.
    virtual Status whole() const = 0;
};

// The name under which a tensor of GPT-2's is there; some writers put "transformer." in front of every one. Empty = it is not.
std::string writtenName(const std::map<std::string, TensorEntry>& entries, const std::string& name);
// The same without that prefix.
std::string plainName(const std::string& written);

}  // namespace stepscope
