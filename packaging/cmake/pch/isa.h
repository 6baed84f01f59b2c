// Precompiled for the kernels, once an instruction set: its registers, and the compiler's intrinsics behind them.
#pragma once
#include "core/kernels/isa/Vec.h"
