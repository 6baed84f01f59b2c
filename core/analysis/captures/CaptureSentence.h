// What a log says of captured steps: how many operations a step ran, and where most time went. Used by the window and the command line.
#pragma once
#include <string>

#include "core/events/CaptureDone.h"

namespace stepscope {

std::string captureSentence(const CaptureDone& capture);

}  // namespace stepscope
