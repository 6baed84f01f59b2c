// Failure: what an exception means for a person. Called where LibTorch's exceptions are caught: the trainer, the generator, generate.
#pragma once
#include <exception>

#include "core/base/Result.h"

namespace stepscope {

// A LibTorch or other exception as a sentence for the user; the first line of its text becomes the cause.
Error describeException(const std::exception& thrown);

}  // namespace stepscope
