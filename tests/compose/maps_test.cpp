#include "compose/maps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace goldenv::compose {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> judged(std::string_view maps) {
  std::vector<std::string> out;
  for (const MappedFile& file : mapped_files(maps, {"/s", "/opt/python"})) {
    out.push_back(std::string(name(file.provenance)) + " " + file.path +
                  (file.object.empty() ? "" : " " + file.object));
  }
  return out;
}

TEST(ComposeMaps, EachFileIsJudgedByItsPath) {
  EXPECT_THAT(
      judged("55d0-55d1 r-xp 00000000 fd:01 10                         /opt/python/bin/python3.11\n"
             "7f00-7f01 r--p 00000000 fd:01 11                         /s/objects/ab-nccl-2/tree/"
             "site/nvidia/nccl/lib/libnccl.so.2\n"
             "7f01-7f02 r-xp 00001000 fd:01 11                         /s/objects/ab-nccl-2/tree/"
             "site/nvidia/nccl/lib/libnccl.so.2\n"
             "7f02-7f03 r-xp 00000000 fd:01 12                         "
             "/usr/lib/x86_64-linux-gnu/libc.so.6\n"
             "7f03-7f04 r-xp 00000000 fd:01 13                         "
             "/usr/lib/x86_64-linux-gnu/libnccl.so.2.18.3\n"
             "7f04-7f05 r-xp 00000000 fd:01 14                         "
             "/usr/local/cuda-12.1/lib64/libcudart.so.12.1.105\n"
             "7f05-7f06 r-xp 00000000 fd:01 15                         "
             "/usr/lib/x86_64-linux-gnu/libcuda.so.535.129.03\n"
             "7f06-7f07 r-xp 00000000 fd:01 16                         /home/u/x.so (deleted)\n"
             "7f07-7f08 r-xp 00000000 fd:01 17                         /s/envs/cd/bin/shm\n"
             "7f08-7f09 r-xp 00000000 fd:01 18                         "
             "/usr/lib/python3/dist-packages/numpy/core/_m.so\n"
             "7f09-7f0a r-xp 00000000 fd:01 19                         "
             "/opt/python/lib/python3.11/lib-dynload/_ssl.so\n"
             "7f0a-7f0b r-xp 00000000 fd:01 20                         /opt/other/libfoo.so\n"),
      ElementsAre("deleted /home/u/x.so", "foreign /opt/other/libfoo.so",
                  "system /opt/python/bin/python3.11",
                  "system /opt/python/lib/python3.11/lib-dynload/_ssl.so",
                  "environment /s/envs/cd/bin/shm",
                  "object /s/objects/ab-nccl-2/tree/site/nvidia/nccl/lib/libnccl.so.2 ab-nccl-2",
                  "foreign /usr/lib/python3/dist-packages/numpy/core/_m.so",
                  "system /usr/lib/x86_64-linux-gnu/libc.so.6",
                  "system /usr/lib/x86_64-linux-gnu/libcuda.so.535.129.03",
                  "foreign /usr/lib/x86_64-linux-gnu/libnccl.so.2.18.3",
                  "foreign /usr/local/cuda-12.1/lib64/libcudart.so.12.1.105"));
}

TEST(ComposeMaps, WhatIsNoCodeIsLeftOut) {
  EXPECT_THAT(judged("7f00-7f01 r--p 00000000 fd:01 11  /usr/lib/locale/locale-archive\n"
                     "7f00-7f01 r--p 00000000 fd:01 12  /etc/ld.so.cache\n"
                     "7f00-7f01 r--p 00000000 fd:01 12  /etc/ld.so.cache (deleted)\n"
                     "7f00-7f01 rw-p 00000000 00:00 0 \n"
                     "7f00-7f01 rw-p 00000000 00:00 0  [heap]\n"
                     "7f00-7f01 rw-s 00000000 00:05 0  /dev/zero (deleted)\n"
                     "7ffc-7ffd r-xp 00000000 00:00 0  [vdso]\n"),
              IsEmpty());
  EXPECT_THAT(judged("7f00-7f01 r--p 00000000 fd:01 11  /lib/a.so.1\n"),
              ElementsAre("system /lib/a.so.1"))
      << "a library is one though its code was not mapped";
}

TEST(ComposeMaps, OddTextsAreNotTakenForAnything) {
  for (const char* text : {"", "\n", "/", "a b c d e /x.so", "7f r-xp 0 fd:01 x /x.so",
                           "7f r-xp 0 fd:01 /x.so", "\xff\xfe /x"}) {
    EXPECT_THAT(judged(text), IsEmpty()) << text;
  }
  EXPECT_THAT(judged("7f00-7f01 r-xp 00000000 fd:01 11  /odd\\012name.so"),
              ElementsAre("foreign /odd\nname.so"));
}

TEST(ComposeMaps, ASimilarFolderIsNotTheStore) {
  EXPECT_THAT(judged("7f00-7f01 r-xp 00000000 fd:01 11  /store/objects/ab-x-1/tree/x.so"),
              ElementsAre("foreign /store/objects/ab-x-1/tree/x.so"));
  EXPECT_THAT(judged("7f00-7f01 r-xp 00000000 fd:01 11  /library/x.so"),
              ElementsAre("foreign /library/x.so"));
}

}  // namespace
}  // namespace goldenv::compose
