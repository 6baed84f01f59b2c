// What the list of another machine's files is told and asks, as plain structs. Shared by FilesDialog, who opens it (RecentPaths) and who asks that
// machine (app/gui). GUI thread.
#pragma once
#include <QString>
#include <QStringList>
#include <vector>

namespace stepscope {

// What is to be chosen, here or there.
struct FilesQuestion {
    QString title;
    bool folder = false;
    QStringList filters;  // of files: "Text (*.txt *.md)"
    QString near;         // a path in whose folder it begins
};

struct FilesAsked {
    QString path;  // of a folder or a file; empty: the home there
    bool foldersOnly = false;
    QStringList endings;  // of files, in small letters; none: all
};

struct FilesEntry {
    QString name;
    bool folder = false;
    qint64 bytes = 0;
};

struct FilesView {
    QString folder;  // whole path; empty: nothing is known, and the problem says why
    QString file;    // the one in it that was asked for by its path
    std::vector<FilesEntry> entries;
    qint64 more = 0, hidden = 0, unnamed = 0;  // that are not among them: too many, named with a dot, not to be shown
    QString problem;
};

}  // namespace stepscope
