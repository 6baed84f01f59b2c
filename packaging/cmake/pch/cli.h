// Precompiled for the command line: the parser of its options, which takes longest to read, and JSON.
#pragma once
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "packaging/cmake/pch/standard.h"
