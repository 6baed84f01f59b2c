// Failure: what an exception means for a person. Called where LibTorch's exceptions are caught: the trainer, the generator, generate.
#pragma once
#include <exception>

#include "core/base/Result.h"

namespace stepscope {

// What was done: steps were made, or weights only read (text, eval, prune, export).
enum class Doing { Training, Reading };

// A LibTorch or other exception as a sentence for the user; the first line of its text becomes the cause.
Error describeException(const std::exception& thrown, Doing doing = Doing::Training);

}  // namespace stepscope
