#include "widgets/panels/diagnose/DiagnosePage.h"

#include <QGridLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>

#include "widgets/panels/ElidedLabel.h"
#include "widgets/panels/FlowLayout.h"
#include "widgets/panels/diagnose/AdviceCard.h"
#include "widgets/style/Metrics.h"

namespace stepscope {
namespace {

constexpr int kStateBelow = 640;  // narrower, what is being done takes more lines

const char* kWhatALookIs =
    "Reads the data, foretells the memory, times five steps on weights of their own and measures what this machine can do at most; nothing is "
    "recorded "
    "but the time of a step. The first time it takes some ten seconds, later a few.";

QPushButton* plainButton(const QString& text, const QString& tooltip) {
    auto* button = new QPushButton(text);
    button->setAutoDefault(false);
    button->setToolTip(tooltip);
    return button;
}

QLabel* headLabel(const QString& text) {
    auto* head = new QLabel(text);
    head->setFont(headFont(head->font()));
    head->setWordWrap(true);
    return head;
}

void clear(QLayout& layout) {
    while (QLayoutItem* item = layout.takeAt(0)) {
        if (QWidget* widget = item->widget()) {
            widget->hide();
            widget->deleteLater();
        }
        delete item;
    }
}

}  // namespace

DiagnosePage::DiagnosePage(QWidget* parent) : ScrolledPage("Diagnose", parent) {
    QVBoxLayout* layout = parts();
    layout->addWidget(headLabel("What is there to know before these settings run?"));

    m_look = plainButton("Look", kWhatALookIs);
    m_look->setAccessibleName("Look at the settings");
    m_batch = plainButton("Find a batch size",
                          "Times batches of 1, 2, 4 … sequences: the largest that fits, and the smallest that is nearly as fast as the fastest");
    m_rate =
        plainButton("Find a learning rate",
                    "Runs a range test: the rate rises from step to step, and the curve on the page Live shows where the loss falls most steeply");
    m_stop = plainButton("Stop", "Ends what is being measured");
    auto* buttons = new FlowLayout;
    for (QPushButton* button : {m_look, m_batch, m_rate, m_stop}) buttons->addWidget(button);
    layout->addLayout(buttons);
    m_state = new ElidedLabel(Tone::Muted, 2);
    m_state->setAccessibleName("What Diagnose is doing");
    layout->addWidget(m_state);

    m_batchPart = new QWidget;
    auto* batch = new QVBoxLayout(m_batchPart);
    batch->setContentsMargins(0, 0, 0, 0);
    batch->setSpacing(space(1));
    batch->addWidget(headLabel("Batch size"));
    m_batchRows = new QGridLayout;
    m_batchRows->setHorizontalSpacing(space(5));
    m_batchRows->setVerticalSpacing(space(1) / 2);
    auto* table = new QHBoxLayout;
    table->addLayout(m_batchRows);
    table->addStretch(1);
    batch->addLayout(table);
    m_batchSentence = sentenceLabel(Tone::Normal);
    batch->addWidget(m_batchSentence);
    m_use = plainButton("Use it", "Puts this batch size into the settings at the left");
    batch->addWidget(m_use, 0, Qt::AlignLeft);
    layout->addWidget(m_batchPart);

    m_ratePart = new QWidget;
    auto* rate = new QVBoxLayout(m_ratePart);
    rate->setContentsMargins(0, 0, 0, 0);
    rate->setSpacing(space(1));
    rate->addWidget(headLabel("Learning rate"));
    m_rateSentence = sentenceLabel(Tone::Normal);
    m_rateSentence->setAccessibleName("What the range test found");
    rate->addWidget(m_rateSentence);
    m_useRate = plainButton("Use it", "Puts this learning rate into the settings at the left; the schedule stays as it is set");
    m_useRate->setAccessibleName("Use this learning rate");
    rate->addWidget(m_useRate, 0, Qt::AlignLeft);
    layout->addWidget(m_ratePart);

    layout->addWidget(headLabel("Worth trying"));
    m_adviceHead = sentenceLabel(Tone::Muted);
    layout->addWidget(m_adviceHead);
    m_advice = new QVBoxLayout;
    m_advice->setSpacing(space(2));
    layout->addLayout(m_advice);

    m_factPart = new QWidget;
    auto* facts = new QVBoxLayout(m_factPart);
    facts->setContentsMargins(0, 0, 0, 0);
    facts->setSpacing(space(1));
    facts->addWidget(headLabel("What was found"));
    m_facts = new QGridLayout;
    m_facts->setHorizontalSpacing(space(4));
    m_facts->setVerticalSpacing(space(1));
    m_facts->setColumnStretch(1, 1);
    facts->addLayout(m_facts);
    layout->addWidget(m_factPart);
    endParts();
    widget()->setMaximumWidth(900);

    connect(m_look, &QPushButton::clicked, this, &DiagnosePage::lookRequested);
    connect(m_batch, &QPushButton::clicked, this, &DiagnosePage::batchRequested);
    connect(m_rate, &QPushButton::clicked, this, &DiagnosePage::rateRequested);
    connect(m_stop, &QPushButton::clicked, this, &DiagnosePage::stopRequested);
    connect(m_use, &QPushButton::clicked, this, &DiagnosePage::useRequested);
    connect(m_useRate, &QPushButton::clicked, this, &DiagnosePage::useRateRequested);
    setView({});
}

void DiagnosePage::setView(const DiagnoseView& view) {
    m_view = view;
    fillFacts();
    fillAdvice();
    fillBatches();
    fillRate();
    showState();
}

void DiagnosePage::setBusy(DiagnoseBusy busy) {
    m_busy = busy;
    showState();
}

void DiagnosePage::resizeEvent(QResizeEvent* event) {
    ScrolledPage::resizeEvent(event);
    m_state->setLines(viewport()->width() < kStateBelow ? 5 : 2);
}

QString DiagnosePage::state() const {
    return m_state->text();
}

QString DiagnosePage::factText(const QString& name) const {
    for (const DiagnoseFact& fact : m_view.facts)
        if (fact.name == name) return fact.text;
    return {};
}

QString DiagnosePage::rateSentence() const {
    return m_rateSentence->text();
}

void DiagnosePage::fillRate() {
    m_rateSentence->setText(m_view.rateSentence);
    m_ratePart->setVisible(!m_view.rateSentence.isEmpty());
    m_useRate->setVisible(!m_view.rate.isEmpty());
}

void DiagnosePage::setElsewhere(const QString& why) {
    m_elsewhere = why;
    showState();
}

void DiagnosePage::showState() {
    using Stage = DiagnoseView::Stage;
    const bool free = m_busy == DiagnoseBusy::Free;
    m_rate->setEnabled(free);
    for (QPushButton* button : {m_look, m_batch}) button->setEnabled(free && m_elsewhere.isEmpty());
    m_stop->setEnabled(m_busy == DiagnoseBusy::Looking);
    m_look->setText(m_view.stage == Stage::Empty ? "Look" : "Look again");
    const QString whyNot = m_busy == DiagnoseBusy::Training   ? QString("A run or an experiment goes on; stop it first, or wait for its end.")
                           : m_busy == DiagnoseBusy::NoEngine ? QString("The engine is starting.")
                                                              : QString("Something is being measured.");
    for (AdviceCard* card : m_cards)
        card->setTestable(free && !m_view.stale, m_view.stale && free ? QString("The settings have changed since; look again.") : whyNot);
    m_use->setEnabled(free && !m_view.key.isEmpty());
    m_useRate->setEnabled(free && !m_view.rate.isEmpty());
    m_state->setTone(m_view.stage == Stage::Failed ? Tone::Error : m_view.stale ? Tone::Warning : Tone::Muted);
    m_state->setText(!m_elsewhere.isEmpty()             ? m_elsewhere
                     : m_busy == DiagnoseBusy::NoEngine ? whyNot
                     : m_busy == DiagnoseBusy::Training ? whyNot + " Times beside it would mean nothing."
                     : m_busy == DiagnoseBusy::Looking  ? m_view.doing
                     : m_view.stage == Stage::Failed    ? m_view.doing
                     : m_view.stale                     ? QString("The settings have changed since this was found; look again.")
                     : m_view.stage == Stage::Empty     ? QString(kWhatALookIs)
                                                        : QString("Found of the settings at the left."));
    m_adviceHead->setText(
        !m_elsewhere.isEmpty()                                                                   ? QString()
        : m_view.stage == Stage::Empty || (m_view.stage != Stage::Found && m_view.facts.empty()) ? QString("Nothing yet: press Look.")
        : !m_view.timed         ? QString("Nothing was timed, so most rules have nothing to look at.")
        : m_view.advice.empty() ? QString("Nothing: no rule found a number beyond its threshold.")
                                : QString("Each rests on the numbers beside it; “Test it” finds out on the page Compare whether it helps here."));
}

void DiagnosePage::fillFacts() {
    clear(*m_facts);
    int row = 0;
    for (const DiagnoseFact& fact : m_view.facts) {
        auto* name = new ToneLabel(Tone::Muted, fact.name);
        m_facts->addWidget(name, row, 0, Qt::AlignTop | Qt::AlignLeft);
        auto* text = sentenceLabel(fact.bad ? Tone::Warning : Tone::Normal, fact.text);
        text->setTextInteractionFlags(Qt::TextSelectableByMouse);
        text->setAccessibleName(fact.name);
        m_facts->addWidget(text, row++, 1);
    }
    m_factPart->setVisible(!m_view.facts.empty());
}

void DiagnosePage::fillAdvice() {
    for (AdviceCard* card : m_cards) card->hide(), card->deleteLater();
    m_cards.clear();
    for (std::size_t i = 0; i < m_view.advice.size(); ++i) {
        auto* card = new AdviceCard(m_view.advice[i]);
        m_advice->addWidget(card);
        connect(card, &AdviceCard::testRequested, this, [this, i] { Q_EMIT testRequested(static_cast<int>(i)); });
        m_cards.push_back(card);
    }
}

void DiagnosePage::fillBatches() {
    clear(*m_batchRows);
    int row = 0;
    const auto add = [&](const QStringList& cells, Tone tone, bool bold) {
        for (int column = 0; column < cells.size(); ++column) {
            auto* cell = new ToneLabel(tone, cells[column]);
            QFont font = tabularFont(cell->font());
            font.setBold(bold);
            cell->setFont(font);
            m_batchRows->addWidget(cell, row, column, (column < 4 ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
        }
        ++row;
    };
    add({"batch", "step", "speed", "peak memory", ""}, Tone::Muted, false);
    for (const BatchRow& one : m_view.batches) add({one.batch, one.step, one.speed, one.memory, one.knee ? "the knee" : ""}, Tone::Normal, one.knee);
    m_batchSentence->setText(m_view.batchSentence);
    m_batchPart->setVisible(!m_view.batches.empty());
    m_use->setVisible(!m_view.key.isEmpty());
}

}  // namespace stepscope
