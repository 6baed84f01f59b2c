# Imported targets torch_cpu, c10 (and torch_cuda, c10_cuda for the plug-in) from the unpacked PyPI wheel.
# No find_package(Torch): it fails without a CUDA toolkit and drags CUDA targets into a program that must start without them.
set(STEPSCOPE_VENV "${CMAKE_SOURCE_DIR}/build/venv" CACHE PATH "The virtual environment with the torch wheel (packaging/run makes it)")
file(GLOB site_packages ${STEPSCOPE_VENV}/lib/python3*/site-packages)
if(NOT EXISTS "${site_packages}/torch/lib/libtorch_cpu.so")
  message(FATAL_ERROR "LibTorch is not in ${STEPSCOPE_VENV}. Run packaging/run --build-only once, or set STEPSCOPE_VENV.")
endif()
set(TORCH_ROOT ${site_packages}/torch)
set(STEPSCOPE_SITE_PACKAGES ${site_packages})
file(READ ${TORCH_ROOT}/version.py torch_version_text)
string(REGEX MATCH "__version__ = '([^']+)'" _ "${torch_version_text}")
set(STEPSCOPE_TORCH_VERSION ${CMAKE_MATCH_1})

# Where the wheel's companions (CUDA runtime, CUPTI) lie: libtorch_cpu needs both even without a GPU.
file(GLOB nvidia_libs ${site_packages}/nvidia/*/lib)
set(STEPSCOPE_RPATH ${TORCH_ROOT}/lib ${nvidia_libs})

foreach(lib torch_cpu c10 torch_cuda c10_cuda)
  add_library(${lib} SHARED IMPORTED GLOBAL)
  set_target_properties(${lib} PROPERTIES IMPORTED_LOCATION ${TORCH_ROOT}/lib/lib${lib}.so IMPORTED_NO_SONAME FALSE)
  # After /usr/include: the wheel carries its own fmt and nlohmann headers, and the ones we link to must win.
  target_compile_options(${lib} INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:SHELL:-idirafter ${TORCH_ROOT}/include>")
endforeach()
# at::parallel_for is a template over OpenMP: compiled without it, it runs its loop on the calling thread and says nothing. The wheel's own libgomp, so
# that there is one team of threads.
target_compile_options(torch_cpu INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-fopenmp>)
set_target_properties(torch_cpu PROPERTIES INTERFACE_LINK_LIBRARIES "c10;${TORCH_ROOT}/lib/libgomp.so.1")
set_target_properties(torch_cuda PROPERTIES INTERFACE_LINK_LIBRARIES "torch_cpu;c10_cuda")

# The wheel carries the headers of a newer fmt but no library of it; -idirafter makes LibTorch's headers read the system's, whose library we link.
target_compile_definitions(torch_cpu INTERFACE AT_PER_OPERATOR_HEADERS)

# The libraries that libtorch_cpu needs are found through its own RUNPATH at run time; the linker need not look.
add_link_options(-Wl,--allow-shlib-undefined)

# DT_RUNPATH: what a person names in LD_LIBRARY_PATH comes first. It serves what the programs link or open themselves; the wheel's libraries find each
# other, libgomp and the CUDA runtime by paths of their own.
set(CMAKE_BUILD_RPATH ${STEPSCOPE_RPATH})
add_link_options(-Wl,--enable-new-dtags)

stepscope_precompiled(stepscope_torch_pch torch.h DEPS fmt::fmt torch_cpu c10 OPTIONS -Wno-deprecated-declarations)
if(STEPSCOPE_TESTS)
  stepscope_precompiled(stepscope_torch_test_pch torch_test.h DEPS fmt::fmt torch_cpu c10 GTest::gtest GTest::gmock
    OPTIONS -Wno-deprecated-declarations -fPIE ${STEPSCOPE_TEST_OPTIONS})
endif()

# A room whose sources see LibTorch.
function(stepscope_torch_room name)
  stepscope_room(${name} PCH stepscope_torch_pch ${ARGN})
  target_link_libraries(${name} PUBLIC torch_cpu c10)
  target_compile_options(${name} PRIVATE -Wno-deprecated-declarations)
endfunction()
