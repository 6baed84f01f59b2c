#include "widgets/panels/ladder/LadderForm.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDir>
#include <QDoubleSpinBox>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>
#include <utility>

#include "core/events/ConfigKeys.h"
#include "widgets/panels/ElidedLabel.h"
#include "widgets/panels/FlowLayout.h"
#include "widgets/panels/FoldingRow.h"
#include "widgets/panels/LineIcon.h"
#include "widgets/panels/experiment/NumberEdit.h"
#include "widgets/style/Metrics.h"

namespace stepscope {
namespace {

const char* kSearchWords = "Tries every value of every switch beside the settings at the left, and recommends the fastest that computes the same.";
// The bounds are those of the command line.
constexpr double kLeastEqual = 0.05, kMostEqual = 50, kLeastGigabytes = 0.01, kMostGigabytes = 1e6;
constexpr int kWordsRole = Qt::UserRole + 1;               // of the list: what one does; its own data is the name or the file
constexpr std::size_t kEqual = 0, kSeed = 1, kMemory = 2;  // places in the row "More"

}  // namespace

LadderForm::LadderForm(QWidget* parent) : QWidget(parent) {
    m_what = new QComboBox;
    m_what->setAccessibleName("What is measured");
    m_what->addItem("Find what is best here", QString());
    describeItem(0, kSearchWords);
    m_described = new ElidedLabel(Tone::Muted, 2);
    m_described->setAccessibleName("What the chosen one does");
    m_minutes = new QDoubleSpinBox;
    m_minutes->setAccessibleName("Budget in minutes");
    m_minutes->setRange(0, 600);
    m_minutes->setDecimals(1);
    m_minutes->setSuffix(" min");
    m_minutes->setValue(5);
    m_minutes->setToolTip("Of everything; where steps are slow, a ladder takes longer for its own rungs, and a search up to a fifth more");
    m_leaveOneOut = new QCheckBox("Leave each out");
    m_leaveOneOut->setChecked(true);
    m_leaveOneOut->setToolTip("The top beside itself without each of its rungs: gains interact");
    m_pairs = new QCheckBox("and each two");
    m_pairs->setToolTip("The top without each two of its rungs, too: many measurements");
    m_sizes = new QCheckBox("Other batch sizes too");
    m_sizes->setToolTip("Half and twice the batch size and context race too: what is learnt a token changes with them");
    auto* file = new QPushButton("File…");
    file->setIcon(lineIcon("file"));
    file->setAutoDefault(false);
    file->setToolTip("A ladder of your own: a YAML file of rungs");
    m_said = new ElidedLabel(Tone::Muted, 2);
    m_said->setAccessibleName("What would be measured");
    auto* what = new QHBoxLayout;
    what->addWidget(m_what, 1);
    auto* how = new QHBoxLayout;
    how->setSpacing(space(2));
    how->addWidget(file);
    how->addWidget(m_minutes, 1);
    auto* second = new QHBoxLayout;
    second->setSpacing(space(3));
    for (QCheckBox* box : {m_leaveOneOut, m_pairs, m_sizes}) second->addWidget(box);
    auto* more = new QCheckBox("More");
    more->setToolTip("What counts as equal, the seed of the coins, and how much memory a search may take");
    second->addWidget(more);
    second->addStretch(1);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(space(1));
    layout->addWidget(new FoldingRow(what, how, 1, 0));
    layout->addWidget(m_described);
    layout->addLayout(second);
    layout->addWidget(buildMore());
    layout->addWidget(m_said);
    connect(m_what, &QComboBox::currentIndexChanged, this, [this] {
        showChosen();
        Q_EMIT edited();
    });
    connect(m_minutes, &QDoubleSpinBox::valueChanged, this, &LadderForm::edited);
    for (QCheckBox* box : {m_leaveOneOut, m_pairs, m_sizes}) connect(box, &QCheckBox::toggled, this, &LadderForm::edited);
    connect(file, &QPushButton::clicked, this, &LadderForm::fileRequested);
    connect(more, &QCheckBox::toggled, m_moreRow, &QWidget::setVisible);
    showChosen();
}

// What is seldom changed, in a row of its own that is folded away.
QWidget* LadderForm::buildMore() {
    m_moreRow = new QWidget;
    auto* flow = new FlowLayout(m_moreRow);
    const auto add = [&](const char* key, const char* name, const char* tooltip, const ValueRange& range, double value) {
        auto* cell = new QWidget;
        auto* layout = new QHBoxLayout(cell);
        layout->setContentsMargins(0, 0, 0, 0);
        layout->setSpacing(space(1));
        auto* edit = new NumberEdit;
        edit->setRange(range);
        edit->setText(QString::number(value, 'g', 6));
        edit->setAccessibleName(name);
        edit->setToolTip(tooltip);
        edit->setMaximumWidth(90);
        layout->addWidget(new QLabel(name));
        layout->addWidget(edit);
        flow->addWidget(cell);
        connect(edit, &NumberEdit::committed, this, &LadderForm::edited);
        m_numbers.push_back({key, range, edit, value});
        return cell;
    };
    add("equal", "Equal ± %", "A difference of less than this is called no difference", RealRange{kLeastEqual, kMostEqual}, 1);
    add("seed", "Seed", "Of the coins that order the turns, and of the order within the rounds of a search. 0 = another one each time",
        IntegerRange{0, 1'000'000'000'000}, 0);
    m_memory = add("memory", "Memory, GB", "What is predicted to take more is left out of the race; 0: bounded by this machine alone",
                   RealRange{0, kMostGigabytes}, 0);
    m_moreRow->hide();
    return m_moreRow;
}

void LadderForm::setLadders(const std::vector<LadderChoice>& ladders) {
    for (const LadderChoice& ladder : ladders) {
        if (m_what->findData(asText(ladder.name)) >= 0) continue;
        m_what->addItem("Ladder " + asText(ladder.name), asText(ladder.name));
        describeItem(m_what->count() - 1, "Adds one after the other: " + asText(ladder.words));
    }
}

// A name says little: its tool tip in the list does, and the line below the list where it is chosen.
void LadderForm::describeItem(int at, const QString& words) {
    m_what->setItemData(at, words, kWordsRole);
    m_what->setItemData(at, "<p>" + words.toHtmlEscaped() + "</p>", Qt::ToolTipRole);
}

void LadderForm::setFile(const QString& path) {
    int at = m_what->findData(path);
    if (at < 0) {
        const QFileInfo file(path);
        QString name = "Ladder of " + file.fileName();
        if (m_what->findText(name) >= 0) name += " in " + file.dir().dirName();  // the tooltip has all of it
        m_what->addItem(name, path);
        at = m_what->count() - 1;
        describeItem(at, path);
    }
    if (at == m_what->currentIndex()) {
        Q_EMIT edited();  // chosen again: it may say something else by now
        return;
    }
    m_what->setCurrentIndex(at);
}

LadderQuestion LadderForm::question() const {
    return {.search = asksForSearch(),
            .ladder = m_what->currentData().toString().toStdString(),
            .minutes = m_minutes->value(),
            .leaveOneOut = m_leaveOneOut->isChecked(),
            .pairs = m_pairs->isChecked(),
            .sizes = m_sizes->isChecked(),
            .delta = numberOf(kEqual) / 100,
            .seed = static_cast<std::int64_t>(numberOf(kSeed)),
            .memoryGb = numberOf(kMemory)};
}

double LadderForm::numberOf(std::size_t place) const {
    const Number& number = m_numbers[place];
    const auto parsed = parseValue(number.range, number.key, number.edit->text().toStdString());
    const double* real = parsed ? std::get_if<double>(&*parsed) : nullptr;
    const std::int64_t* whole = parsed ? std::get_if<std::int64_t>(&*parsed) : nullptr;
    return real != nullptr ? *real : whole != nullptr ? static_cast<double>(*whole) : number.good;
}

QString LadderForm::wrongNumber() const {
    const bool search = asksForSearch();
    for (std::size_t place = 0; place < m_numbers.size(); ++place) {
        if (place == kMemory && !search) continue;
        const Number& number = m_numbers[place];
        const auto parsed = parseValue(number.range, number.edit->accessibleName().toStdString(), number.edit->text().toStdString());
        if (!parsed) return QString::fromStdString(parsed.error().sentence);
    }
    if (const double gigabytes = numberOf(kMemory); search && gigabytes > 0 && gigabytes < kLeastGigabytes)
        return QString("Memory, GB takes 0, which bounds nothing, or a number from %1 on.").arg(kLeastGigabytes);
    return {};
}

void LadderForm::setQuestion(const LadderQuestion& question) {
    if (question.search)
        m_what->setCurrentIndex(0);
    else if (const int at = m_what->findData(QString::fromStdString(question.ladder)); at >= 0)
        m_what->setCurrentIndex(at);
    else
        setFile(QString::fromStdString(question.ladder));
    m_minutes->setValue(question.minutes);
    m_leaveOneOut->setChecked(question.leaveOneOut);
    m_pairs->setChecked(question.pairs);
    m_sizes->setChecked(question.sizes);
    const std::pair<std::size_t, double> values[] = {
        {kEqual, question.delta * 100}, {kSeed, static_cast<double>(question.seed)}, {kMemory, question.memoryGb}};
    for (const auto& [place, value] : values) {
        Number& number = m_numbers.at(place);
        number.good = value;
        number.edit->setText(QString::number(value, 'g', 13));
    }
    showChosen();
    Q_EMIT edited();
}

bool LadderForm::asksForSearch() const {
    return m_what->currentData().toString().isEmpty();
}

void LadderForm::say(const QString& sentence, bool warns) {
    m_said->setTone(warns ? Tone::Warning : Tone::Muted);
    m_said->setText(sentence);
}

// What the choice of a ladder or of the search makes of the rest.
void LadderForm::showChosen() {
    const bool search = asksForSearch();
    m_described->setText(m_what->currentData(kWordsRole).toString());
    m_leaveOneOut->setVisible(!search);
    m_pairs->setVisible(!search);
    m_sizes->setVisible(search);
    m_memory->setVisible(search);
    m_minutes->setSpecialValueText(search ? "the usual 5 min" : "as long as it needs");
}

QString LadderForm::described() const {
    return m_described->text();
}
QString LadderForm::said() const {
    return m_said->text();
}

}  // namespace stepscope
