// A program that was started with a standard stream closed (">&-") would open its first files under that stream's number, and print into them.
#pragma once

namespace stepscope::cli {

// First statement of main: opens what is closed so that writing to it, or reading from it, fails.
void openStandardStreams();

}  // namespace stepscope::cli
