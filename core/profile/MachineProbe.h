// What this computer is, read once at start: /proc, /etc/os-release, and the CUDA plug-in's answer. Any thread.
#pragma once
#include "core/events/Machine.h"

namespace stepscope {

Machine probeMachine();

}  // namespace stepscope
