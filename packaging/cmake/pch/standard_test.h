// Precompiled for the tests of rooms without LibTorch and Qt.
#pragma once
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "packaging/cmake/pch/standard.h"
