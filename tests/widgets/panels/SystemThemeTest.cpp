// Light and dark as the desktop says, also later: against a portal of the test's own, without a bus.
#include <gtest/gtest.h>

#include <QApplication>
#include <QDBusAbstractAdaptor>
#include <QDBusConnection>
#include <QDBusServer>
#include <QDBusVariant>
#include <QSignalSpy>
#include <QTest>

#include "widgets/style/SystemTheme.h"
#include "widgets/style/Theme.h"

namespace stepscope {

class Portal : public QDBusAbstractAdaptor {
    Q_OBJECT
    Q_CLASSINFO("D-Bus Interface", "org.freedesktop.portal.Settings")
public:
    explicit Portal(QObject* parent) : QDBusAbstractAdaptor(parent) {}
    uint scheme = 0;
    QString asked;

public Q_SLOTS:
    QDBusVariant Read(const QString& space, const QString& key) {
        asked = space + " " + key;
        return QDBusVariant(QVariant::fromValue(QDBusVariant(scheme)));  // wrapped twice, as portals did it
    }

Q_SIGNALS:
    void SettingChanged(const QString& space, const QString& key, const QDBusVariant& value);
};

namespace {

class SystemThemeTest : public testing::Test {
protected:
    SystemThemeTest() : server("unix:tmpdir=/tmp"), portal(new Portal(&object)) {
        server.setAnonymousAuthenticationAllowed(true);
        QObject::connect(&server, &QDBusServer::newConnection, &server, [this](const QDBusConnection& peer) {
            QDBusConnection(peer).registerObject("/org/freedesktop/portal/desktop", &object, QDBusConnection::ExportAdaptors);
            served = true;
        });
    }
    ~SystemThemeTest() override {
        QDBusConnection::disconnectFromPeer("test");
        applyStyle(*qApp, Theme::Light);
    }
    QDBusConnection connection() {
        QDBusConnection made = QDBusConnection::connectToPeer(server.address(), "test");
        EXPECT_TRUE(QTest::qWaitFor([this] { return served; }, 5000));
        return made;
    }
    QDBusServer server;
    QObject object;
    Portal* portal;
    bool served = false;
};

TEST_F(SystemThemeTest, AsksThePortalAndHearsEveryChange) {
    portal->scheme = 1;
    SystemTheme system(connection(), "");
    QSignalSpy told(&system, &SystemTheme::told);
    ASSERT_TRUE(told.wait(5000));
    EXPECT_EQ(portal->asked, "org.freedesktop.appearance color-scheme");
    EXPECT_TRUE(told.takeFirst().at(0).toBool());
    Q_EMIT portal->SettingChanged("org.freedesktop.appearance", "accent-color", QDBusVariant(3));
    Q_EMIT portal->SettingChanged("org.freedesktop.appearance", "color-scheme", QDBusVariant(2u));
    ASSERT_TRUE(told.wait(5000));
    ASSERT_EQ(told.size(), 1);
    EXPECT_FALSE(told.takeFirst().at(0).toBool());
}

TEST_F(SystemThemeTest, ADesktopWithoutAPreferenceChangesNothing) {
    SystemTheme system(connection(), "");
    QSignalSpy told(&system, &SystemTheme::told);
    ASSERT_TRUE(QTest::qWaitFor([this] { return !portal->asked.isEmpty(); }, 5000));
    EXPECT_FALSE(told.wait(200));
}

TEST(Theme, FollowsTheSystemAtOnceButOnlyWhereThePersonChoseTo) {
    applyStyle(*qApp, Theme::System);
    followSystem(*qApp, true);
    EXPECT_TRUE(isDark(QApplication::palette()));
    followSystem(*qApp, false);
    EXPECT_FALSE(isDark(QApplication::palette()));
    applyStyle(*qApp, Theme::Dark);
    followSystem(*qApp, false);
    EXPECT_TRUE(isDark(QApplication::palette()));
    applyStyle(*qApp, Theme::Light);
}

}  // namespace
}  // namespace stepscope

#include "SystemThemeTest.moc"
