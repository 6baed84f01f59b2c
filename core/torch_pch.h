// Precompiled for every folder that sees torch: the tensor type and the operations that many files use.
// Narrow headers only; torch/torch.h, which takes many times as long to compile, is not used anywhere.
#pragma once
#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/zeros.h>

#include <map>
#include <memory>
#include <string>
#include <vector>
