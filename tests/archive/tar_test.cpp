#include "archive/tar.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <string>

#include "support/made_image.h"

namespace goldenv::archive {
namespace {

using test::MadeTar;
using testing::HasSubstr;

/// Bytes as a part in the midst of a file.
class Held {
 public:
  explicit Held(const std::string& bytes) : fd_(memfd_create("tar", MFD_CLOEXEC)) {
    const std::string all = "before" + bytes + "behind";
    EXPECT_EQ(write(fd_, all.data(), all.size()), static_cast<ssize_t>(all.size()));
    part_ = {fd_, 6, bytes.size()};
  }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  ~Held() { close(fd_); }
  [[nodiscard]] Part part() const { return part_; }
  [[nodiscard]] std::string at(std::uint64_t offset, std::size_t size) const {
    std::string bytes(size, '\0');
    EXPECT_EQ(pread(fd_, bytes.data(), size, static_cast<off_t>(part_.offset + offset)),
              static_cast<ssize_t>(size));
    return bytes;
  }

 private:
  int fd_;
  Part part_;
};

std::string content(Tar& tar) {
  std::string text;
  const Result<void> read = tar.content([&](std::uint64_t at, std::string_view piece) {
    text.resize(std::max<std::size_t>(text.size(), at));
    text += piece;
    return Result<void>();
  });
  return read ? text : read.error().message;
}

TEST(Tar, NamesComeAsTheirBytes) {
  // A pax header with a path in UTF-8, and a path of no text at all.
  const std::string record = "21 path=d/h\xc3\xa9llo\xff.so\n";
  ASSERT_EQ(record.size(), 21u);
  MadeTar made;
  made.entry("pax", 'x', record, "", 0644).file("short", "1").file("\xff\xfe", "2");
  const Held held(made.bytes());
  TarBudget budget;
  Tar tar(held.part(), "t", budget);
  EXPECT_EQ((*tar.next())->path, "d/h\xc3\xa9llo\xff.so");
  EXPECT_EQ((*tar.next())->path, "\xff\xfe");
  EXPECT_FALSE(*tar.next());
}

TEST(Tar, APlainContentStandsWhereItsOffsetSays) {
  MadeTar made;
  made.folder("d/").file("d/a", "first").file("d/b", std::string(70'000, 'b') + "end");
  const Held held(made.bytes());
  for (const auto reading : {Tar::Reading::whole, Tar::Reading::skipping}) {
    TarBudget budget;
    Tar tar(held.part(), "t", budget, reading);
    EXPECT_EQ((*tar.next())->kind, Member::Kind::folder);
    EXPECT_EQ(held.at((*tar.next())->offset.value_or(0), 5), "first");
    EXPECT_EQ(held.at((*tar.next())->offset.value_or(0) + 70'000, 3), "end");
    EXPECT_FALSE(*tar.next());
  }
  const Held zipped(test::gzip(made.bytes()));
  TarBudget budget;
  Tar tar(zipped.part(), "t", budget);
  EXPECT_TRUE(*tar.next());
  const auto member = tar.next();
  EXPECT_FALSE((*member)->offset);
  EXPECT_EQ(content(tar), "first");
}

TEST(Tar, TheDigestsAreOfAllBytes) {
  const std::string plain = MadeTar().file("a", "x").bytes() + std::string(200'000, '\0') + "end";
  // Two streams behind one another are one content.
  const std::string twice = test::gzip(plain.substr(0, 700)) + test::gzip(plain.substr(700));
  for (const std::string& bytes : {plain, test::gzip(plain), twice, test::zstd(plain)}) {
    const Held held(bytes);
    TarBudget budget;
    Tar tar(held.part(), "t", budget);
    EXPECT_EQ((*tar.next())->path, "a");
    const Result<Digests> digests = tar.digests();
    ASSERT_TRUE(digests) << digests.error().message;
    EXPECT_EQ(digests->part.hex(), Sha256::of(bytes).hex());
    EXPECT_EQ(digests->unpacked.hex(), Sha256::of(plain).hex());
  }
}

TEST(Tar, WhatIsDamagedBehindTheLastEntryIsSeenToo) {
  const std::string plain = MadeTar().file("a", "x").bytes() + std::string(200'000, 'x');
  for (std::string bytes : {test::gzip(plain), test::zstd(plain)}) {
    const std::string short_of_one = bytes.substr(0, bytes.size() - 1);
    for (const std::string& damaged : {short_of_one, bytes + "behind"}) {
      const Held held(damaged);
      TarBudget budget;
      Tar tar(held.part(), "t", budget);
      EXPECT_TRUE(*tar.next());
      const Result<Digests> digests = tar.digests();
      ASSERT_FALSE(digests);
      EXPECT_EQ(digests.error().code, Errc::malformed);
      EXPECT_THAT(digests.error().message, testing::MatchesRegex("t: its (gzip|zstd) stream .*"));
    }
  }
}

TEST(Tar, ABombIsLeftAlone) {
  MadeTar made;
  made.file("zeros", std::string(16u << 20, '\0')).file("behind", "x");
  for (const std::string& bytes : {test::gzip(made.bytes()), test::zstd(made.bytes())}) {
    const Held held(bytes);
    TarBudget budget;
    budget.free_bytes = 1u << 20;
    Tar tar(held.part(), "bomb", budget);
    Result<std::optional<Member>> member = tar.next();
    while (member && *member) {
      member = tar.next();
    }
    ASSERT_FALSE(member);
    EXPECT_EQ(member.error().code, Errc::too_large);
    EXPECT_THAT(member.error().message, HasSubstr("bomb: unpacks to more"));
    TarBudget large;
    Tar fair(held.part(), "t", large);
    EXPECT_TRUE(*fair.next());
    EXPECT_EQ((*fair.next())->path, "behind");
  }
}

TEST(Tar, TooManyEntriesAreTooMany) {
  MadeTar made;
  for (int i = 0; i < 10; ++i) {
    made.file("f" + std::to_string(i), "");
  }
  const Held held(made.bytes());
  TarBudget budget;
  budget.members = 15;
  Tar first(held.part(), "t", budget);
  while (*first.next()) {
  }
  Tar second(held.part(), "t", budget);
  Result<std::optional<Member>> member = second.next();
  while (member && *member) {
    member = second.next();
  }
  EXPECT_EQ(member.error().code, Errc::too_large);
}

TEST(Tar, HolesOfASparseFileAreSkipped) {
  // GNU's old form: 4 MiB of which 5 bytes were written, at the end.
  MadeTar made;
  const std::string size = MadeTar::octal((4u << 20) + 5, 11);
  made.entry("sparse", 'S', "bytes", "", 0644);
  std::string bytes = made.bytes();
  bytes.replace(257, 8, std::string("ustar  \0", 8));
  bytes.replace(386, 12, MadeTar::octal(4u << 20, 11) + std::string(1, '\0'));
  bytes.replace(398, 12, MadeTar::octal(5, 11) + std::string(1, '\0'));
  bytes.replace(483, 12, size + std::string(1, '\0'));
  bytes.replace(148, 8, "        ");
  unsigned sum = 0;
  for (std::size_t i = 0; i < 512; ++i) {
    sum += static_cast<unsigned char>(bytes[i]);
  }
  bytes.replace(148, 8, MadeTar::octal(sum, 6) + std::string("\0 ", 2));
  const Held held(bytes);
  TarBudget budget;
  Tar tar(held.part(), "t", budget);
  const auto member = tar.next();
  ASSERT_TRUE(member && *member);
  EXPECT_EQ((*member)->size_bytes, (4u << 20) + 5);
  EXPECT_FALSE((*member)->offset);
  EXPECT_EQ(content(tar), std::string(4u << 20, '\0') + "bytes");
}

}  // namespace
}  // namespace goldenv::archive
