// What Qt warns of is told as a sentence, once, from any thread, and never stands raw on a terminal.
#include <gtest/gtest.h>

#include <QCoreApplication>
#include <QObject>
#include <QStringList>
#include <QtGlobal>
#include <string>
#include <thread>

#include "app/gui/process/QtMessages.h"

namespace stepscope {
namespace {

TEST(QtMessages, AreSentencesOnceEachFromAnyThreadAndNeverRaw) {
    QStringList said;
    testing::internal::CaptureStderr();
    {
        QtMessages messages;
        QObject::connect(&messages, &QtMessages::warned, [&said](const QString& sentence) { said << sentence; });
        for (int i = 0; i < 2; ++i) qWarning("QFont::setPointSize:\n  Point size must be greater than 0");
        std::thread([] { qCritical("The tray is full!"); }).join();
        EXPECT_TRUE(said.isEmpty()) << "they are told by the event loop, whatever Qt holds while it warns";
        QCoreApplication::sendPostedEvents(&messages);
    }
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
    EXPECT_EQ(said, (QStringList{"Qt warns: QFont::setPointSize: Point size must be greater than 0.", "Qt warns: The tray is full!"}))
        << said.join(" | ").toStdString();
}

TEST(QtMessages, OfAFolderThatNobodyNeedsAreSaidNowhere) {
    QStringList said;
    testing::internal::CaptureStderr();
    {
        QtMessages messages;
        QObject::connect(&messages, &QtMessages::warned, [&said](const QString& sentence) { said << sentence; });
        qWarning("QStandardPaths: XDG_RUNTIME_DIR not set, defaulting to '/tmp/runtime-somebody'");
        qWarning("QStandardPaths: wrong permissions on runtime directory /tmp");
        QCoreApplication::sendPostedEvents(&messages);
    }
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
    EXPECT_EQ(said, QStringList{"Qt warns: QStandardPaths: wrong permissions on runtime directory /tmp."}) << said.join(" | ").toStdString();
}

TEST(QtMessages, ThatWereNotToldYetArePrintedWhereQtEndsTheProgram) {
    EXPECT_DEATH(
        {
            const QtMessages messages;
            qWarning("the plug-in is there and cannot be loaded");
            qFatal("no plug-in");
        },
        "stepscope: Qt warns: the plug-in is there and cannot be loaded");
}

TEST(QtMessages, OfAnyLengthAndNumberAreBounded) {
    QStringList said;
    testing::internal::CaptureStderr();
    {
        QtMessages messages;
        QObject::connect(&messages, &QtMessages::warned, [&said](const QString& sentence) { said << sentence; });
        qWarning("%s", std::string(100'000, 'x').c_str());
        for (int i = 0; i < 300; ++i) qWarning("warning %d", i);
        QCoreApplication::sendPostedEvents(&messages);
    }
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
    ASSERT_EQ(said.size(), 100);
    EXPECT_LT(said.front().size(), 600);
}

TEST(QtMessages, OfOtherLibrariesAreToldTheSameWayAndPrintedWhereNoWindowIsLeft) {
    QStringList said;
    testing::internal::CaptureStderr();
    {
        QtMessages messages;
        QObject::connect(&messages, &QtMessages::warned, [&said](const QString& sentence) { said << sentence; });
        std::thread([&messages] { messages.tell("A library says: early."); }).join();
        QCoreApplication::sendPostedEvents(&messages);
        messages.tell("A library says: late.");
    }
    EXPECT_EQ(said, QStringList{"A library says: early."}) << said.join(" | ").toStdString();
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "stepscope: A library says: late.\n");
}

QString& heardElsewhere() {
    static QString text;
    return text;
}

TEST(QtMessages, ThatWarnOfNothingAndThoseAfterItGoWhereTheyWentBefore) {
    const QtMessageHandler former =
        qInstallMessageHandler([](QtMsgType, const QMessageLogContext&, const QString& text) { heardElsewhere() = text; });
    {
        const QtMessages messages;
        qInfo("said");
        EXPECT_EQ(heardElsewhere(), QString("said"));
        qWarning("warned");
        EXPECT_EQ(heardElsewhere(), QString("said"));
    }
    qWarning("after all");
    qInstallMessageHandler(former);
    EXPECT_EQ(heardElsewhere(), QString("after all"));
}

}  // namespace
}  // namespace stepscope
