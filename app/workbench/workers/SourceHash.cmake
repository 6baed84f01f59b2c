# Writes BuildIdentity.cpp: one number of all sources that training rests on, and of what they are compiled with. A step of the build:
# cmake -DROOT=... -DLIST=... -DBESIDE=... -DOUT=... -P SourceHash.cmake
cmake_minimum_required(VERSION 3.25)
file(STRINGS ${LIST} files)
set(all "${BESIDE}\n")
foreach(file ${files})
  file(SHA256 ${ROOT}/${file} hash)
  string(APPEND all "${file} ${hash}\n")
endforeach()
string(SHA256 whole "${all}")
string(SUBSTRING ${whole} 0 16 identity)
file(WRITE ${OUT} "#include \"app/workbench/workers/BuildIdentity.h\"\n\nnamespace stepscope {\n\nconst char* buildIdentity() {\n    return \"${identity}\";\n}\n\n}  // namespace stepscope\n")
