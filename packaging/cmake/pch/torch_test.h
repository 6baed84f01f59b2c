// Precompiled for the tests of rooms that see LibTorch.
#pragma once
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "packaging/cmake/pch/torch.h"
