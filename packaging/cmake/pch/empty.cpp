// The source file that CMake wants beside a precompiled header.
