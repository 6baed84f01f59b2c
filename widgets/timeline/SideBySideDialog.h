// SideBySideDialog: two captures that a person chose, of two sessions or of one, as timelines locked together at the begin of their first steps.
// Which capture each side shows is chosen above; a click on a slice finds what stands there on the other side and locks both at it. Reads nothing
// itself. Beside the window, which goes on. GUI thread.
#pragma once
#include <QDialog>
#include <QStringList>
#include <array>

class QComboBox;

namespace stepscope {

class ElidedLabel;
class LockedTimelines;

class SideBySideDialog : public QDialog {
    Q_OBJECT
public:
    explicit SideBySideDialog(QWidget* parent = nullptr);

    void ask(const QString& a, const QString& b);  // opens it with what the sides are called; the rest comes later
    // The captures of a side (0: A, 1: B) in order of time, and which of them is shown.
    void setCaptures(int side, const QStringList& captures, int shown);
    LockedTimelines& both() { return *m_both; }
    QComboBox* captures(int side) const { return m_captures.at(static_cast<std::size_t>(side)); }

Q_SIGNALS:
    void captureChosen(int side, int place);  // in the list that setCaptures was told

private:
    std::array<ElidedLabel*, 2> m_names;
    std::array<QComboBox*, 2> m_captures;
    LockedTimelines* m_both;
};

}  // namespace stepscope
