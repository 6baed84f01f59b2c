// Descriptor 2 of our programs. What C libraries write there goes into a pipe, which LibraryLines reads, so that none of it stands raw on a terminal;
// what our programs say themselves goes to own(), the stream they were started with. Taken by the programs alone, before any library's constructor
// runs (EarlyEnd.h). When the process crashes, what is still in the pipe and what was read from it during the last second goes to that stream first:
// the last words of a crash are never lost.
#pragma once
#include <sys/types.h>

#include <cstddef>
#include <cstdio>

namespace stepscope::standard_error {

// Does nothing where STEPSCOPE_RAW_STDERR is set, where the system has no pipe left, and under sanitizers, whose reports are written to descriptor 2.
// Needs no library: environment is main's, as getenv() does not know it yet.
void take(char** environment);
bool taken();

// From main on, when a crash by a faulty instruction is no longer EarlyEnd's.
void catchFaults();

// Where a program of ours prints. stderr where nothing was taken, as in test programs.
std::FILE* own();
int descriptor();  // of it; may be asked in a signal handler

// Around what hands descriptor 2 on to another program.
void giveBack();
void takeAgain();

// Before _exit(): what libraries said a moment ago, which nobody will tell any more, is printed.
void passOnRest();

// What the reader of the pipe needs.
int pipeEnd();
ssize_t readSome(char* into, std::size_t most);  // never waits; 0 or less when there is nothing
bool ended();                                    // the process is coming to its end: what is in the pipe is passed on elsewhere
// From here on there is one, or none any more. A full pipe makes its writers wait for the reader; without one it must not.
void setRead(bool isRead);

}  // namespace stepscope::standard_error
