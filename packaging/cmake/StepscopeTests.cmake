# stepscope_test(NAME [ONCE] SOURCES ... DEPS ... [ENVIRONMENT ...]): one GoogleTest program, over the precompiled header that STEPSCOPE_TEST_PCH names.
# ONCE: where the environment's STEPSCOPE_TEST_OBJECTS names another build that is up to date, its objects are linked instead of compiling the same again:
# packaging/test does so for the sanitizers' build, whose tests are compiled without sanitizers all the same (BuildTime.cmake). For tests that are compiled
# alike in every build: no file of the build folder is named in them, and whether a sanitizer watches is asked as they run (tests/support/Sanitized.h).
# stepscope_test_program(NAME [ONCE] PCH pch SOURCES ...): only the program, for what links otherwise or is known to CTest otherwise.
# stepscope_test_objects(NAME [PCH]): how the objects of a test program are compiled.
# stepscope_suites(PROGRAM [PREFIX p] [WITHOUT test...] [LABELS ...] [ENVIRONMENT ...]): its tests for CTest, one entry a suite: to start a program that loads LibTorch
# or Qt takes longer than most tests. A test is run alone by the program itself: PROGRAM --gtest_filter=Suite.Test.
# stepscope_each(PROGRAM SUITE...): suites of which each test is an entry, because it takes long or because it must begin in a new process.
# stepscope_serial(PROGRAM TEST...): tests that CTest runs with no other beside them, because they assert times.
# stepscope_under_isas(NAME PROGRAM FILTER filter ISAS isa... [ENVIRONMENT ...]): tests of a program once more under each lower instruction set that this machine
# has; under another they would only repeat the run without.
# For ENVIRONMENT of tests that hold ours against LibTorch's bf16, place by place or within a rounding: oneDNN's products by AMX carry what is no number to other
# places, and round otherwise.
set(STEPSCOPE_ONEDNN_WITHOUT_AMX ONEDNN_MAX_CPU_ISA=AVX512_CORE_BF16)

# The words of STEPSCOPE_ISA (core/kernels/isa) that this machine's processor has.
set(STEPSCOPE_ISAS_HERE baseline avx2 avx512 avx512bf16 amx)
if(EXISTS /proc/cpuinfo)
  file(STRINGS /proc/cpuinfo flags REGEX "^flags" LIMIT_COUNT 1)
  set(needed fpu avx2 avx512bw avx512_bf16 amx_bf16)
  foreach(isa flag IN ZIP_LISTS STEPSCOPE_ISAS_HERE needed)
    if(NOT "${flags} " MATCHES " ${flag} ")
      list(REMOVE_ITEM STEPSCOPE_ISAS_HERE ${isa})
    endif()
  endforeach()
endif()

function(stepscope_under_isas name program)
  cmake_parse_arguments(UNDER "" "FILTER" "ISAS;ENVIRONMENT" ${ARGN})
  foreach(isa ${UNDER_ISAS})
    if(isa IN_LIST STEPSCOPE_ISAS_HERE)
      add_test(NAME "${name}.${isa}" COMMAND ${program} "--gtest_filter=${UNDER_FILTER}")
      set_tests_properties("${name}.${isa}" PROPERTIES ENVIRONMENT "STEPSCOPE_ISA=${isa};GOMP_SPINCOUNT=1000;${UNDER_ENVIRONMENT}" TIMEOUT 300)
    endif()
  endforeach()
endfunction()

function(stepscope_test_objects name)
  target_compile_options(${name} PRIVATE ${STEPSCOPE_TEST_OPTIONS})
  if(ARGC GREATER 1)
    stepscope_precompile(${name} ${ARGV1})
  endif()
endfunction()

function(stepscope_test_program name)
  cmake_parse_arguments(TEST "ONCE" "PCH" "SOURCES" ${ARGN})
  set(list ${CMAKE_CURRENT_BINARY_DIR}/${name}.objects)
  if(TEST_ONCE AND DEFINED ENV{STEPSCOPE_TEST_OBJECTS})
    file(RELATIVE_PATH place ${CMAKE_BINARY_DIR} ${list})
    set(list $ENV{STEPSCOPE_TEST_OBJECTS}/${place})
    file(STRINGS ${list} objects)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${list})
    set_source_files_properties(${objects} PROPERTIES EXTERNAL_OBJECT TRUE)
    add_executable(${name} ${objects})
    set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CXX)
  else()
    add_executable(${name} ${TEST_SOURCES})
    stepscope_test_objects(${name} ${TEST_PCH})
    if(TEST_ONCE)
      file(GENERATE OUTPUT ${list} CONTENT "$<JOIN:$<TARGET_OBJECTS:${name}>,\n>\n")
    endif()
  endif()
endfunction()

function(stepscope_test name)
  cmake_parse_arguments(TEST "ONCE" "" "SOURCES;DEPS;LABELS;ENVIRONMENT" ${ARGN})
  set(once "")
  if(TEST_ONCE)
    set(once ONCE)
  endif()
  stepscope_test_program(${name} ${once} PCH ${STEPSCOPE_TEST_PCH} SOURCES ${TEST_SOURCES})
  target_link_libraries(${name} PRIVATE ${TEST_DEPS} GTest::gtest GTest::gmock GTest::gtest_main)
  stepscope_suites(${name} LABELS ${TEST_LABELS} ENVIRONMENT ${TEST_ENVIRONMENT})
endfunction()

# Every suite runs with GOMP_SPINCOUNT=1000, as both programs set it for themselves (app/workbench/process/WorkerWaits.cpp): two tests at a time must not spin for
# each other's cores. Emulated CUDA steps beside such a one took thirty times as long.
# Which suites there are is asked of the built program when CTest starts (AddSuites.cmake), and again when it was built anew.
function(stepscope_suites name)
  cmake_parse_arguments(SUITES "" "PREFIX" "WITHOUT;LABELS;ENVIRONMENT" ${ARGN})
  set(file ${CMAKE_CURRENT_BINARY_DIR}/${name}_suites.cmake)
  file(GENERATE OUTPUT ${file} CONTENT
"include([==[${CMAKE_SOURCE_DIR}/packaging/cmake/AddSuites.cmake]==])
stepscope_add_suites(PROGRAM [==[$<TARGET_FILE:${name}>]==] FOLDER [==[${CMAKE_CURRENT_BINARY_DIR}]==] PREFIX [==[${SUITES_PREFIX}]==] WITHOUT [==[${SUITES_WITHOUT}]==]
  EACH [==[$<TARGET_PROPERTY:${name},STEPSCOPE_EACH>]==] SERIAL [==[$<TARGET_PROPERTY:${name},STEPSCOPE_SERIAL>]==]
  LABELS [==[${SUITES_LABELS}]==] ENVIRONMENT [==[GOMP_SPINCOUNT=1000;${SUITES_ENVIRONMENT}]==])
")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${file})
endfunction()

function(stepscope_each name)
  set_property(TARGET ${name} APPEND PROPERTY STEPSCOPE_EACH ${ARGN})
endfunction()

function(stepscope_serial name)
  set_property(TARGET ${name} APPEND PROPERTY STEPSCOPE_SERIAL ${ARGN})
endfunction()
