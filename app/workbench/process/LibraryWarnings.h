// What libraries write to std::cerr, LibTorch's warnings above all, and to descriptor 2 (LibraryLines), as sentences for our own log instead of raw
// on a terminal. LibTorch's warning handler is of one thread, and autograd and OpenMP have threads of their own: so the stream itself is taken. Our
// programs do not write to it.
#pragma once
#include <cstdint>
#include <functional>
#include <string>

namespace stepscope {

// std::cerr, from here on, to the end of the program. A second call does nothing, nor does any where STEPSCOPE_RAW_STDERR is set.
void takeLibraryWarnings();

// A line that a library wrote elsewhere. Any thread.
void tellLibraryLine(const std::string& line);
// So many more lines were written than could be told.
void leaveOutLibraryLines(std::uint64_t lines);

// "LibTorch warns: …" of what one write said: without LibTorch's place, time and name of the function, and without what a terminal would obey. Empty
// when nothing is left, or when another sentence tells it.
std::string warningSentence(const std::string& written);

// The newest one alive hears each warning once, 100 of them at most and at its end how many more there were: those of std::cerr on the thread that
// wrote them, lines on the one that reads them; first what was written while there was none.
class LibraryWarningListener {
public:
    explicit LibraryWarningListener(std::function<void(const std::string& sentence)> hear);
    ~LibraryWarningListener();
    LibraryWarningListener(const LibraryWarningListener&) = delete;
    LibraryWarningListener& operator=(const LibraryWarningListener&) = delete;
};

}  // namespace stepscope
