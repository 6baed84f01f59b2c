// What lies in a folder of this machine, for a window on another one that has no dialog here (sessions/wire/LookWords.h). Asked by EngineLooks and by
// nothing that trains. Reads names, kinds and sizes; any thread.
#pragma once
#include "sessions/wire/LookWords.h"

namespace stepscope {

// Folders and files, those behind links too; no sockets and devices. Never fails: what is wrong is its problem.
FolderListed listFolder(const FolderAsked& asked);

}  // namespace stepscope
