// What happens before a program's main begins. Descriptor 2 is taken, as libraries say things while they are loaded (libgomp of its variables). And
// what ends the program then is a sentence: LibTorch's own initialisation throws, or crashes, where memory is limited to less than it needs (ulimit
// -v), and nobody could catch that. Included by the file of main() alone, once. What the dynamic loader refuses it says itself.
#pragma once
#include <signal.h>
#include <unistd.h>

#include <cstring>
#include <exception>
#include <new>

#include "app/workbench/process/StandardError.h"
#include "app/workbench/process/StandardOutput.h"
#include "app/workbench/process/StandardStreams.h"

namespace stepscope::early_end {

constexpr int kOutOfMemory = 6;  // as ExitCode.h of the command line has it
static std::terminate_handler s_usual = nullptr;

// Nothing here may need memory.
[[noreturn]] inline void sayNoMemory() {
    static const char sentence[] = "stepscope: There is not enough memory for this; is it limited (ulimit -v)?\n";
    if (::write(standard_error::descriptor(), sentence, std::strlen(sentence)) < 0) ::_exit(kOutOfMemory);
    ::_exit(kOutOfMemory);
}

[[noreturn]] inline void terminated() {
    if (std::current_exception()) {
        try {
            throw;
        } catch (const std::bad_alloc&) {
            sayNoMemory();
        } catch (...) {
            // Somebody's mistake: as it would be without us.
        }
    }
    if (s_usual != nullptr) s_usual();
    ::_exit(1);
}

static void listen(int argc, char** argv, char** environment) {
    openStandardStreams();
    standard_error::take(environment);
    standard_output::take(argc, argv);
    s_usual = std::set_terminate(&terminated);
    struct sigaction crash {};
    crash.sa_handler = [](int) { sayNoMemory(); };
    ::sigaction(SIGSEGV, &crash, nullptr);
}

// Called before the libraries' own initialisation; there is no other place that is.
static void (*const s_listen)(int, char**, char**) __attribute__((section(".preinit_array"), used)) = &listen;

// First statement of main(): a crash from here on is one.
inline void begun() {
    ::signal(SIGSEGV, SIG_DFL);
    standard_error::catchFaults();
}

}  // namespace stepscope::early_end
