// Whether a sanitizer watches this process: what is tested is slowed down then, and memory is counted otherwise. Asked as a test runs, because tests
// are compiled once for all builds (packaging/cmake/StepscopeTests.cmake).
#pragma once

extern "C" {
void __asan_init() __attribute__((weak));
void __tsan_init() __attribute__((weak));
}

namespace stepscope {

inline bool underSanitizer() {
    return &__asan_init != nullptr || &__tsan_init != nullptr;
}

}  // namespace stepscope
