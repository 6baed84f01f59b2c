#include "widgets/panels/sessions/Ages.h"

#include <QAbstractItemView>
#include <QTimer>

namespace stepscope {
namespace {
constexpr int kAgeMs = 30'000;
}

void keepAgesTrue(QAbstractItemView& view) {
    auto* timer = new QTimer(&view);
    timer->setObjectName("ages");
    QObject::connect(timer, &QTimer::timeout, &view, [&view] { view.viewport()->update(); });
    timer->start(kAgeMs);
}

}  // namespace stepscope
