#include "widgets/panels/experiment/DataChooser.h"

#include <QAbstractItemView>
#include <QComboBox>
#include <QHBoxLayout>
#include <utility>

#include "widgets/panels/ElidedLabel.h"
#include "widgets/panels/LineIcon.h"
#include "widgets/panels/TitleButton.h"
#include "widgets/panels/experiment/RowParts.h"

namespace stepscope {
namespace {

const QString kFile = "file…", kFolder = "folder…";

struct BuiltIn {
    const char *id, *title, *tooltip;
};
constexpr BuiltIn kBuiltIn[] = {
    {"kjv", "King James text (built in)", "4 MB of English; where it is not installed, the generated text takes its place"},
    {"shakespeare", "Shakespeare's plays (built in)", "5 MB, 38 plays; where they are not installed, the King James text takes their place"},
    {"generated", "generated text", "A made-up language from a fixed grammar, the same on every machine"},
    {"random", "random tokens", "For measuring speed only: there is nothing to learn in them"},
};

}  // namespace

DataChooser::DataChooser(const QString& whyNewRun, QWidget* parent) : QWidget(parent) {
    m_list = new QComboBox;
    m_list->setAccessibleName("Training data");
    m_list->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    m_list->setMinimumContentsLength(12);
    QFont plain = m_list->font();
    plain.setBold(false);
    m_list->view()->setFont(plain);  // bold says something of the chosen one only
    m_reset = resetButton("Training data");
    m_note = new ElidedLabel(Tone::Muted);
    m_note->setContentsMargins(2, 0, 4, 0);
    auto* sign = new NewRunSign;
    sign->setWhy(whyNewRun);

    auto* line = new QHBoxLayout;
    line->setSpacing(4);
    line->addWidget(m_list, 1);
    line->addWidget(m_reset);
    line->addWidget(sign);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(1);
    layout->addLayout(line);
    layout->addWidget(m_note);
    setFocusProxy(m_list);
    connect(m_list, &QComboBox::activated, this, &DataChooser::take);
    connect(m_reset, &QAbstractButton::clicked, this, &DataChooser::resetRequested);
    rebuild();
}

void DataChooser::setData(const QString& data, bool changedFromPreset) {
    m_data = data;
    rebuild();
    QFont shown = m_list->font();
    shown.setBold(changedFromPreset);
    m_list->setFont(shown);
    m_reset->setVisible(changedFromPreset);
}

void DataChooser::setWaits(bool waits) {
    m_waits = waits;
    showNote();
}

void DataChooser::setProblem(const QString& sentence) {
    m_problem = sentence;
    showNote();
}

void DataChooser::showNote() {
    m_note->setTone(m_problem.isEmpty() ? Tone::Muted : Tone::Error);
    m_note->setText(!m_problem.isEmpty() ? m_problem : m_waits ? waitsForNextRun() : QString());
    m_note->setToolTip(m_problem.isEmpty() ? QString() : "<p>" + m_problem.toHtmlEscaped() + "</p>");
}

// Whether it differs from the preset the panel says at once.
void DataChooser::choose(const QString& data) {
    m_data = data;
    rebuild();
    Q_EMIT chosen(data);
}

void DataChooser::setFilesElsewhere(const QString& host, RecentPaths::AskElsewhere ask) {
    m_recent.setElsewhere(host, std::move(ask));
    rebuild();
}

void DataChooser::rebuild() {
    m_list->clear();
    for (const auto& entry : kBuiltIn) {
        m_list->addItem(lineIcon("text"), entry.title, QString(entry.id));
        m_list->setItemData(m_list->count() - 1, QString(entry.tooltip), Qt::ToolTipRole);
    }
    m_recent.addTo(*m_list, m_data);
    m_list->insertSeparator(m_list->count());
    m_list->addItem(lineIcon("file"), kFile, kFile);
    m_list->addItem(lineIcon("folder"), kFolder, kFolder);
    const int current = m_list->findData(m_data);
    m_list->setCurrentIndex(current);
    m_list->setToolTip(m_list->itemData(current, Qt::ToolTipRole).toString());
}

void DataChooser::take(int index) {
    const QString chosenNow = m_list->itemData(index).toString();
    if (chosenNow == kFile || chosenNow == kFolder) {
        m_list->setCurrentIndex(m_list->findData(m_data));
        return browse(chosenNow == kFolder);
    }
    choose(chosenNow);
}

void DataChooser::browse(bool folder) {
    m_recent.ask(this,
                 {.title = folder ? "Folder of text files" : "Text or tokens to train on",
                  .folder = folder,
                  .filters = {"Text and tokens (*.txt *.md *.jsonl *.zst *.parquet *.bin)", "All files (*)"},
                  .near = m_data},
                 [this](const QString& path) { choose(path); });
}

}  // namespace stepscope
