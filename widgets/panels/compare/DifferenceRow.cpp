#include "widgets/panels/compare/DifferenceRow.h"

#include <QComboBox>
#include <QGridLayout>
#include <QToolButton>
#include <algorithm>

#include "core/events/ConfigKeys.h"
#include "widgets/panels/ElidedLabel.h"
#include "widgets/panels/LineIcon.h"
#include "widgets/panels/experiment/RowParts.h"
#include "widgets/panels/experiment/ValueEdit.h"
#include "widgets/style/Metrics.h"

namespace stepscope {
namespace {

constexpr int kEditor = DifferenceRow::kEditorWidth, kKeys = 90;  // widths

std::string textOf(const std::vector<std::pair<std::string, std::string>>& settings, const std::string& key) {
    const auto found = std::ranges::find(settings, key, &std::pair<std::string, std::string>::first);
    return found == settings.end() ? std::string() : found->second;
}

bool refuses(const ComparableKey& key, const std::string& word) {
    return std::ranges::any_of(key.refused, [&](const auto& one) { return one.first == word; });
}

}  // namespace

std::vector<ComparableKey> comparableKeys(const SwitchCatalogue& catalogue) {
    std::vector<ComparableKey> all;
    for (int group = 0; group <= static_cast<int>(SwitchGroup::Loop); ++group)
        for (const auto& entry : catalogue)
            if (static_cast<int>(entry.group) == group)
                all.push_back({entry.id, asText(entry.title), entry.values, entry.refusedChoices,
                               entry.group == SwitchGroup::Precision && entry.applicable.usable});
    for (const auto& key : configKeys()) all.push_back({key.id, asText(key.title), key.values, {}});
    return all;
}

std::string anotherValue(const ComparableKey& key, const std::string& now) {
    if (const auto* choices = std::get_if<Choices>(&key.values)) {
        for (const auto& word : choices->words)
            if (word != now && !refuses(key, word)) return word;
        return now;
    }
    const auto parsed = parseValue(key.values, key.id, now);
    if (!parsed) return now;
    if (const auto* range = std::get_if<IntegerRange>(&key.values)) {
        const auto* number = std::get_if<std::int64_t>(&*parsed);
        if (number == nullptr) return now;
        return toString(
            Value{*number > range->most / 2 ? std::max(range->least, *number / 2) : std::max<std::int64_t>(range->least + 1, 2 * *number)});
    }
    const auto* range = std::get_if<RealRange>(&key.values);
    const auto* number = std::get_if<double>(&*parsed);
    if (range == nullptr || number == nullptr) return now;
    return toString(Value{*number > range->most / 2 ? *number / 2 : *number > 0 ? 2 * *number : std::min(range->most, 1.0)});
}

DifferenceRow::DifferenceRow(QWidget* parent) : QWidget(parent) {
    m_keys = new QComboBox;
    m_keys->setFocusPolicy(Qt::StrongFocus);
    m_keys->setMinimumWidth(kKeys);
    m_keys->setMaxVisibleItems(24);
    m_keys->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    m_keys->setMinimumContentsLength(8);
    m_keys->setToolTip("The switch or setting in which the two sides differ");
    m_remove = new QToolButton;
    m_remove->setIcon(lineIcon("close"));
    m_remove->setAutoRaise(true);
    m_remove->setFocusPolicy(Qt::TabFocus);
    m_remove->setToolTip("They do not differ in this");
    QSizePolicy keepsPlace = m_remove->sizePolicy();
    keepsPlace.setRetainSizeWhenHidden(true);
    m_remove->setSizePolicy(keepsPlace);
    m_problem = new ElidedLabel(Tone::Error, 2);

    m_grid = new QGridLayout(this);
    m_grid->setContentsMargins(0, 0, 0, 0);
    m_grid->setHorizontalSpacing(space(2));
    m_grid->setVerticalSpacing(0);
    m_grid->addWidget(m_keys, 0, 0);
    m_grid->addWidget(m_remove, 0, 3);
    m_grid->addWidget(m_problem, 1, 0, 1, 4);
    m_grid->setColumnStretch(0, 1);
    for (const int column : {1, 2}) m_grid->setColumnMinimumWidth(column, kEditor);
    connect(m_keys, &QComboBox::activated, this, [this] {
        m_wanted.reset();
        m_aFollows = true;
        m_bChosen = false;
        buildEditors();
        Q_EMIT edited();
    });
    connect(m_remove, &QToolButton::clicked, this, &DifferenceRow::removeRequested);
    setNumber(1);
}

void DifferenceRow::setNumber(int number) {
    m_number = number;
    nameForReaders(*m_keys, QString("Difference %1").arg(number));
    m_keys->setAccessibleName(QString("Difference %1").arg(number));
    m_remove->setAccessibleName(QString("Remove difference %1").arg(number));
    m_problem->setAccessibleName(QString("What is wrong with difference %1").arg(number));
}

const ComparableKey* DifferenceRow::chosen() const {
    const auto found = std::ranges::find(m_all, m_keys->currentData().toString().toStdString(), &ComparableKey::id);
    return found == m_all.end() ? nullptr : &*found;
}

void DifferenceRow::fillKeys() {
    const QVariant kept = m_keys->currentData();
    const QSignalBlocker quiet(m_keys);
    m_keys->clear();
    for (const auto& key : m_all) m_keys->addItem(QString("%1 (%2)").arg(key.title, asText(key.id)), asText(key.id));
    // The last of the precisions is the one that changes most.
    const auto first = std::find_if(m_all.rbegin(), m_all.rend(), [](const ComparableKey& key) { return key.asksFirst; });
    const int at = kept.isValid() ? m_keys->findData(kept) : first == m_all.rend() ? 0 : static_cast<int>(m_all.rend() - first) - 1;
    m_keys->setCurrentIndex(std::max(at, 0));
}

void DifferenceRow::setSettings(const RunConfig& config, const SwitchCatalogue& catalogue) {
    if (catalogue.empty()) return;  // the engine has not said yet what there is
    m_settings = listConfig(config);
    std::vector<ComparableKey> all = comparableKeys(catalogue);
    const bool sameKeys = std::ranges::equal(all, m_all, {}, &ComparableKey::id, &ComparableKey::id);
    m_all = std::move(all);
    if (!sameKeys) {
        const Difference before = difference();
        const bool followed = m_aFollows;
        fillKeys();
        buildEditors();
        if (!before.key.empty() && chosen() != nullptr && chosen()->id == before.key) {
            if (!followed) m_a->setText(asText(before.a)), m_aFollows = false;
            m_b->setText(asText(before.b));
        }
    }
    if (m_wanted) setDifference(Difference(*m_wanted));
    const ComparableKey* key = chosen();
    if (key == nullptr) return;
    if (m_aFollows) m_a->setText(asText(textOf(m_settings, key->id)));
    // A flip at the left may have made A what B was.
    if (m_aFollows && !m_bChosen && m_a->text() == m_b->text()) m_b->setText(asText(anotherValue(*key, m_a->text().toStdString())));
    for (ValueEdit* edit : {m_a, m_b}) edit->setRefused(edit->isToggle() ? decltype(key->refused){} : key->refused);
}

// Another key has another kind of value.
void DifferenceRow::buildEditors() {
    const ComparableKey* key = chosen();
    if (key == nullptr) return;
    const std::string now = textOf(m_settings, key->id);
    for (const bool ofA : {true, false}) {
        ValueEdit*& edit = ofA ? m_a : m_b;
        delete edit;
        edit = new ValueEdit(key->values, QString("%1, side %2").arg(key->title, ofA ? "A" : "B"));
        edit->setFixedWidth(kEditor);
        edit->setText(asText(ofA ? now : anotherValue(*key, now)));
        edit->setRefused(edit->isToggle() ? decltype(key->refused){} : key->refused);
        m_grid->addWidget(edit, 0, ofA ? 1 : 2);
        connect(edit, &ValueEdit::committed, this, [this, ofA] {
            if (ofA)
                m_aFollows = false;
            else
                m_bChosen = true;
            Q_EMIT edited();
        });
    }
    chain(nullptr);
    setProblem({});
}

void DifferenceRow::setDifference(const Difference& difference) {
    const int at = m_keys->findData(asText(difference.key));
    m_wanted = at < 0 ? std::optional(difference) : std::nullopt;
    if (at < 0) return;
    m_keys->setCurrentIndex(at);
    buildEditors();
    m_aFollows = difference.a == textOf(m_settings, difference.key);
    m_bChosen = true;
    m_a->setText(asText(difference.a));
    m_b->setText(asText(difference.b));
}

Difference DifferenceRow::difference() const {
    const ComparableKey* key = chosen();
    if (key == nullptr || m_a == nullptr) return {};
    return {key->id, m_a->text().trimmed().toStdString(), m_b->text().trimmed().toStdString()};
}

void DifferenceRow::setProblem(const QString& sentence) {
    m_problem->setText(sentence);
}

QString DifferenceRow::problem() const {
    return m_problem->text();
}

QWidget* DifferenceRow::chain(QWidget* before) {
    if (before != nullptr) setTabOrder(before, m_keys);
    if (m_a == nullptr) {
        setTabOrder(m_keys, m_remove);
        return m_remove;
    }
    setTabOrder(m_keys, m_a);
    setTabOrder(m_a, m_b);
    setTabOrder(m_b, m_remove);
    return m_remove;
}

int DifferenceRow::removeWidth() const {
    return m_remove->sizeHint().width();
}

void DifferenceRow::setRemovable(bool removable) {
    m_remove->setVisible(removable);
}

}  // namespace stepscope
