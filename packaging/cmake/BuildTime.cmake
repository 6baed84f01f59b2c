# What makes the first build short: precompiled headers, several files compiled as one (unity), and less optimisation where none is needed. The first two change nothing in the programs.
# Measured: CONTRIBUTING.md.
#
# stepscope_precompiled(NAME HEADER DEPS... [OPTIONS...]) makes a precompiled header, stepscope_precompile(TARGET NAME) lets a target use it.
# A file still includes what it needs, so that -DSTEPSCOPE_PCH=OFF builds: packaging/tidy reads the files that way.
# stepscope_unity(TARGET [APART file...] [ALONE file...]): files of TARGET are compiled STEPSCOPE_UNITY_BATCH at a time; those that use a name for a thing of their
# own that another file has, too, are compiled apart from the rest with each other, or alone. With GROUP and FILES only those files, never together with another group's. -DSTEPSCOPE_UNITY=OFF (the dev preset) compiles each file by itself.
# stepscope_compile_soon(TARGET): with -O1, for code whose time goes into waiting, for a person, a file or LibTorch; a fifth to a third less to compile than with -O2.
# stepscope_compile_soonest(TARGET): with -Og, for what a person would not notice were it half as fast again; a seventh to a quarter less again.
option(STEPSCOPE_PCH "Precompiled headers" ON)
option(STEPSCOPE_UNITY "Compile several files of a room as one" ON)
# What files share is compiled once a batch: few cores are done soonest with few batches, many cores with as many as they are.
cmake_host_system_information(RESULT cores QUERY NUMBER_OF_LOGICAL_CORES)
if(cores GREATER 4)
  set(STEPSCOPE_UNITY_BATCH 8 CACHE STRING "So many files of a room are compiled as one")
else()
  set(STEPSCOPE_UNITY_BATCH 55 CACHE STRING "So many files of a room are compiled as one")
endif()

# g++ gathers garbage a dozen times in a batch and walks its whole precompiled header each time; where there is memory for it, it begins at 1 GiB instead of
# some MB: 8 % less of a compile's time, up to 45 % more of its memory (at most 1.9 GB a compile here). The same code comes out.
cmake_host_system_information(RESULT memory QUERY TOTAL_PHYSICAL_MEMORY)  # MiB
math(EXPR memory_a_core "${memory} / ${cores}")
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND memory_a_core GREATER 3000)
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:--param=ggc-min-heapsize=1048576>)
endif()

# Files of the programs that see core/events/Event.h, directly or by a header: in batches of their own, so that with a new event no other file is compiled
# anew. Asked when the build is configured; one that comes to see it later only costs that time until then.
function(stepscope_files_that_see header out)
  set(found ${header})
  set(all "")
  while(found)
    list(JOIN found "|" words)
    string(REPLACE "." "[.]" words "${words}")
    execute_process(COMMAND grep -rlE --include=*.h --include=*.cpp "^#include \"(${words})\"" core sessions app widgets
      WORKING_DIRECTORY ${CMAKE_SOURCE_DIR} OUTPUT_VARIABLE lines)
    string(REGEX MATCHALL "[^\n]+" found "${lines}")
    if(found AND all)
      list(REMOVE_ITEM found ${all})
    endif()
    list(APPEND all ${found})
    list(FILTER found INCLUDE REGEX "\\.h$")
  endwhile()
  set(${out} ${all} PARENT_SCOPE)
endfunction()
stepscope_files_that_see(core/events/Event.h STEPSCOPE_SEE_EVENTS)

function(stepscope_unity target)
  cmake_parse_arguments(UNITY "" "GROUP" "APART;ALONE;FILES" ${ARGN})
  if(NOT STEPSCOPE_UNITY)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${STEPSCOPE_UNITY_BATCH})
  # g++ takes a file of a batch for a header, whose classes should hold nothing of an unnamed namespace.
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-subobject-linkage>)
  if(NOT UNITY_GROUP AND NOT UNITY_APART)
    get_target_property(others ${target} SOURCES)
    list(FILTER others INCLUDE REGEX "\\.cpp$")
    set(events "")
    foreach(file ${others})
      get_filename_component(place ${file} ABSOLUTE)
      file(RELATIVE_PATH place ${CMAKE_SOURCE_DIR} ${place})
      if(place IN_LIST STEPSCOPE_SEE_EVENTS)
        list(APPEND events ${file})
      endif()
    endforeach()
    if(events)
      list(REMOVE_ITEM others ${events})
      stepscope_unity(${target} GROUP rest FILES ${others})
      stepscope_unity(${target} GROUP events FILES ${events} ALONE ${UNITY_ALONE})
      return()
    endif()
  endif()
  if(UNITY_APART)
    get_target_property(rest ${target} SOURCES)
    list(FILTER rest INCLUDE REGEX "\\.cpp$")
    list(FILTER rest EXCLUDE REGEX "\\.isa\\.cpp$")
    foreach(file ${UNITY_APART} ${UNITY_ALONE})
      list(REMOVE_ITEM rest ${file} ${CMAKE_CURRENT_SOURCE_DIR}/${file})
    endforeach()
    stepscope_unity(${target} GROUP rest FILES ${rest})
    stepscope_unity(${target} GROUP apart FILES ${UNITY_APART} ALONE ${UNITY_ALONE})
    return()
  endif()
  if(UNITY_GROUP)
    set_target_properties(${target} PROPERTIES UNITY_BUILD_MODE GROUP)
    set(place 0)
    # Of equal size: a short batch reads what files share for few of them.
    list(LENGTH UNITY_FILES count)
    math(EXPR batches "(${count} + ${STEPSCOPE_UNITY_BATCH} - 1) / ${STEPSCOPE_UNITY_BATCH}")
    foreach(file ${UNITY_FILES})
      math(EXPR batch "${place} * ${batches} / ${count}")
      math(EXPR place "${place} + 1")
      set_source_files_properties(${file} PROPERTIES UNITY_GROUP ${UNITY_GROUP}${batch})
    endforeach()
  endif()
  foreach(file ${UNITY_ALONE})
    if(NOT EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${file})
      message(FATAL_ERROR "stepscope_unity(${target}): there is no ${file} any more")
    endif()
    set_source_files_properties(${CMAKE_CURRENT_SOURCE_DIR}/${file} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  endforeach()
endfunction()

set(STEPSCOPE_SOON_OPTIONS $<$<CONFIG:Release>:-O1>)
set(STEPSCOPE_SOONEST_OPTIONS $<$<CONFIG:Release>:-Og>)

function(stepscope_precompiled name header)
  cmake_parse_arguments(PCH "" "" "DEPS;OPTIONS" ${ARGN})
  if(NOT STEPSCOPE_PCH)
    return()
  endif()
  add_library(${name} OBJECT ${CMAKE_SOURCE_DIR}/packaging/cmake/pch/empty.cpp)
  target_link_libraries(${name} PRIVATE stepscope_options ${PCH_DEPS})
  target_compile_options(${name} PRIVATE ${PCH_OPTIONS})
  target_precompile_headers(${name} PRIVATE ${CMAKE_SOURCE_DIR}/packaging/cmake/pch/${header})
  # CMake wants a file that reads the header; CLI11's global objects alone take such a one 4 s with -O2.
  set_source_files_properties(${CMAKE_SOURCE_DIR}/packaging/cmake/pch/empty.cpp PROPERTIES COMPILE_OPTIONS "${STEPSCOPE_SOONEST_OPTIONS}")
endfunction()

function(stepscope_precompile target name)
  if(STEPSCOPE_PCH AND TARGET ${name})
    target_precompile_headers(${target} REUSE_FROM ${name})
  endif()
endfunction()

function(stepscope_compile_soon target)
  target_compile_options(${target} PRIVATE ${STEPSCOPE_SOON_OPTIONS})
endfunction()
function(stepscope_compile_soonest target)
  # With -Og g++ knows too little of what a value can be for these two, and guesses.
  target_compile_options(${target} PRIVATE ${STEPSCOPE_SOONEST_OPTIONS} $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized> $<$<CXX_COMPILER_ID:GNU>:-Wno-stringop-overread>)
endfunction()

# Tests are compiled with -Og, which takes a quarter less time than -O1 and, for them, than -O0; and without sanitizers, which double it: what they test
# has them.
set(STEPSCOPE_TEST_OPTIONS $<$<CONFIG:Release>:-Og>)
if(STEPSCOPE_SANITIZE MATCHES address)
  list(APPEND STEPSCOPE_TEST_OPTIONS -fno-sanitize=all)
endif()
