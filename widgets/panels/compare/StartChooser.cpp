#include "widgets/panels/compare/StartChooser.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>

#include "widgets/panels/LineIcon.h"
#include "widgets/style/Metrics.h"

namespace stepscope {
namespace {

const QString kCheckpointFolder = "folder of a checkpoint…", kStartFile = "another weights file…";

}  // namespace

StartChooser::StartChooser(QWidget* parent) : QWidget(parent) {
    auto* name = new QLabel("Both begin with");
    m_list = new QComboBox;
    m_list->setAccessibleName("Both begin with");
    m_list->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    m_list->setMinimumContentsLength(14);
    name->setBuddy(m_list);
    auto* layout = new QHBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(space(2));
    layout->addWidget(name);
    layout->addWidget(m_list, 1);
    layout->addStretch(1);
    connect(m_list, &QComboBox::activated, this, &StartChooser::take);
    rebuild();
}

void StartChooser::setStart(const QString& path) {
    m_start = path;
    rebuild();
}

void StartChooser::rebuild() {
    m_list->clear();
    m_list->addItem(lineIcon("dice"), "fresh weights", QString());
    m_list->setItemData(0, QString("A new model of each side, drawn with one seed; or the weights that the settings at the left start from"),
                        Qt::ToolTipRole);
    m_recent.addTo(*m_list, m_start);
    m_list->insertSeparator(m_list->count());
    m_list->addItem(lineIcon("folder"), kCheckpointFolder, kCheckpointFolder);
    m_list->addItem(lineIcon("file"), kStartFile, kStartFile);
    const int current = m_list->findData(m_start);
    m_list->setCurrentIndex(current);
    m_list->setToolTip(m_list->itemData(current, Qt::ToolTipRole).toString());
}

void StartChooser::take(int index) {
    const QString now = m_list->itemData(index).toString();
    if (now != kCheckpointFolder && now != kStartFile) return choose(now);
    m_list->setCurrentIndex(m_list->findData(m_start));
    const bool folder = now == kCheckpointFolder;
    m_recent.ask(this,
                 {.title = folder ? "Folder of a checkpoint, or of Hugging Face's transformers" : "Weights that both sides begin with",
                  .folder = folder,
                  .filters = {"Weights (*.safetensors *.bin)", "All files (*)"},
                  .near = m_start.isEmpty() ? m_recent.newest() : m_start},
                 [this](const QString& path) { choose(path); });
}

void StartChooser::choose(const QString& path) {
    setStart(path);
    Q_EMIT chosen(path);
}

}  // namespace stepscope
