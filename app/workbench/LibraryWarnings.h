// What libraries write to std::cerr, LibTorch's warnings above all, as sentences for our own log instead of raw on a terminal. LibTorch's warning
// handler is of one thread, and autograd and OpenMP have threads of their own: so the stream itself is taken. Our programs do not write to it.
#pragma once
#include <functional>
#include <string>

namespace stepscope {

// From here on, to the end of the program. A second call does nothing.
void takeLibraryWarnings();

// "LibTorch warns: …" of what one write said: without LibTorch's place, time and name of the function. Empty when nothing is left, or
// when another sentence tells it.
std::string warningSentence(const std::string& written);

// The newest one alive hears each warning once, on the thread that wrote it; first what was written while there was none.
class LibraryWarningListener {
public:
    explicit LibraryWarningListener(std::function<void(const std::string& sentence)> hear);
    ~LibraryWarningListener();
    LibraryWarningListener(const LibraryWarningListener&) = delete;
    LibraryWarningListener& operator=(const LibraryWarningListener&) = delete;
};

}  // namespace stepscope
