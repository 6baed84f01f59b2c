// Precompiled for every room that sees LibTorch: the tensor type and the operations that many files use.
// Narrow headers only; torch/torch.h, which takes many times as long to compile, is not used anywhere, and nothing that
// every file would instantiate anew (custom_function.h made files that do not need it slower).
#pragma once
#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>
#include <c10/core/GradMode.h>

#include "packaging/cmake/pch/standard.h"
