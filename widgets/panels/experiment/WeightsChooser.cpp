#include "widgets/panels/experiment/WeightsChooser.h"

#include <QAbstractItemView>
#include <QComboBox>
#include <QHBoxLayout>
#include <utility>

#include "core/events/RunConfig.h"
#include "widgets/panels/LineIcon.h"
#include "widgets/panels/TitleButton.h"
#include "widgets/panels/ToneLabel.h"
#include "widgets/panels/experiment/RowParts.h"

namespace stepscope {
namespace {

const QString kWeightsFile = "weights file…", kWeightsFolder = "folder of transformers…";

}  // namespace

WeightsChooser::WeightsChooser(const QString& whyNewRun, QWidget* parent) : QWidget(parent), m_weights(kRandomWeights) {
    m_list = new QComboBox;
    m_list->setAccessibleName("Start from");
    m_list->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    m_list->setMinimumContentsLength(12);
    QFont plain = m_list->font();
    plain.setBold(false);
    m_list->view()->setFont(plain);  // bold says something of the chosen one only
    m_reset = resetButton("Start from");
    m_note = sentenceLabel(Tone::Muted);
    m_note->setContentsMargins(2, 0, 4, 0);
    m_shape = new TitleButton("take the shape from them");
    m_shape->setLink(true);
    m_shape->setAccessibleName("Set the model as the chosen weights have it");
    m_shape->setToolTip(
        "Sets layers, heads, width, vocabulary and the model's options as the chosen weights have them, and a context that they reach");
    m_shape->hide();
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
    layout->addWidget(m_shape, 0, Qt::AlignLeft);
    connect(m_list, &QComboBox::activated, this, &WeightsChooser::take);
    connect(m_reset, &QAbstractButton::clicked, this, &WeightsChooser::resetRequested);
    connect(m_shape, &QAbstractButton::clicked, this, &WeightsChooser::shapeRequested);
    rebuild();
    showNote();
}

void WeightsChooser::setWeights(const QString& weights, bool changedFromPreset) {
    m_weights = weights;
    rebuild();
    showNote();
    QFont shown = m_list->font();
    shown.setBold(changedFromPreset);
    m_list->setFont(shown);
    m_reset->setVisible(changedFromPreset);
}

void WeightsChooser::setWaits(bool waits) {
    m_waits = waits;
    showNote();
}

void WeightsChooser::setLook(const QString& found, const QString& problem, bool offersShape) {
    m_found = found;
    m_problem = problem;
    m_offersShape = offersShape;
    showNote();
}

// Of random weights there is nothing to say, and the line would be one more below every run; of others it is there from when they are chosen.
void WeightsChooser::showNote() {
    const bool random = m_weights == kRandomWeights, bad = !random && !m_problem.isEmpty();
    const QString found = random ? QString() : m_found.isEmpty() ? QString("Looking at the weights…") : m_found;
    const QString text = bad ? m_problem : m_waits ? waitsForNextRun() : found;
    m_note->setTone(bad ? Tone::Error : Tone::Muted);
    m_note->setText(text);
    m_note->setVisible(!text.isEmpty());
    QStringList all{bad ? m_problem : QString(), random ? QString() : m_found};
    all.removeAll(QString());
    m_note->setToolTip(all.isEmpty() ? QString() : "<p>" + all.join("\n").toHtmlEscaped().replace('\n', "<br>") + "</p>");
    m_shape->setVisible(m_offersShape && !random);
}

QString WeightsChooser::note() const {
    return m_note->text();
}

void WeightsChooser::choose(const QString& weights) {
    m_weights = weights;
    rebuild();
    Q_EMIT chosen(weights);
}

void WeightsChooser::setFilesElsewhere(const QString& host, RecentPaths::AskElsewhere ask) {
    m_recent.setElsewhere(host, std::move(ask));
    rebuild();
}

void WeightsChooser::rebuild() {
    m_list->clear();
    m_list->addItem(lineIcon("dice"), "start from random weights", QString(kRandomWeights));
    m_list->setItemData(0, QString("A new model, drawn with the seed"), Qt::ToolTipRole);
    m_recent.addTo(*m_list, m_weights, "start from ");
    m_list->insertSeparator(m_list->count());
    m_list->addItem(lineIcon("file"), kWeightsFile, kWeightsFile);
    m_list->addItem(lineIcon("folder"), kWeightsFolder, kWeightsFolder);
    const int current = m_list->findData(m_weights);
    m_list->setCurrentIndex(current);
    m_list->setToolTip(m_list->itemData(current, Qt::ToolTipRole).toString());
}

void WeightsChooser::take(int index) {
    const QString now = m_list->itemData(index).toString();
    if (now == kWeightsFile || now == kWeightsFolder) {
        m_list->setCurrentIndex(m_list->findData(m_weights));
        return browse(now == kWeightsFolder);
    }
    choose(now);
}

void WeightsChooser::browse(bool folder) {
    m_recent.ask(this,
                 {.title = folder ? "Folder of Hugging Face's transformers" : "Weights to start from",
                  .folder = folder,
                  .filters = {"Weights (*.safetensors *.bin)", "All files (*)"},
                  .near = m_weights == kRandomWeights ? m_recent.newest() : m_weights},
                 [this](const QString& path) { choose(path); });
}

}  // namespace stepscope
