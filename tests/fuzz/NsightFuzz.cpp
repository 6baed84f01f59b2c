// Any bytes as a database of Nsight Systems: slices, or one sentence.
#include <cstdio>
#include <fstream>

#include "core/base/Check.h"
#include "sessions/importers/NsightDatabase.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    using namespace stepscope;
    const std::string path = "/dev/shm/stepscope-nsight-fuzz.sqlite";
    std::ofstream(path, std::ios::binary).write(reinterpret_cast<const char*>(bytes), static_cast<std::streamsize>(size));
    importing::TraceBuilder trace("/tmp");
    trace.beginFile(0);
    const Status read = importing::readNsightDatabase(path, trace, [](double) { return true; });
    if (!read) SS_CHECK(read.error().sentence.starts_with('"') || read.error().sentence.ends_with('.'));
    SS_CHECK(trace.finish([](const importing::TraceBuilder::Encode& encode) { return checkChunk(encode()).ok(); }));
    std::remove(path.c_str());
    return 0;
}
