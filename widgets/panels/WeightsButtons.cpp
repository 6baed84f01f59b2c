#include "widgets/panels/WeightsButtons.h"

#include <QFileDialog>
#include <QFileInfo>
#include <QPushButton>

#include "widgets/panels/FlowLayout.h"
#include "widgets/panels/LineIcon.h"

namespace stepscope {
namespace {

QPushButton* weightsButton(const char* text, const char* icon, const char* tooltip) {
    auto* made = new QPushButton(text);
    if (icon != nullptr) made->setIcon(lineIcon(icon));
    made->setAutoDefault(false);
    made->setToolTip(tooltip);
    return made;
}

}  // namespace

WeightsButtons::WeightsButtons(const QString& purpose, QWidget* parent) : QWidget(parent), m_purpose(purpose) {
    m_file = weightsButton("File…", "file", "Weights of another program: a file of safetensors beside its config.json, or llm.c's");
    m_folder = weightsButton("Folder…", "folder", "A checkpoint's folder, or one of Hugging Face's transformers");
    m_own = weightsButton("Session's", nullptr, "The newest checkpoint of the session that is looked at, or the run in progress, again");
    auto* row = new FlowLayout(this);
    row->setContentsMargins(0, 0, 0, 0);
    for (QPushButton* button : {m_file, m_folder, m_own}) row->addWidget(button);
    connect(m_file, &QPushButton::clicked, this, [this] { browse(false); });
    connect(m_folder, &QPushButton::clicked, this, [this] { browse(true); });
    connect(m_own, &QPushButton::clicked, this, [this] { Q_EMIT chosen({}); });
    setState(true, false);
}

void WeightsButtons::add(QWidget* more) {
    layout()->addWidget(more);
}

void WeightsButtons::setState(bool enabled, bool chosen) {
    for (QPushButton* button : {m_file, m_folder}) button->setEnabled(enabled);
    m_own->setEnabled(enabled && chosen);
}

void WeightsButtons::browse(bool folder) {
    auto* dialog = new QFileDialog(this, folder ? QString("Folder of weights") : m_purpose, m_lastFolder);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setFileMode(folder ? QFileDialog::Directory : QFileDialog::ExistingFile);
    if (folder) dialog->setOption(QFileDialog::ShowDirsOnly);
    connect(dialog, &QFileDialog::fileSelected, this, [this](const QString& path) {
        m_lastFolder = QFileInfo(path).absolutePath();
        Q_EMIT chosen(path);
    });
    dialog->open();
}

}  // namespace stepscope
