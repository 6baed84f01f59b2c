// Which file the plug-in opens as CUPTI. Inside the plug-in only; any thread.
#pragma once

namespace stepscope::cupti {

// A file in the place of NVIDIA's; null: that is searched. CuptiFile.cpp has none; a build of the plug-in that is to open another one, as that of the
// tests, has a definition of its own instead.
const char* fileInstead();

}  // namespace stepscope::cupti
