#include "core/memory/DeviceMemory.h"

#include <c10/core/CachingDeviceAllocator.h>
#include <c10/core/Stream.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <atomic>

#include "core/memory/HostAllocator.h"

namespace stepscope::device_memory {
namespace {

// Null before the first tensor was made there.
c10::DeviceAllocator* allocatorOf(c10::Device device) {
    c10::DeviceAllocator* allocator = c10::getDeviceAllocator(device.type());
    return allocator->initialized() ? allocator : nullptr;
}

c10::CachingAllocator::Stat handedOut(c10::Device device) {
    c10::DeviceAllocator* allocator = allocatorOf(device);
    return allocator == nullptr
               ? c10::CachingAllocator::Stat{}
               : allocator->getDeviceStats(device.index()).allocated_bytes[static_cast<std::size_t>(c10::CachingAllocator::StatType::AGGREGATE)];
}

Bytes allocatorsPeak(c10::Device device) {
    return device.is_cpu() ? host_memory::usage().peak : Bytes{handedOut(device).peak};
}

void resetAllocatorsPeak(c10::Device device) {
    if (device.is_cpu()) return host_memory::resetPeak();
    if (auto* allocator = allocatorOf(device)) allocator->resetPeakStats(device.index());
}

// Allocators keep one peak; this is the highest of those that were taken.
std::atomic<std::int64_t>& highest(c10::Device device) {
    static std::atomic<std::int64_t> ofHost{0}, ofDevice{0};
    return device.is_cpu() ? ofHost : ofDevice;
}

}  // namespace

Bytes live(c10::Device device) {
    return device.is_cpu() ? host_memory::usage().live : Bytes{handedOut(device).current};
}
Bytes peak(c10::Device device) {
    return {std::max(highest(device).load(), allocatorsPeak(device).count)};
}

void synchronise(c10::Device device) {
    if (!device.is_cpu()) c10::impl::VirtualGuardImpl(device.type()).getStream(device).synchronize();
}

void resetPeak(c10::Device device) {
    resetAllocatorsPeak(device);
    highest(device) = 0;
}

Bytes takePeak(c10::Device device) {
    const Bytes taken = allocatorsPeak(device);
    highest(device) = peak(device).count;
    resetAllocatorsPeak(device);
    return taken;
}

void trim(c10::Device device) {
    host_memory::trim();
    if (device.is_cpu()) return;
    if (auto* allocator = allocatorOf(device)) try {
            allocator->emptyCache();
        } catch (const c10::Error&) {  // the device is lost: who uses it next says so
        }
}

}  // namespace stepscope::device_memory
