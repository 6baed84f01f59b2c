#include "core/profile/activity/ActivityNames.h"

#include <cxxabi.h>
#include <fmt/format.h>

#include <cstdlib>
#include <memory>
#include <string_view>

namespace stepscope {
namespace {

// By CUPTI's numbers: CUpti_ActivityMemcpyKind, CUpti_ActivityMemoryKind, CUpti_ActivitySynchronizationType, CUpti_ActivityOverheadKind.
constexpr const char* kCopies[] = {"Unknown", "HtoD", "DtoH", "HtoA", "AtoH", "AtoA", "AtoD", "DtoA", "DtoD", "HtoH", "PtoP"};
constexpr const char* kMemories[] = {"Unknown", "Pageable", "Pinned", "Device", "Array", "Managed", "Device Static", "Managed Static"};
constexpr const char* kWaits[] = {"Unknown Sync", "Event Sync", "Stream Wait Event", "Stream Sync", "Context Sync"};
struct Overhead {
    int number;
    const char* name;
};
constexpr Overhead kOverheads[] = {{1, "Driver Compiler"},
                                   {1 << 16, "Buffer Flush"},
                                   {2 << 16, "Instrumentation"},
                                   {3 << 16, "Resource"},
                                   {4 << 16, "Runtime Triggered Module Loading"},
                                   {5 << 16, "Lazy Function Loading"},
                                   {6 << 16, "Command Buffer Full"},
                                   {7 << 16, "Activity Buffer Request"},
                                   {8 << 16, "UVM Activity Init"}};

template <std::size_t N>
const char* word(const char* const (&words)[N], int number) {
    return words[number > 0 && static_cast<std::size_t>(number) < N ? static_cast<std::size_t>(number) : 0];
}

// "cudaLaunchKernel_v7000" is cudaLaunchKernel; "cuMemAlloc_v2" is a function of its own.
std::string callName(std::string_view name) {
    const auto at = name.rfind("_v");
    if (at != std::string_view::npos && name.size() - at >= 6 && name.find_first_not_of("0123456789", at + 2) == std::string_view::npos)
        name = name.substr(0, at);
    return std::string(name);
}

}  // namespace

std::string demangled(const char* name) {
    if (std::string_view(name).substr(0, 2) != "_Z") return name;  // or a kernel that is called "i" would be an int
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> text(abi::__cxa_demangle(name, nullptr, nullptr, &status), &std::free);
    return status == 0 && text ? std::string(text.get()) : std::string(name);
}

std::string activityName(const CudaActivity& activity) {
    switch (activity.kind) {
        case CudaActivityKind::Kernel:
            return activity.name != nullptr && *activity.name != '\0' ? demangled(activity.name) : "a kernel without a name";
        case CudaActivityKind::Memcpy:
            return fmt::format("Memcpy {} ({} -> {})", word(kCopies, activity.copyKind), word(kMemories, activity.from),
                               word(kMemories, activity.to));
        case CudaActivityKind::Memset:
            return fmt::format("Memset ({})", word(kMemories, activity.to));
        case CudaActivityKind::Runtime:
            return activity.name != nullptr ? callName(activity.name) : "a call of the CUDA runtime";
        case CudaActivityKind::Driver:
            return activity.name != nullptr ? callName(activity.name) : "a call of the CUDA driver";
        case CudaActivityKind::Synchronisation:
            return word(kWaits, activity.what);
        case CudaActivityKind::Overhead:
            for (const auto& [number, name] : kOverheads)
                if (number == activity.what) return name;
            return "Unrecognized";
        case CudaActivityKind::External:
        case CudaActivityKind::EventRecord:
            break;
    }
    return {};
}

}  // namespace stepscope
