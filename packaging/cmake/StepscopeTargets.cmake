# stepscope_room(NAME [PCH ...] [FOLDERS ...] DEPS ...): the static library of one folder: all .cpp files in it, and in those of its folders that are named.
# stepscope_test(NAME SOURCES ... DEPS ...): one GoogleTest program, over the precompiled header that STEPSCOPE_TEST_PCH names.
# stepscope_serial(NAME TEST...): tests of such a program that CTest runs with no other beside them, because they assert times.
find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
  set(CMAKE_CUDA_COMPILER_LAUNCHER ${CCACHE})
endif()
find_program(MOLD NAMES mold)
find_program(LLD NAMES ld.lld)
if(MOLD)
  add_link_options(-fuse-ld=mold)
elseif(LLD)
  add_link_options(-fuse-ld=lld)
endif()

# The table of imported functions is read-only once a program has started (tests/packaging/test_hardening.py).
add_link_options(-Wl,-z,relro -Wl,-z,now)

add_library(stepscope_options INTERFACE)
target_include_directories(stepscope_options INTERFACE ${CMAKE_SOURCE_DIR})
target_compile_options(stepscope_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wno-unused-parameter -Wno-missing-field-initializers -Wno-psabi>)
target_compile_definitions(stepscope_options INTERFACE STEPSCOPE_VERSION="${PROJECT_VERSION}")
# With the compiler and options that CI builds the programs with, a warning ends the build; another compiler may warn of what this one does not know,
# and under sanitizers this one warns of the standard library.
if(CMAKE_BUILD_TYPE STREQUAL "Release" AND NOT STEPSCOPE_SANITIZE AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 12 AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  set(werror ON)
else()
  set(werror OFF)
endif()
option(STEPSCOPE_WERROR "A warning in our own code is an error" ${werror})
if(STEPSCOPE_WERROR)
  target_compile_options(stepscope_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Werror>)
endif()
# Writes past the end of an object whose size the compiler knows end the program. Debian's compiler sets another level by itself: hence -U.
if(NOT STEPSCOPE_SANITIZE)
  target_compile_options(stepscope_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-U_FORTIFY_SOURCE> $<$<COMPILE_LANGUAGE:CXX>:-D_FORTIFY_SOURCE=2>)
endif()
if(STEPSCOPE_SANITIZE)
  add_compile_options(-fsanitize=${STEPSCOPE_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${STEPSCOPE_SANITIZE})
endif()

function(stepscope_room name)
  cmake_parse_arguments(ROOM "" "PCH" "FOLDERS;DEPS" ${ARGN})
  if(NOT ROOM_PCH)
    set(ROOM_PCH stepscope_standard_pch)
  endif()
  list(TRANSFORM ROOM_FOLDERS PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  list(TRANSFORM ROOM_FOLDERS APPEND /*.cpp)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp ${ROOM_FOLDERS})
  add_library(${name} STATIC ${sources})
  target_link_libraries(${name} PUBLIC stepscope_options ${ROOM_DEPS})
  stepscope_precompile(${name} ${ROOM_PCH})
endfunction()

# Objects of tests: what they test is compiled as it is in the programs.
function(stepscope_test_objects name)
  stepscope_compile_soon(${name})
  if(ARGC GREATER 1)
    stepscope_precompile(${name} ${ARGV1})
  endif()
endfunction()

function(stepscope_test name)
  cmake_parse_arguments(TEST "" "" "SOURCES;DEPS;LABELS" ${ARGN})
  add_executable(${name} ${TEST_SOURCES})
  target_link_libraries(${name} PRIVATE ${TEST_DEPS} GTest::gtest GTest::gmock GTest::gtest_main)
  stepscope_test_objects(${name} ${STEPSCOPE_TEST_PCH})
  # An empty value would be lost on the way to CTest, and the next word taken for the label.
  set(labels "")
  if(TEST_LABELS)
    set(labels LABELS ${TEST_LABELS})
  endif()
  # As both programs set it for themselves (app/workbench/WorkerWaits.cpp): several tests at a time must not spin for each other's cores.
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST PROPERTIES TIMEOUT 300 ${labels} ENVIRONMENT "GOMP_SPINCOUNT=1000")
endfunction()

# What tests a program has is known when CTest starts, so the property is set in a file that CTest reads after their list.
function(stepscope_serial name)
  set(file ${CMAKE_CURRENT_BINARY_DIR}/${name}_serial.cmake)
  set(text "")
  foreach(test ${ARGN})
    string(APPEND text "list(FIND ${name}_TESTS \"${test}\" found)\n"
                       "if(found GREATER -1)\n"
                       "  set_tests_properties(\"${test}\" PROPERTIES RUN_SERIAL TRUE)\n"
                       "elseif(DEFINED ${name}_TESTS)\n"
                       "  message(FATAL_ERROR \"${name} has no test ${test} to run by itself; was it renamed?\")\n"
                       "endif()\n")
  endforeach()
  file(CONFIGURE OUTPUT ${file} CONTENT "${text}" @ONLY)
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${file})
endfunction()
