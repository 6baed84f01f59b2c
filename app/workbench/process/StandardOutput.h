// Descriptor 1 of `stepscope-cli engine`, on which frames go out: nothing else may be written there. Before any library's constructor runs
// (EarlyEnd.h) it becomes another one, and what libraries print to stdout goes where descriptor 2 goes. Of no other subcommand.
#pragma once

namespace stepscope::standard_output {

// Does nothing unless these words start an engine or a line to one. Needs no library.
void take(int argc, char** argv);
int descriptor();  // of what was descriptor 1; -1: it was not taken

// Around what starts the program once more (WorkerWaits.cpp).
void giveBack();
void takeAgain();

}  // namespace stepscope::standard_output
