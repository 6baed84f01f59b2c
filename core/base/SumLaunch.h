// SumLaunch: how the operation is called that hands a sum of gradients to GPUs and does not wait for it. Named by core/program on the thread of the
// sums; the panes know by it that the sum itself takes another time than this.
#pragma once

namespace stepscope {

constexpr const char* kSumLaunch = "all-reduce launch";

}  // namespace stepscope
