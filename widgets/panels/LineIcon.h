// The app's own line icons (resources/icons), drawn in the colour of the text, so that they follow light, dark and disabled.
// Called by panels and the window on the GUI thread.
#pragma once
#include <QIcon>
#include <QString>

namespace stepscope {

QIcon lineIcon(const QString& name);  // "run", "pause", ...
// The same drawing in one fixed colour, e.g. on an accent-coloured button.
QIcon lineIcon(const QString& name, const QColor& colour);
QIcon applicationIcon();

}  // namespace stepscope
