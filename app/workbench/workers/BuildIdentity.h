// Which build of the program this is: two builds of one version may round differently, and workers of both would drift apart. Made anew whenever a
// source of core or app/workbench changes (SourceHash.cmake); the same wherever the same sources were compiled by the same compiler. Any thread.
#pragma once

namespace stepscope {

const char* buildIdentity();  // 16 hexadecimal digits

}  // namespace stepscope
