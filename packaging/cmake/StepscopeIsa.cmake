# stepscope_isa_sources(TARGET SOURCES...): compiles each source once per instruction set (core/kernels/isa/Isa.h) and adds all
# objects to TARGET. Inside, STEPSCOPE_ISA is the namespace of the set and STEPSCOPE_ISA_LEVEL its number, 0 to 3. May be called
# several times for one target. Such a file defines nothing outside its namespace and uses no inline function of a library:
# the linker keeps one copy of those, which would be an illegal instruction on an older processor.
set(STEPSCOPE_ISA_FLAGS_baseline "")
set(STEPSCOPE_ISA_FLAGS_avx2 -mavx2 -mfma)
set(STEPSCOPE_ISA_FLAGS_avx512 -mavx2 -mfma -mavx512f -mavx512bw -mavx512dq -mavx512vl -mprefer-vector-width=512)
set(STEPSCOPE_ISA_FLAGS_avx512bf16 ${STEPSCOPE_ISA_FLAGS_avx512} -mavx512bf16)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
  set(STEPSCOPE_ISAS baseline avx2 avx512 avx512bf16)
else()
  set(STEPSCOPE_ISAS baseline)
endif()

function(stepscope_isa_sources target)
  set(level 0)
  foreach(isa ${STEPSCOPE_ISAS})
    set(objects ${target}_${isa})
    if(TARGET ${objects})
      target_sources(${objects} PRIVATE ${ARGN})
    else()
      add_library(${objects} OBJECT ${ARGN})
      target_link_libraries(${objects} PRIVATE stepscope_options)
      target_compile_definitions(${objects} PRIVATE STEPSCOPE_ISA=${isa} STEPSCOPE_ISA_LEVEL=${level})
      # ISO mode switches contraction to fma off; errno and trapping arithmetic stand in the way of vector code. NaN and inf stay exact.
      target_compile_options(${objects} PRIVATE ${STEPSCOPE_ISA_FLAGS_${isa}} -ffp-contract=fast -fno-math-errno -fno-trapping-math)
      # The undefined operands inside g++ 12's own intrinsics.
      target_compile_options(${objects} PRIVATE -Wno-uninitialized $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
      if(NOT STEPSCOPE_SANITIZE)
        target_compile_options(${objects} PRIVATE -O3)  # in the dev preset too: an unoptimised kernel measures nothing
      endif()
      # The compiler's intrinsics, a third of a second to read, and nothing that defines a function.
      list(LENGTH ARGN count)
      if(STEPSCOPE_PCH AND count GREATER 4)
        target_precompile_headers(${objects} PRIVATE ${CMAKE_SOURCE_DIR}/packaging/cmake/pch/isa.h)
      endif()
      target_sources(${target} PRIVATE $<TARGET_OBJECTS:${objects}>)
    endif()
    math(EXPR level "${level} + 1")
  endforeach()
endfunction()
