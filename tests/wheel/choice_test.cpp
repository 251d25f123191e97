#include "wheel/choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace goldenv::wheel {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Sha256 digest(char c) { return *Sha256::parse(std::string(64, c)); }

PageFile file(std::string name, char digit = 'a') {
  PageFile found;
  found.url = "https://h/" + name;
  found.file = std::move(name);
  found.sha256 = digest(digit);
  return found;
}

Target target() {
  Target found;
  found.minor = 11;
  found.machine = "x86_64";
  found.glibc_major = 2;
  found.glibc_minor = 31;
  return found;
}

Result<Choice> chosen(const std::vector<PageFile>& files, const Wanted& wanted) {
  return choose(files, wanted, target(), TagRanks(supported_tags(target())));
}

Wanted want(std::string name, std::string version) {
  Wanted wanted;
  wanted.name = std::move(name);
  wanted.version = std::move(version);
  wanted.python = "3.11.7";
  return wanted;
}

std::string refusal(const std::vector<PageFile>& files, const Wanted& wanted) {
  const auto choice = chosen(files, wanted);
  return choice ? "took " + choice->file.file : choice.error().message;
}

std::vector<PageFile> numpy() {
  return {file("numpy-1.26.3-cp311-cp311-manylinux_2_17_x86_64.whl"),
          file("numpy-1.26.4.tar.gz"),
          file("numpy-1.26.4-py3-none-any.whl"),
          file("numpy-1.26.4-cp311-cp311-manylinux_2_17_x86_64.manylinux2014_x86_64.whl"),
          file("numpy-1.26.4-cp310-cp310-manylinux_2_17_x86_64.whl"),
          file("numpy-2.0.0-cp311-cp311-manylinux_2_35_x86_64.whl"),
          file("numpy-2.0.0-cp311-cp311-win_amd64.whl"),
          file("numpy-2.0.0-cp312-cp312-manylinux_2_17_x86_64.whl"),
          file("numpy-2.0.0-cp313-cp313-manylinux_2_17_x86_64.whl"),
          file("numpy-2.0.0-cp312-cp312-linux_x86_64.whl"),
          file("numpy-2.1.0rc1.tar.gz"),
          file("other-3.0-py3-none-any.whl")};
}

TEST(Choice, TakesTheBestFileOfTheVersion) {
  const auto choice = chosen(numpy(), want("NumPy", "1.26.4"));
  ASSERT_TRUE(choice) << choice.error().message;
  EXPECT_EQ(choice->file.file,
            "numpy-1.26.4-cp311-cp311-manylinux_2_17_x86_64.manylinux2014_x86_64.whl");
  EXPECT_EQ(choice->wheel.name, "numpy");
  EXPECT_THAT(choice->remarks, IsEmpty());
  EXPECT_EQ(refusal(numpy(), want("numpy", "1.26.4.0")), "took " + choice->file.file);
}

TEST(Choice, SaysWhyThereIsNone) {
  EXPECT_EQ(refusal(numpy(), want("numpy", "1.26.9")),
            "the index has no numpy 1.26.9; nearest of its 4 versions: 1.26.3, 1.26.4, 2.0.0, "
            "2.1.0rc1");
  EXPECT_EQ(refusal(numpy(), want("numpy", "3")),
            "the index has no numpy 3; nearest of its 4 versions: 2.0.0, 2.1.0rc1");
  EXPECT_EQ(refusal(numpy(), want("scipy", "1.0")), "the index has no file of scipy");
  EXPECT_EQ(refusal(numpy(), want("numpy", "2.1.0rc1")),
            "the index has numpy 2.1.0rc1 only as source (numpy-2.1.0rc1.tar.gz), and goldenv "
            "takes wheels");
  EXPECT_EQ(refusal(numpy(), want("numpy", "2.0.0")),
            "none of the 5 wheels of numpy 2.0.0 fits: 2 for cp312-cp312, this Python is cp311; "
            "1 for cp313-cp313, this Python is cp311; 1 needs glibc 2.35, this machine has 2.31; "
            "1 for win_amd64");
  EXPECT_EQ(chosen(numpy(), want("numpy", "1..0")).error().message,
            "\"1..0\" is no version: empty part after \"1.\"");
}

TEST(Choice, APlainVersionPrefersPlainFiles) {
  std::vector<PageFile> torch{file("torch-2.2.1+cu121-cp311-cp311-linux_x86_64.whl"),
                              file("torch-2.2.1-cp311-cp311-linux_x86_64.whl"),
                              file("torch-2.2.1+cpu-cp311-cp311-linux_x86_64.whl")};
  EXPECT_EQ(refusal(torch, want("torch", "2.2.1")),
            "took torch-2.2.1-cp311-cp311-linux_x86_64.whl");
  EXPECT_EQ(refusal(torch, want("torch", "2.2.1+cu121")),
            "took torch-2.2.1+cu121-cp311-cp311-linux_x86_64.whl");
  torch.erase(torch.begin() + 1);
  EXPECT_EQ(refusal(torch, want("torch", "2.2.1")),
            "the index has torch 2.2.1 only as 2.2.1+cpu, 2.2.1+cu121: say which");
  torch.pop_back();
  const auto only = chosen(torch, want("torch", "2.2.1"));
  ASSERT_TRUE(only) << only.error().message;
  EXPECT_THAT(only->remarks, ElementsAre("torch 2.2.1 is there as 2.2.1+cu121 alone"));
}

TEST(Choice, ALabelIsServedByThePlainVersionOnlyWhereATableSaysSo) {
  const std::vector<PageFile> torch{file("torch-2.2.1-cp311-cp311-linux_x86_64.whl"),
                                    file("torch-2.2.1+cpu-cp311-cp311-linux_x86_64.whl")};
  Wanted wanted = want("torch", "2.2.1+cu121");
  EXPECT_EQ(refusal(torch, wanted),
            "the index has no torch 2.2.1+cu121; nearest of its 2 versions: 2.2.1, 2.2.1+cpu; "
            "versions with +cu121 are usually on an index of their own: add it as extra index");
  wanted.plain_serves = true;
  const auto choice = chosen(torch, wanted);
  ASSERT_TRUE(choice) << choice.error().message;
  EXPECT_EQ(choice->file.file, "torch-2.2.1-cp311-cp311-linux_x86_64.whl");
  EXPECT_THAT(choice->remarks, ElementsAre("the index's torch 2.2.1 is 2.2.1+cu121"));
}

TEST(Choice, AnotherPythonIsNamed) {
  std::vector<PageFile> files{file("a-1-py3-none-any.whl")};
  files[0].requires_python = ">=3.12";
  EXPECT_EQ(refusal(files, want("a", "1")), "a 1 needs Python >=3.12; this one is 3.11.7");
  files[0].requires_python = ">=3.8";
  EXPECT_EQ(refusal(files, want("a", "1")), "took a-1-py3-none-any.whl");
  files[0].requires_python = ">=3.*";
  const auto odd = chosen(files, want("a", "1"));
  ASSERT_TRUE(odd) << odd.error().message;
  EXPECT_THAT(odd->remarks,
              ElementsAre("Requires-Python \">=3.*\" of a 1 cannot be read and is left aside"));
}

TEST(Choice, AYankedFileIsTakenOnlyWhereNothingElseFitsAndIsSaid) {
  std::vector<PageFile> files{file("a-1-cp311-cp311-linux_x86_64.whl"),
                              file("a-1-py3-none-any.whl")};
  files[0].yanked = "broken";
  EXPECT_EQ(refusal(files, want("a", "1")), "took a-1-py3-none-any.whl");
  files[1].yanked = "";
  const auto choice = chosen(files, want("a", "1"));
  ASSERT_TRUE(choice) << choice.error().message;
  EXPECT_THAT(choice->remarks, ElementsAre("a-1-cp311-cp311-linux_x86_64.whl is yanked: broken"));
  files.erase(files.begin());
  EXPECT_THAT(chosen(files, want("a", "1"))->remarks,
              ElementsAre("a-1-py3-none-any.whl is yanked: no reason given"));
}

TEST(Choice, DigestsOfALockDecideBeforeAllElse) {
  std::vector<PageFile> files{file("a-1-cp311-cp311-linux_x86_64.whl", 'b'),
                              file("a-1-py3-none-any.whl", 'c')};
  files[1].yanked = "old";
  Wanted wanted = want("a", "1");
  wanted.digests = {digest('c'), digest('d')};
  EXPECT_EQ(refusal(files, wanted), "took a-1-py3-none-any.whl");
  wanted.digests = {digest('e')};
  const auto none = chosen(files, wanted);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, Errc::failed);
  EXPECT_EQ(none.error().message,
            "the index has 2 wheels of a 1 for this Python, and none has a sha256 of the lock");
}

TEST(Choice, AFileWithoutDigestNeedsTheLocks) {
  std::vector<PageFile> files{file("a-1-py3-none-any.whl")};
  files[0].sha256.reset();
  files[0].other_digests = {"md5"};
  Wanted wanted = want("a", "1");
  EXPECT_EQ(refusal(files, wanted),
            "the index gives no sha256 for a-1-py3-none-any.whl, only md5; a lock with its digest "
            "would do");
  wanted.digests = {digest('f')};
  const auto choice = chosen(files, wanted);
  ASSERT_TRUE(choice) << choice.error().message;
  EXPECT_EQ(choice->file.sha256, digest('f'));
  wanted.digests.push_back(digest('e'));
  EXPECT_EQ(refusal(files, wanted),
            "the index has 1 wheel of a 1 for this Python, and none has a sha256 of the lock");
}

TEST(OfferedVersions, AreInOrderAndInOneSpelling) {
  EXPECT_THAT(
      offered_versions({file("a-1.10-py3-none-any.whl"), file("a-1.9.zip"), file("a-1.9.0.tar.gz"),
                        file("a-1.9-py2-none-any.whl"), file("b-2-py3-none-any.whl"),
                        file("a-x-py3-none-any.whl"), file("a-1.10rc1-py3-none-any.whl")},
                       "A"),
      ElementsAre("1.9", "1.10rc1", "1.10"));
}

}  // namespace
}  // namespace goldenv::wheel
