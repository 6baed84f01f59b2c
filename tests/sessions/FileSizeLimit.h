// A full disk without a mount: a limit to the size of this process's files. Included by tests of what is written to disk.
#pragma once
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

namespace stepscope::test {

// While it lives no file of this process grows beyond `bytes`: a full disk for users who may not mount one.
class FileSizeLimit {
public:
    explicit FileSizeLimit(rlim_t bytes) {
        ::signal(SIGXFSZ, SIG_IGN);  // the write fails instead
        EXPECT_EQ(::getrlimit(RLIMIT_FSIZE, &m_before), 0);
        const rlimit small{bytes, m_before.rlim_max};
        EXPECT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
    }
    ~FileSizeLimit() { lift(); }
    FileSizeLimit(const FileSizeLimit&) = delete;
    void lift() { ::setrlimit(RLIMIT_FSIZE, &m_before); }

private:
    rlimit m_before{};
};

}  // namespace stepscope::test
