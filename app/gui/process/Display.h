// Whether a window can be opened here. Qt ends the program with an abort when it cannot connect, so the same connection is made once
// before, by the libraries that Qt's plug-ins use. Called by main() before there is a QApplication.
#pragma once
#include <QString>

namespace stepscope {

QString whyNoDisplay();  // one sentence; empty = a window can be opened

}  // namespace stepscope
