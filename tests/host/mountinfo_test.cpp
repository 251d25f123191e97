#include <gtest/gtest.h>

#include "host/host.h"

namespace goldenv::host {
namespace {

TEST(Mountinfo, TakesPointTypeSourceAndBothKindsOfOptions) {
  const auto mounts = parse_mountinfo(
      "36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 shared:2 - ext3 /dev/root rw,errors=continue\n"
      "40 35 0:40 / /data rw,relatime - nfs4 server:/export rw,vers=4.2,hard\n");
  ASSERT_EQ(mounts.size(), 2u);
  EXPECT_EQ(mounts[0].point, "/mnt2");
  EXPECT_EQ(mounts[0].type, "ext3");
  EXPECT_EQ(mounts[0].source, "/dev/root");
  EXPECT_EQ(mounts[0].options,
            (std::vector<std::string>{"rw", "noatime", "rw", "errors=continue"}));
  EXPECT_EQ(mounts[1].source, "server:/export");
  EXPECT_EQ(mounts[1].options.back(), "hard");
}

TEST(Mountinfo, OctalEscapesAreDecoded) {
  const auto mounts = parse_mountinfo(
      "1 0 0:1 / /a\\040b\\011c\\012d\\134e rw - fuse.sshfs user@host:/x\\040y rw\n"
      "2 1 0:2 / /odd\\04 rw - tmpfs \\0 rw\n"
      "3 1 0:3 / /odd\\400\\999\\ rw - tmpfs none rw\n");
  ASSERT_EQ(mounts.size(), 3u);
  EXPECT_EQ(mounts[0].point, "/a b\tc\nd\\e");
  EXPECT_EQ(mounts[0].source, "user@host:/x y");
  EXPECT_EQ(mounts[1].point, "/odd\\04");
  EXPECT_EQ(mounts[2].point, "/odd\\400\\999\\");
}

TEST(Mountinfo, AnEmptySourceIsKept) {
  const auto mounts = parse_mountinfo("3 1 0:3 / /run rw -  tmpfs\n4 1 0:3 / /x rw - tmpfs  rw\n");
  ASSERT_EQ(mounts.size(), 1u);
  EXPECT_EQ(mounts[0].point, "/x");
  EXPECT_EQ(mounts[0].source, "");
  EXPECT_EQ(mounts[0].options, (std::vector<std::string>{"rw", "rw"}));
}

TEST(Mountinfo, LinesThatAreNoneArePassedOver) {
  const auto mounts = parse_mountinfo(
      "\n"
      "-\n"
      "36 35 98:0 /mnt1 /mnt2 rw\n"
      "36 35 98:0 /mnt1 /mnt2 rw -\n"
      "36 35 98:0 /mnt1 /mnt2 rw - ext3\n"
      "36 35 98:0 / relative rw - ext3 /dev/x rw\n"
      "x 35 98:0 / /x rw - ext3 /dev/x rw\n"
      "36 35 - / /y rw\n"
      "5 1 0:3 / /last rw - tmpfs none");
  ASSERT_EQ(mounts.size(), 1u);
  EXPECT_EQ(mounts[0].point, "/last");
  EXPECT_TRUE(parse_mountinfo("").empty());
  EXPECT_TRUE(parse_mountinfo(std::string(10'000, ' ')).empty());
}

TEST(Mountinfo, TheLongestPointHoldsAPathAndTheLaterOfEquals) {
  const auto mounts = parse_mountinfo(
      "1 0 0:1 / / rw - ext4 root rw\n"
      "2 1 0:2 / /data rw - autofs systemd-1 rw\n"
      "3 1 0:3 / /data rw - nfs4 server:/ rw\n"
      "4 1 0:4 / /data/local rw - xfs disk rw\n");
  EXPECT_EQ(mount_of(mounts, "/database")->type, "ext4");
  EXPECT_EQ(mount_of(mounts, "/data")->type, "nfs4");
  EXPECT_EQ(mount_of(mounts, "/data/x")->type, "nfs4");
  EXPECT_EQ(mount_of(mounts, "/data/local/x")->type, "xfs");
  EXPECT_EQ(mount_of(mounts, "/")->type, "ext4");
  EXPECT_EQ(mount_of({}, "/"), nullptr);
}

TEST(Mountinfo, WhatHasAServerCanHang) {
  for (const char* type :
       {"nfs", "nfs4", "cifs", "smb3", "lustre", "ceph", "gpfs", "beegfs", "9p", "virtiofs", "fuse",
        "fuseblk", "fuse.sshfs", "fuse.", "autofs", "wekafs", "panfs", "afs"}) {
    EXPECT_TRUE(can_hang(type)) << type;
  }
  for (const char* type : {"ext4", "xfs", "btrfs", "tmpfs", "proc", "sysfs", "overlay", "squashfs",
                           "nfsd", "fusectl", "zfs", "", "devtmpfs", "cgroup2"}) {
    EXPECT_FALSE(can_hang(type)) << type;
  }
}

}  // namespace
}  // namespace goldenv::host
