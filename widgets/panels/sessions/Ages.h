// "4 min ago" becomes "5 min ago" without anybody touching the list. Used by the panel and the page of sessions; GUI thread.
#pragma once

class QAbstractItemView;

namespace stepscope {

// Paints what is in sight of the view twice a minute, as long as it lives; where it is hidden Qt paints nothing.
void keepAgesTrue(QAbstractItemView& view);

}  // namespace stepscope
