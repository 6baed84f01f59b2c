// Where a picture lies in a scroll area, the keys take it along: what they are at is seen. Called by charts and panes that are painted by hand.
// GUI thread.
#pragma once
#include <QRect>
#include <QScrollArea>
#include <QWidget>

namespace stepscope {

// part: of the picture. Nothing where it lies in no scroll area.
inline void keepInSight(QWidget& picture, const QRect& part) {
    for (QWidget* around = picture.parentWidget(); around != nullptr; around = around->parentWidget())
        if (auto* area = qobject_cast<QScrollArea*>(around);
            area != nullptr && area->widget() != nullptr && (area->widget() == &picture || area->widget()->isAncestorOf(&picture))) {
            const QPoint centre = picture.mapTo(area->widget(), part.center());
            return area->ensureVisible(centre.x(), centre.y(), part.width() / 2 + 4, part.height() / 2 + 4);
        }
}

}  // namespace stepscope
