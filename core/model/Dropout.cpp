#include "core/model/Dropout.h"

#include <ATen/Parallel.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/bitwise_right_shift.h>
#include <ATen/ops/empty.h>

#include "core/base/DropoutMask.h"

namespace stepscope {
namespace {

constexpr std::int64_t kElementsPerTask = 1 << 14;

std::int64_t wrapped(std::uint64_t x) {
    return static_cast<std::int64_t>(x);
}

at::Tensor logicalShift(const at::Tensor& x, std::int64_t by) {
    return at::bitwise_right_shift(x, by).bitwise_and_((std::int64_t{1} << (64 - by)) - 1);
}

}  // namespace

at::Tensor dropoutMask(at::IntArrayRef shape, const DropoutPlace& place, at::Device device) {
    if (!device.is_cpu()) return dropoutMaskByTensors(shape, place, device);
    at::Tensor mask = at::empty(shape, at::TensorOptions().dtype(at::kBool));
    bool* kept = mask.data_ptr<bool>();
    const std::uint32_t threshold = dropoutThreshold(place.rate);
    const auto first = static_cast<std::uint64_t>(place.firstElement);
    at::parallel_for(0, mask.numel(), kElementsPerTask, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) kept[i] = dropoutKeeps(place.key, first + static_cast<std::uint64_t>(i), threshold);
    });
    return mask;
}

at::Tensor dropoutMaskByTensors(at::IntArrayRef shape, const DropoutPlace& place, at::Device device) {
    // int64 arithmetic wraps around as the function's unsigned numbers do.
    const std::int64_t count = c10::multiply_integers(shape);
    at::Tensor x = at::arange(place.firstElement, place.firstElement + count, at::TensorOptions().dtype(at::kLong).device(device));
    x.bitwise_xor_(wrapped(place.key)).add_(wrapped(0x9e3779b97f4a7c15ULL));
    x.bitwise_xor_(logicalShift(x, 30)).mul_(wrapped(0xbf58476d1ce4e5b9ULL));
    x.bitwise_xor_(logicalShift(x, 27)).mul_(wrapped(0x94d049bb133111ebULL));
    x.bitwise_xor_(logicalShift(x, 31));
    return logicalShift(x, 32).ge(static_cast<std::int64_t>(dropoutThreshold(place.rate))).view(shape);
}

}  // namespace stepscope
