#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <thread>

#include "host/host.h"
#include "support/temp_dir.h"

namespace goldenv::host {
namespace {

template <typename T>
Errc code_of(const Result<T>& result) {
  EXPECT_FALSE(result) << "a value where an error was expected";
  return result ? Errc::usage : result.error().code;
}

std::unique_ptr<Host> tree(const test::TempDir& folder) {
  auto host = tree_host(folder.path());
  if (!host) {
    throw std::runtime_error(host.error().message);
  }
  return *std::move(host);
}

TEST(TreeHost, ReadsWhatStandsInTheTree) {
  const test::TempDir folder;
  folder.file("etc/os-release", "ID=ubuntu\n");
  folder.file("proc/sys/kernel/watchdog_thresh", "10\n");
  const auto host = tree(folder);
  EXPECT_FALSE(host->live());
  EXPECT_EQ(*host->read_file("/etc/os-release"), "ID=ubuntu\n");
  EXPECT_EQ(*host->read_file("/proc/sys/kernel/watchdog_thresh"), "10\n");
  EXPECT_EQ(*host->real_path("/etc/../etc/os-release"), "/etc/os-release");
  EXPECT_EQ(host->list("/")->size(), 2u);
  const auto first = host->inspect("/etc/os-release", [](int fd) {
    std::string byte(1, '?');
    return pread(fd, byte.data(), 1, 0) == 1 ? byte : std::string("none");
  });
  EXPECT_EQ(*first, "I");
}

TEST(TreeHost, LinksNeverLeadOutOfTheTree) {
  const test::TempDir outside;
  outside.file("secret", "of the machine itself");
  const test::TempDir folder;
  folder.file("secret", "of the tree");
  folder.file("etc/hostname", "tree\n");
  folder.file("a/b/c/file", "deep");
  folder.link("absolute", outside.at("secret"));
  folder.link("up", "../../../../../../../../../../.." + outside.at("secret"));
  folder.link("etc/up", "../../../secret");
  folder.link("chain", "chain2");
  folder.link("chain2", "/chain3/../chain3/secret");
  folder.link("chain3", "/../..");
  folder.link("a/b/c/root", "/..");
  folder.link("proc/self/root", "/");
  folder.link("proc/self/cwd", outside.path());
  folder.link("lib", outside.path());
  const auto host = tree(folder);
  EXPECT_EQ(code_of(host->read_file("/absolute")), Errc::absent);
  EXPECT_EQ(code_of(host->read_file("/up")), Errc::absent);
  EXPECT_EQ(code_of(host->read_file("/lib/secret")), Errc::absent);
  EXPECT_EQ(code_of(host->list("/lib")), Errc::absent);
  EXPECT_EQ(code_of(host->read_file("/proc/self/cwd/secret")), Errc::absent);
  EXPECT_EQ(code_of(host->inspect("/absolute", [](int) { return std::string("opened"); })),
            Errc::absent);
  EXPECT_EQ(*host->read_file("/etc/up"), "of the tree");
  EXPECT_EQ(*host->read_file("/chain"), "of the tree");
  EXPECT_EQ(*host->read_file("/../../../../secret"), "of the tree");
  EXPECT_EQ(*host->read_file("/a/b/c/root/a/b/c/root/secret"), "of the tree");
  EXPECT_EQ(*host->read_file("/proc/self/root/secret"), "of the tree");
  EXPECT_EQ(*host->real_path("/chain3"), "/");
  EXPECT_EQ(*host->read_link("/absolute"), outside.at("secret"));
  EXPECT_EQ(*host->hops("/chain"), (std::vector<std::string>{"/chain", "/chain2", "/secret"}));
}

TEST(TreeHost, AFolderReplacedByALinkBetweenTwoLooksDoesNotLeadOut) {
  const test::TempDir outside;
  outside.file("file", "outside");
  const test::TempDir folder;
  folder.file("sub/deeper/file", "inside");
  const auto host = tree(folder);
  EXPECT_EQ(*host->read_file("/sub/deeper/file"), "inside");
  std::filesystem::remove_all(folder.at("sub/deeper"));
  folder.link("sub/deeper", outside.path());
  const auto again = host->read_file("/sub/deeper/file");
  EXPECT_FALSE(again && *again == "outside");
}

TEST(TreeHost, AContainerImageIsNotLive) {
  const test::TempDir folder;
  folder.folder("proc");
  folder.folder("sys");
  folder.file("etc/hostname", "x");
  folder.folder("run");
  const auto host = tree(folder);
  EXPECT_EQ(code_of(host->read_file("/proc/driver/nvidia/version")), Errc::not_live);
  EXPECT_EQ(code_of(host->list("/proc")), Errc::not_live);
  EXPECT_EQ(code_of(host->status("/sys/module/nvidia")), Errc::not_live);
  EXPECT_EQ(code_of(host->status("/dev/nvidia0")), Errc::not_live);
  EXPECT_EQ(code_of(host->status("/dev")), Errc::not_live);
  EXPECT_EQ(code_of(host->system_name()), Errc::not_live);
  EXPECT_EQ(code_of(host->variable("PATH")), Errc::not_live);
  EXPECT_EQ(code_of(host->variables()), Errc::not_live);
  EXPECT_EQ(code_of(host->space("/dev/shm")), Errc::not_live);
  EXPECT_TRUE(host->mounts().empty());
  EXPECT_EQ(code_of(host->read_file("/etc/none")), Errc::absent);
  EXPECT_EQ(code_of(host->read_file("/run/sysctl.d/x.conf")), Errc::absent);
}

TEST(TreeHost, WithoutARecordTheNearestCapturedFolderDecides) {
  const test::TempDir folder;
  folder.file("proc/driver/rtc", "");
  folder.file("proc/sys/kernel/osrelease", "5.15.0\n");
  folder.file("sys/module/nvidia/version", "550.54.15\n");
  folder.file("sys/class/net/eth0/address", "");
  folder.file("sys/devices/system/cpu/online", "0-3\n");
  folder.file("dev/null", "");
  const auto host = tree(folder);
  // The folder was captured.
  EXPECT_EQ(code_of(host->read_file("/proc/driver/nvidia/version")), Errc::absent);
  EXPECT_EQ(code_of(host->read_file("/sys/module/nvidia_peermem/version")), Errc::absent);
  EXPECT_EQ(host->list("/sys/module")->size(), 1u);
  // It was not.
  EXPECT_EQ(code_of(host->read_file("/proc/modules")), Errc::not_collected);
  EXPECT_EQ(code_of(host->read_file("/proc/fs/lustre/x")), Errc::not_collected);
  EXPECT_EQ(code_of(host->read_file("/proc/sys/net/core/rmem_max")), Errc::not_collected);
  EXPECT_EQ(code_of(host->read_file("/sys/firmware/acpi/x")), Errc::not_collected);
  EXPECT_EQ(code_of(host->list("/sys/devices/system/node")), Errc::not_collected);
  EXPECT_EQ(code_of(host->status("/dev/nvidia0")), Errc::not_collected);
  EXPECT_EQ(code_of(host->list("/proc")), Errc::not_collected);
  EXPECT_EQ(code_of(host->list("/dev")), Errc::not_collected);
  // A file where a folder was asked for.
  EXPECT_EQ(code_of(host->read_file("/proc/driver/rtc/below")), Errc::absent);
}

TEST(TreeHost, WithoutARecordWhatIsHardlyEverCapturedWholeIsNeverAbsent) {
  const test::TempDir folder;
  folder.file("proc/sys/kernel/osrelease", "5.15.0\n");
  folder.file("proc/self/status", "x");
  folder.file("proc/17/status", "x");
  folder.file("sys/class/net/eth0/address", "");
  folder.file("sys/devices/system/cpu/online", "0-3\n");
  folder.file("sys/devices/pci0000:00/0000:00:01.0/vendor", "");
  folder.file("sys/fs/cgroup/memory.max", "max\n");
  folder.file("sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages", "0\n");
  folder.link("sys/bus/pci/devices/0000:00:01.0", "../../../devices/pci0000:00/0000:00:01.0");
  const auto host = tree(folder);
  for (const char* path :
       {"/proc/sys/kernel/numa_balancing", "/proc/sys/kernel/yama/ptrace_scope", "/proc/sys/fs/x",
        "/proc/self/limits", "/proc/17/environ", "/proc/self/attr/current", "/sys/class/infiniband",
        "/sys/class/net/eth0/mtu", "/sys/class/net/eth1", "/sys/devices/system/cpu/smt/active",
        "/sys/devices/system/cpu/cpu0/online", "/sys/devices/system/node/node0/meminfo",
        "/sys/bus/pci/devices/0000:00:01.0/numa_node", "/sys/fs/cgroup/cpu.max",
        "/sys/kernel/mm/transparent_hugepage/enabled",
        "/sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages"}) {
    EXPECT_EQ(code_of(host->read_file(path)), Errc::not_collected) << path;
  }
  for (const char* path : {"/proc/sys/kernel", "/proc/self", "/sys/class", "/sys/class/net",
                           "/sys/devices/system/cpu", "/sys/kernel/mm/hugepages"}) {
    EXPECT_EQ(code_of(host->list(path)), Errc::not_collected) << path;
  }
  EXPECT_EQ(*host->read_file("/sys/devices/system/cpu/online"), "0-3\n");
  // Where the record says so, it is absent.
  folder.file("record.yaml", R"(goldenv_record: 0
answers: {/proc/sys/kernel/numa_balancing: absent}
complete: [/sys/class/net]
)");
  const auto recorded = tree(folder);
  EXPECT_EQ(code_of(recorded->read_file("/proc/sys/kernel/numa_balancing")), Errc::absent);
  EXPECT_EQ(code_of(recorded->read_file("/proc/sys/kernel/other")), Errc::not_collected);
  EXPECT_EQ(code_of(recorded->status("/sys/class/net/eth1")), Errc::absent);
  EXPECT_EQ(recorded->list("/sys/class/net")->size(), 1u);
  EXPECT_EQ(code_of(recorded->list("/sys/devices/system/cpu")), Errc::not_collected);
}

TEST(TreeHost, ALinkIntoWhatWasNotCapturedIsNotAbsent) {
  const test::TempDir folder;
  folder.link("sys/class/net/eth0", "../../devices/pci0000:00/0000:00:01.0/net/eth0");
  folder.folder("sys/devices");
  folder.link("etc/mtab", "../proc/self/mounts");
  const auto host = tree(folder);
  EXPECT_EQ(code_of(host->read_file("/sys/class/net/eth0/mtu")), Errc::not_collected);
  EXPECT_EQ(code_of(host->read_file("/etc/mtab")), Errc::not_live);
}

TEST(TreeHost, TheRecordSaysWhatWasLookedFor) {
  const test::TempDir folder;
  folder.file("record.yaml", R"(goldenv_record: 0
answers:
  /proc/driver/nvidia: absent
  /sys/kernel/debug: denied
  /mnt/home: timed-out
  /etc/broken: unreadable
  /var/large: too-large
contents:
  /sys/bus/pci/config: denied
  /root: denied
complete: [/sys/module, "/proc/sys/net/**"]
)");
  folder.file("sys/module/nvidia/version", "550.54.15\n");
  folder.file("sys/bus/pci/config", "");
  folder.file("sys/kernel/debug/x", "in the tree and not to be read");
  folder.file("proc/sys/net/core/somaxconn", "4096\n");
  folder.file("root/known", "k");
  folder.link("etc/debug", "/sys/kernel/debug");
  const auto host = tree(folder);
  EXPECT_EQ(code_of(host->read_file("/proc/driver/nvidia/version")), Errc::absent);
  EXPECT_EQ(code_of(host->read_file("/proc/driver/nvidia-fs/version")), Errc::not_collected);
  EXPECT_EQ(code_of(host->read_file("/sys/kernel/debug/x")), Errc::denied);
  EXPECT_EQ(code_of(host->list("/sys/kernel/debug")), Errc::denied);
  EXPECT_EQ(code_of(host->read_file("/etc/debug/x")), Errc::denied);
  EXPECT_EQ(code_of(host->list("/mnt/home/user")), Errc::timed_out);
  EXPECT_EQ(code_of(host->read_file("/etc/broken")), Errc::unreadable);
  EXPECT_EQ(code_of(host->read_file("/var/large")), Errc::too_large);
  EXPECT_EQ(code_of(host->read_file("/sys/bus/pci/config")), Errc::denied);
  EXPECT_EQ(code_of(host->inspect("/sys/bus/pci/config", [](int) { return std::string(); })),
            Errc::denied);
  EXPECT_EQ(host->status("/sys/bus/pci/config")->kind, FileStatus::Kind::file);
  EXPECT_EQ(code_of(host->list("/root")), Errc::denied);
  EXPECT_EQ(*host->read_file("/root/known"), "k");
  EXPECT_EQ(code_of(host->read_file("/sys/module/nvidia_uvm/version")), Errc::absent);
  EXPECT_EQ(code_of(host->read_file("/sys/module/nvidia/srcversion")), Errc::not_collected);
  EXPECT_EQ(code_of(host->read_file("/proc/sys/net/core/rmem_max")), Errc::absent);
  EXPECT_EQ(code_of(host->read_file("/proc/modules")), Errc::not_collected);
  EXPECT_EQ(code_of(host->list("/proc")), Errc::not_collected);
  EXPECT_EQ(host->list("/sys/bus")->size(), 1u);
  EXPECT_EQ(code_of(host->read_file("/etc/none")), Errc::absent);
}

TEST(TreeHost, ARecordOfPartsSaysNothingOfTheRest) {
  const test::TempDir folder;
  folder.file("record.yaml", R"(goldenv_record: 0
partial: [/]
complete: [/etc]
answers: {/opt/none: absent}
)");
  folder.file("etc/hostname", "x");
  folder.file("usr/lib/os-release", "ID=debian");
  const auto host = tree(folder);
  EXPECT_EQ(code_of(host->read_file("/etc/none")), Errc::absent);
  EXPECT_EQ(code_of(host->read_file("/opt/none")), Errc::absent);
  EXPECT_EQ(code_of(host->read_file("/opt/other")), Errc::not_collected);
  EXPECT_EQ(code_of(host->list("/usr/lib")), Errc::not_collected);
  EXPECT_EQ(host->list("/etc")->size(), 1u);
}

TEST(TreeHost, NameSpaceAndVariablesComeFromTheRecord) {
  const test::TempDir folder;
  folder.file("record.yaml", R"(goldenv_record: 0
uname: {release: 6.1.0-57-amd64, machine: aarch64}
space: {/dev/shm: {total: 1000, free: 10}}
withheld: [TOKEN]
)");
  folder.file("proc/sys/kernel/hostname", "gpu17\n");
  folder.file("proc/sys/kernel/osrelease", "5.4.0\n");
  using namespace std::string_literals;
  folder.file("proc/self/environ", "HOME=/root\0EMPTY=\0=odd\0none\0A=b=c\0"s);
  folder.file("proc/self/mountinfo", "21 1 8:1 / / rw - ext4 /dev/sda1 rw\n");
  const auto host = tree(folder);
  const auto name = host->system_name();
  ASSERT_TRUE(name);
  EXPECT_EQ(name->node, "gpu17");
  EXPECT_EQ(name->release, "6.1.0-57-amd64");
  EXPECT_EQ(name->version, "");
  EXPECT_EQ(name->machine, "aarch64");
  EXPECT_EQ(host->space("/dev/shm/x")->free_bytes, 10u);
  EXPECT_EQ(code_of(host->space("/")), Errc::not_live);
  EXPECT_EQ(*host->variable("HOME"), "/root");
  EXPECT_EQ(*host->variable("EMPTY"), "");
  EXPECT_EQ(*host->variable("A"), "b=c");
  EXPECT_EQ(code_of(host->variable("none")), Errc::absent);
  EXPECT_EQ(code_of(host->variable("TOKEN")), Errc::not_collected);
  EXPECT_EQ(*host->variables(), (std::vector<std::string>{"A", "EMPTY", "HOME", "TOKEN"}));
  ASSERT_EQ(host->mounts().size(), 1u);
  EXPECT_EQ(host->mounts()[0].type, "ext4");
}

TEST(TreeHost, TheMachineIsThatOfTheShellOrTheCpus) {
  using namespace std::string_literals;
  const test::TempDir folder;
  folder.file("proc/sys/kernel/osrelease", "5.15.0\n");
  EXPECT_EQ(code_of(tree(folder)->system_name()), Errc::not_collected);
  folder.file("proc/cpuinfo", "processor\t: 0\nvendor_id\t: AuthenticAMD\n");
  EXPECT_EQ(tree(folder)->system_name()->machine, "x86_64");
  folder.file("proc/cpuinfo", "processor\t: 0\nCPU implementer\t: 0x41\n");
  EXPECT_EQ(tree(folder)->system_name()->machine, "aarch64");
  folder.file("usr/bin/dash",
              "\x7f"
              "ELF\2\1\1\0\0\0\0\0\0\0\0\0\3\0\x3e\0"s);
  folder.link("usr/bin/sh", "dash");
  folder.link("bin", "usr/bin");
  EXPECT_EQ(tree(folder)->system_name()->machine, "x86_64");
  folder.file("usr/bin/dash",
              "\x7f"
              "ELF\2\2\1\0\0\0\0\0\0\0\0\0\0\3\0\x15"s);
  EXPECT_EQ(tree(folder)->system_name()->machine, "ppc64");
  folder.file("usr/bin/dash",
              "\x7f"
              "ELF\2");
  EXPECT_EQ(tree(folder)->system_name()->machine, "aarch64");
}

TEST(TreeHost, ABadRecordIsAnErrorWithItsPosition) {
  const std::pair<const char*, const char*> cases[] = {
      {"", ":1:1: "},
      {"goldenv_record: 1\n", ":1:17: "},
      {"answers: {}\n", ":1:1: "},
      {"goldenv_record: 0\nanswer: {}\n", ":2:1: unknown key \"answer\""},
      {"goldenv_record: 0\nanswers: {/x: gone}\n", ":2:15: expected absent, denied"},
      {"goldenv_record: 0\nanswers: {x: absent}\n", ":2:11: expected an absolute path"},
      {"goldenv_record: 0\nanswers: {/a/../b: absent}\n", ":2:11: expected a path without"},
      {"goldenv_record: 0\nanswers: [/x]\n", ":2:10: answers: expected a mapping"},
      {"goldenv_record: 0\ncomplete: /x\n", ":2:11: complete: expected a list"},
      {"goldenv_record: 0\ncomplete: [{}]\n", ":2:12: complete: expected a text"},
      {"goldenv_record: 0\nspace: {/: {total: 1}}\n", ":2:12: expected both"},
      {"goldenv_record: 0\nspace: {/: {total: -1, free: 0}}\n", ":2:20: expected a number"},
      {"goldenv_record: 0\nuname: {sysname: Linux}\n", ":2:9: unknown key \"sysname\""},
      {"goldenv_record: 0\ngoldenv_record: 0\n", ":2:1: "},
      {"goldenv_record: 0\nuname: {node: [}\n", ":2:"},
  };
  for (const auto& [text, where] : cases) {
    const test::TempDir folder;
    folder.file("record.yaml", text);
    const auto host = tree_host(folder.path());
    ASSERT_FALSE(host) << text;
    EXPECT_EQ(host.error().code, Errc::malformed) << text;
    EXPECT_NE(host.error().message.find(folder.at("record.yaml") + where), std::string::npos)
        << host.error().message << "\nwhere " << where << " was expected";
  }
}

TEST(TreeHost, ARecordThatIsALinkOutOfTheTreeIsNotRead) {
  const test::TempDir outside;
  outside.file("record.yaml", "goldenv_record: 0\nuname: {release: outside, machine: x86_64}\n");
  const test::TempDir folder;
  folder.link("record.yaml", outside.at("record.yaml"));
  EXPECT_EQ(code_of(tree(folder)->system_name()), Errc::not_live);
}

TEST(TreeHost, TheFolderItselfMustBeOne) {
  const test::TempDir folder;
  folder.file("file", "");
  folder.file("real/etc/hostname", "through a link");
  folder.link("link", "real");
  EXPECT_EQ(code_of(tree_host(folder.at("none"))), Errc::absent);
  EXPECT_EQ(code_of(tree_host(folder.at("file"))), Errc::unreadable);
  const auto host = tree_host(folder.at("link"));
  ASSERT_TRUE(host);
  EXPECT_EQ(*(*host)->read_file("/etc/hostname"), "through a link");
  const auto here = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  const auto relative = tree_host("link/../real");
  std::filesystem::current_path(here);
  ASSERT_TRUE(relative);
  EXPECT_EQ(*(*relative)->read_file("/etc/hostname"), "through a link");
}

TEST(TreeHost, ATreeOnAMountThatCanHangIsLookedAtByAChild) {
  const test::TempDir folder;
  folder.file("mount/tree/etc/hostname", "x");
  folder.file("mount/tree/proc/driver/rtc", "");
  LiveOptions options;
  options.deadline = std::chrono::seconds(20);
  options.more_mounts.push_back(Mount{folder.at("mount"), "nfs", "server:/", {}});
  const auto host = tree_host(folder.at("mount/tree"), options);
  ASSERT_TRUE(host);
  EXPECT_EQ(*(*host)->read_file("/etc/hostname"), "x");
  EXPECT_EQ(code_of((*host)->read_file("/proc/driver/nvidia/version")), Errc::absent);
  EXPECT_EQ(code_of((*host)->read_file("/proc/modules")), Errc::not_collected);
  EXPECT_EQ(code_of((*host)->read_file("/sys/module/x")), Errc::not_live);
  const auto who = (*host)->inspect("/etc/hostname", [](int) { return std::to_string(getpid()); });
  EXPECT_NE(*who, std::to_string(getpid()));
  options.deadline = std::chrono::seconds(2);  // opening the tree must come in time
  const auto impatient = tree_host(folder.at("mount/tree"), options);
  ASSERT_TRUE(impatient);
  EXPECT_EQ(code_of((*impatient)
                        ->inspect("/etc/hostname",
                                  [](int) {
                                    std::this_thread::sleep_for(std::chrono::hours(1));
                                    return std::string();
                                  })),
            Errc::timed_out);
}

TEST(TreeHost, ATreeThatWasRemovedMeanwhileIsNotStillThere) {
  const test::TempDir folder;
  folder.file("tree/etc/hostname", "a\n");
  folder.file("tree/usr/x", "a\n");
  auto host = *tree_host(folder.at("tree"));
  EXPECT_EQ(*host->read_file("/etc/hostname"), "a\n");
  EXPECT_TRUE(host->still_there());
  folder.file("tree/var/new", "what comes in changes nothing");
  EXPECT_TRUE(host->still_there());
  std::filesystem::remove_all(folder.at("tree/usr"));
  EXPECT_EQ(host->still_there().error().message,
            folder.at("tree/usr") + ": was removed while the tree was looked at");
  std::filesystem::rename(folder.at("tree"), folder.at("old"));
  EXPECT_EQ(host->still_there().error().code, Errc::failed);
  folder.file("tree/etc/hostname", "another");
  EXPECT_EQ(host->still_there().error().message,
            folder.at("tree") + ": the folder was removed or replaced while it was looked at");
}

TEST(TreeHost, BytesThatAreNoEnvironmentAreUnreadable) {
  const test::TempDir folder;
  folder.file("proc/self/environ", std::string_view("\x8f\x01junk\0\x02=\xff\0q\x17", 13));
  const auto host = tree(folder);
  EXPECT_EQ(code_of(host->variable("PATH")), Errc::unreadable);
  EXPECT_EQ(code_of(host->variables()), Errc::unreadable);
}

}  // namespace
}  // namespace goldenv::host
