#include "base/sha256.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <string>

#include "base/sha256_stream.h"

namespace goldenv {
namespace {

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

File file_of(const std::string& content) {
  File file(std::tmpfile(), &std::fclose);
  EXPECT_NE(file, nullptr);
  EXPECT_EQ(std::fwrite(content.data(), 1, content.size(), file.get()), content.size());
  EXPECT_EQ(std::fflush(file.get()), 0);
  return file;
}

// The first three are the examples of FIPS 180-2 and of its empty message.
TEST(Sha256Digest, AgreesWithThePublishedExamples) {
  EXPECT_EQ(Sha256::of("").hex(),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(Sha256::of("abc").hex(),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(Sha256::of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq").hex(),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(Sha256::of(std::string(1000000, 'a')).hex(),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256Digest, ParseAndHexAreInverses) {
  const Sha256 sum = Sha256::of("abc");
  const Result<Sha256> read = Sha256::parse(sum.hex());
  ASSERT_TRUE(read);
  EXPECT_EQ(*read, sum);
  const Result<Sha256> upper =
      Sha256::parse("BA7816BF8F01CFEA414140DE5DAE2223B00361A396177A9CB410FF61F20015AD");
  ASSERT_TRUE(upper);
  EXPECT_EQ(*upper, sum);
}

TEST(Sha256Digest, WrongLengthAndWrongDigitAreMalformed) {
  const std::string hex = Sha256::of("abc").hex();
  for (const std::string& text :
       {std::string(), hex.substr(1), hex + "0", " " + hex, "g" + hex.substr(1)}) {
    const Result<Sha256> sum = Sha256::parse(text);
    ASSERT_FALSE(sum) << text;
    EXPECT_EQ(sum.error().code, Errc::malformed);
  }
  EXPECT_EQ(Sha256::parse("ba78").error().message,
            "a SHA-256 digest has 64 hexadecimal digits, this one 4 characters");
}

TEST(Sha256Digest, FileIsReadWholeFromItsStartWhereverTheDescriptorStands) {
  std::string content(700001, 'x');  // more than two reads
  content.back() = 'y';
  const File file = file_of(content);
  const int fd = fileno(file.get());
  ASSERT_EQ(lseek(fd, 17, SEEK_SET), 17);
  const Result<Sha256> sum = Sha256::of_file(fd);
  ASSERT_TRUE(sum);
  EXPECT_EQ(*sum, Sha256::of(content));
  EXPECT_EQ(lseek(fd, 0, SEEK_CUR), 17);
}

TEST(Sha256Digest, EmptyFileHasTheDigestOfNothing) {
  const File file = file_of("");
  const Result<Sha256> sum = Sha256::of_file(fileno(file.get()));
  ASSERT_TRUE(sum);
  EXPECT_EQ(*sum, Sha256::of(""));
}

TEST(Sha256Digest, UnreadableDescriptorIsAnError) {
  const Result<Sha256> closed = Sha256::of_file(-1);
  ASSERT_FALSE(closed);
  EXPECT_EQ(closed.error().code, Errc::failed);
  const int folder = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  ASSERT_GE(folder, 0);
  EXPECT_FALSE(Sha256::of_file(folder));
  close(folder);
}

TEST(Sha256Digest, AFileOfHolesIsRefusedAtOnce) {
  const File file = file_of("x");
  const int fd = ::fileno(file.get());
  ASSERT_EQ(::ftruncate(fd, off_t{1} << 42), 0);
  const Result<Sha256> sum = Sha256::of_file(fd);
  ASSERT_FALSE(sum);
  EXPECT_EQ(sum.error().code, Errc::too_large);
  EXPECT_EQ(sum.error().message, "a sparse file: more than 8 GiB of it were never written");
  // Small holes are bytes like others.
  ASSERT_EQ(::ftruncate(fd, 1'000'000), 0);
  EXPECT_EQ(*Sha256::of_file(fd), Sha256::of("x" + std::string(999'999, '\0')));
}

TEST(Sha256Stream, PiecesDigestAsTheirSum) {
  Sha256Stream stream;
  for (const std::string_view piece : {"", "ab", "c"}) {
    stream.add(piece);
  }
  EXPECT_EQ(stream.take(), Sha256::of("abc"));
  EXPECT_EQ(stream.take(), Sha256::of("")) << "begins anew";
}

}  // namespace
}  // namespace goldenv
