// A program that was started with a standard stream closed (">&-") would open its first files under that stream's number, and print into them.
#pragma once

namespace stepscope {

// Opens what is closed so that writing to it, or reading from it, fails. Before anything opens a file (EarlyEnd.h); needs no library.
void openStandardStreams();

}  // namespace stepscope
