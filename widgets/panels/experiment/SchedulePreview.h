// The learning rate over the whole run, drawn before it starts from the same function that the trainer follows.
// Part of ExperimentPanel; GUI thread.
#pragma once
#include <QWidget>

#include "core/events/RunConfig.h"

namespace stepscope {

class SchedulePreview : public QWidget {
    Q_OBJECT
public:
    explicit SchedulePreview(QWidget* parent = nullptr);
    void setConfig(const RunConfig& config);
    QString asCsv() const;  // of every step, or of a thousand of them
    QSize sizeHint() const override { return {200, 56}; }

protected:
    void paintEvent(QPaintEvent*) override;

private:
    RunConfig m_config;
};

}  // namespace stepscope
