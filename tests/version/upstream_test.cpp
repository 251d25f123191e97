#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "version/version.h"

namespace goldenv::version {
namespace {

TEST(KernelUpstream, ReleaseBuildTextOrSignatureDecides) {
  struct Row {
    std::string_view release, build, signature, text;
    bool exact;
  };
  const std::string_view debian = "#1 SMP PREEMPT_DYNAMIC Debian 6.1.192-3 (2026-01-02)";
  for (const Row& row : {
           // Debian and Ubuntu: the third number is a placeholder.
           Row{"6.1.0-57-amd64", "", "", "6.1", false},
           Row{"6.1.0-57-amd64", debian, "", "6.1.192", true},
           Row{"6.1.0-57-amd64", "#1 SMP PREEMPT_DYNAMIC @0", "", "6.1", false},
           Row{"6.1.0-57-amd64", "#1 SMP Debian", "", "6.1", false},
           Row{"6.1.0-57-amd64", "#1 SMP Debian 5.10.209-2 (2024-01-31)", "", "6.1", false},
           Row{"6.1.0-0-amd64", "#1 SMP Debian 6.1~rc3-1~exp1 (2022-11-02)", "", "6.1", true},
           Row{"6.1.0-0.deb11.13-amd64", "#1 SMP Debian 6.1.55-1~bpo11+1", "", "6.1.55", true},
           Row{"6.1.0-rpi7-rpi-v8", "#1 SMP PREEMPT Debian 1:6.1.63-1+rpt1", "", "6.1.63", true},
           Row{"6.1.0-rpi7-rpi-v8", "", "", "6.1", false},
           Row{"6.5.0-kali3-amd64", "#1 SMP Debian 6.5.6-1kali1 (2023-10-09)", "", "6.5.6", true},
           Row{"6.5.0-kali3-amd64", "", "", "6.5", false},
           Row{"6.12.100+deb12-amd64", "", "", "6.12.100", true},
           Row{"5.4.0-149-generic", "#166-Ubuntu SMP Tue Apr 18 16:51:45 UTC 2023", "", "5.4",
               false},
           Row{"5.4.0-169-generic", "", "Ubuntu 5.4.0-169.187-generic 5.4.257", "5.4.257", true},
           Row{"5.4.0-169-generic", "", "Ubuntu 5.4.0-169.187-generic 5.4.257\n", "5.4.257", true},
           Row{"5.4.0-169-generic", "", "Ubuntu 5.4.0-169.187-generic", "5.4", false},
           Row{"5.4.0-169-generic", "", "Ubuntu 5.4.0-169.187-generic x", "5.4", false},
           Row{"5.4.0-169-generic", "", "Ubuntu 5.15.0-1.1-generic 5.15.99", "5.4", false},
           Row{"5.15.0-1019-aws", "", "", "5.15", false},
           Row{"5.15.0-200.131.27.el8uek.x86_64", "", "", "5.15", false},
           // Red Hat and Fedora mean the number they write.
           Row{"5.14.0-362.el9", "", "", "5.14.0", true},
           Row{"5.14.0-362.18.1.el9_3.x86_64", "", "", "5.14.0", true},
           Row{"4.18.0-513.5.1.el8_9.x86_64", "", "", "4.18.0", true},
           Row{"6.0.0-54.fc38.x86_64", "", "", "6.0.0", true},
           // Others.
           Row{"6.1-arch1", "", "", "6.1", true},
           Row{"6.1-rc3", "", "", "6.1", true},
           Row{"6.1.0-rc3", "", "", "6.1.0", true},
           Row{"6.1.0", "", "", "6.1.0", true},
           Row{"6.1.0+", "", "", "6.1.0", true},
           Row{"6.6.arch1-1", "", "", "6.6", true},
           Row{"5.15.153.1-microsoft-standard-WSL2", "", "", "5.15.153", true},
           Row{"5.4.143.abc.7-amd64", "", "", "5.4.143", true},
           Row{"6.4.3-0_xyz20_node", "", "", "6.4.3", true},
           Row{"5.10.209-198.858.amzn2.x86_64", "", "", "5.10.209", true},
           Row{"6.5.11-8-pve", "#1 SMP PMX 6.5.11-8", "", "6.5.11", true},
           Row{"5.4.17-2136.315.5.el7uek.x86_64", "", "", "5.4.17", true},
       }) {
    const Result<Upstream> upstream = kernel_upstream(row.release, row.build, row.signature);
    ASSERT_TRUE(upstream) << row.release;
    EXPECT_EQ(upstream->text, row.text) << row.release << " " << row.build << row.signature;
    EXPECT_EQ(upstream->exact, row.exact) << row.release << " " << row.build << row.signature;
  }
}

TEST(KernelUpstream, ReleaseThatIsNoneIsMalformed) {
  for (const std::string_view release : {"", "linux", "5", "5-generic", "5..4", " 5.4"}) {
    const Result<Upstream> upstream = kernel_upstream(release, "", "");
    ASSERT_FALSE(upstream) << release;
    EXPECT_EQ(upstream.error().code, Errc::malformed);
  }
  EXPECT_EQ(kernel_upstream("5-generic", "", "").error().message,
            "\"5-generic\" is no version: a kernel release starts with at least two numbers");
}

}  // namespace
}  // namespace goldenv::version
