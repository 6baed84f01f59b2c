// Precompiled for the tests of the window.
#pragma once
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "packaging/cmake/pch/qt.h"
