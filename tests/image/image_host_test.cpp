#include "image/image_host.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>

#include "base/sha256_stream.h"
#include "support/made_image.h"

namespace goldenv::image {
namespace {

using test::MadeImage;
using test::MadeTar;
using test::TempDir;
using testing::ElementsAre;
using testing::HasSubstr;

std::unique_ptr<ImageHost> opened(const std::string& path, const std::string& wanted = "") {
  Result<std::unique_ptr<ImageHost>> host = open(path, wanted);
  EXPECT_TRUE(host) << (host ? "" : host.error().message);
  return host ? *std::move(host) : nullptr;
}

/// A file's text, fetched where it has to be.
Result<std::string> text(ImageHost& host, const std::string& path) {
  Result<std::string> read = host.read_file(path);
  while (!read) {
    const Result<bool> fetched = host.fetch();
    if (!fetched) {
      return fetched.error();
    }
    if (!*fetched) {
      break;
    }
    read = host.read_file(path);
  }
  return read;
}

std::vector<std::string> names(const host::Host& host, const std::string& path) {
  std::vector<std::string> out;
  const auto entries = host.list(path);
  EXPECT_TRUE(entries) << path;
  for (const auto& entry : entries ? *entries : std::vector<host::DirEntry>{}) {
    out.push_back(entry.name);
  }
  return out;
}

Error failure(const Result<std::unique_ptr<ImageHost>>& host) {
  EXPECT_FALSE(host) << "an image where an error was expected";
  return host ? Error{Errc::failed, "none", {}} : host.error();
}

MadeTar base() {
  MadeTar tar;
  tar.folder("./").folder("./usr/").folder("./usr/lib/").link("./lib", "usr/lib");
  tar.file("./usr/lib/a.so", "old a").file("./usr/lib/b.so", "b");
  tar.folder("opt/").file("opt/gone", "x").folder("opt/deep/").file("opt/deep/one", "1");
  tar.folder("var/").folder("var/cache/").file("var/cache/old", "old");
  tar.folder("proc/").file("proc/version", "not this");
  tar.link("usr/lib/abs", "/opt/deep/one").link("usr/lib/up", "../../../../../opt/deep/one");
  tar.link("loop", "loop2").link("loop2", "loop");
  return tar;
}

MadeTar change() {
  MadeTar tar;
  // By way of the link, as a package of old would be unpacked.
  tar.file("lib/a.so", "new a").hard_link("lib/also", "lib/a.so");
  tar.file("opt/.wh.gone", "");
  // What a layer writes stays, also where its whiteout comes behind.
  tar.file("var/cache/new", "new").file("var/cache/.wh..wh..opq", "");
  tar.file("opt/deep", "a file now");
  // AUFS's own.
  tar.folder(".wh..wh.plnk/").file(".wh..wh.plnk/12.34", "x").file(".wh..wh.aufs", "");
  return tar;
}

class Forms : public testing::TestWithParam<int> {
 protected:
  static MadeImage::Layer layer(const MadeTar& tar) {
    switch (GetParam()) {
      case 0:
        return MadeImage::plain(tar);
      case 1:
        return MadeImage::zipped(tar);
      default:
        return MadeImage::zstandard(tar);
    }
  }
  TempDir temp_;
};

TEST_P(Forms, LayersLieOverOneAnother) {
  const std::vector<MadeImage::Layer> layers{layer(base()), layer(change())};
  for (const std::string& path :
       {MadeImage::of(layers).write(temp_), MadeImage::of(layers).write_folder(temp_),
        MadeImage::saved(layers).write(temp_, "saved.tar")}) {
    SCOPED_TRACE(path);
    const auto host = opened(path);
    ASSERT_NE(host, nullptr);
    EXPECT_THAT(names(*host, "/"),
                ElementsAre("lib", "loop", "loop2", "opt", "proc", "usr", "var"));
    EXPECT_THAT(names(*host, "/lib"), ElementsAre("a.so", "abs", "also", "b.so", "up"));
    EXPECT_THAT(names(*host, "/opt"), ElementsAre("deep"));
    EXPECT_THAT(names(*host, "/var/cache"), ElementsAre("new"));
    EXPECT_EQ(text(*host, "/usr/lib/a.so").value_or("-"), "new a");
    EXPECT_EQ(text(*host, "/lib/b.so").value_or("-"), "b");
    EXPECT_EQ(text(*host, "/usr/lib/also").value_or("-"), "new a");
    EXPECT_EQ(text(*host, "/opt/deep").value_or("-"), "a file now");
    EXPECT_EQ(host->status("/lib/also")->inode, host->status("/lib/a.so")->inode);
    EXPECT_EQ(host->status("/lib/b.so")->size_bytes, 1u);
    EXPECT_EQ(host->status("/lib/b.so")->uid, 1000u);
    EXPECT_EQ(host->status("/lib/b.so")->mtime_ns, 1'700'000'000'000'000'000);
  }
}

TEST_P(Forms, LinksStayInsideTheImage) {
  const auto host = opened(MadeImage::of({layer(base())}).write(temp_));
  ASSERT_NE(host, nullptr);
  EXPECT_EQ(text(*host, "/usr/lib/abs").value_or("-"), "1");
  EXPECT_EQ(text(*host, "/usr/lib/up").value_or("-"), "1");
  EXPECT_EQ(*host->real_path("/lib/abs"), "/opt/deep/one");
  EXPECT_THAT(*host->hops("/lib/abs"), ElementsAre("/lib/abs", "/opt/deep/one"));
  EXPECT_EQ(*host->read_link("/lib"), "usr/lib");
  EXPECT_EQ(host->status("/loop").error().code, Errc::unreadable);
  EXPECT_EQ(host->hops("/loop").error().code, Errc::unreadable);
  EXPECT_EQ(host->status("/lib/a.so/x").error().code, Errc::absent);
  EXPECT_EQ(host->read_file("/lib").error().code, Errc::unreadable);
  EXPECT_EQ(host->read_file("/nothing").error().code, Errc::absent);
}

TEST_P(Forms, LargeFilesAreAskedOnceAndReadWhole) {
  std::string large(9u << 20, 'x');
  large.replace(large.size() - 3, 3, "end");
  MadeTar tar;
  tar.file("a", "first").file("large", large).file("z", "last");
  const auto host = opened(MadeImage::of({layer(tar)}).write(temp_));
  ASSERT_NE(host, nullptr);
  int looks = 0;
  const auto look = [&](int fd) -> Result<std::string> {
    ++looks;
    std::string end(3, '\0');
    EXPECT_EQ(pread(fd, end.data(), 3, (9 << 20) - 3), 3);
    return end;
  };
  Result<std::string> answer = host->ask("/large", "end", look);
  for (int round = 0; round < 3 && !answer; ++round) {
    ASSERT_TRUE(host->fetch());
    answer = host->ask("/large", "end", look);
  }
  EXPECT_EQ(answer.value_or("-"), "end");
  EXPECT_EQ(text(*host, "/z").value_or("-"), "last");
  // Dropped by now, and known all the same.
  EXPECT_EQ(host->ask("/large", "end", look).value_or("-"), "end");
  EXPECT_EQ(looks, 1);
  EXPECT_EQ(host->read_file("/large", 1u << 20).error().code, Errc::too_large);
  const Result<std::string> whole = host->read_file("/large", 10u << 20);
  ASSERT_TRUE(whole || *host->fetch());
  EXPECT_EQ(host->read_file("/large", 10u << 20).value_or(""), large);
}

TEST_P(Forms, LibrariesBesideOneAnotherComeTogether) {
  MadeTar tar;
  tar.file("lib/liba.so.1", "a").file("lib/libb.so", "b").file("lib/c.py", "c");
  const auto host = opened(MadeImage::of({layer(tar)}).write(temp_));
  ASSERT_NE(host, nullptr);
  const bool plain = bool(host->read_file("/lib/liba.so.1"));
  EXPECT_EQ(plain, GetParam() == 0);
  EXPECT_EQ(*host->fetch(), !plain);
  EXPECT_EQ(host->read_file("/lib/libb.so").value_or("-"), "b");
  EXPECT_EQ(host->read_file("/lib/c.py").value_or("-"), plain ? "c" : "-");
}

INSTANTIATE_TEST_SUITE_P(PlainGzipZstd, Forms, testing::Values(0, 1, 2));

class Images : public testing::Test {
 protected:
  TempDir temp_;
};

TEST_F(Images, TheKernelsPlacesAreNotOfAnImage) {
  MadeTar tar = base();
  tar.file("etc/hostname", "builder");
  const auto host = opened(MadeImage::of({MadeImage::plain(tar)}).write(temp_));
  ASSERT_NE(host, nullptr);
  for (const char* path :
       {"/proc/version", "/proc", "/sys/class", "/dev/nvidia0", "/etc/hostname"}) {
    EXPECT_EQ(host->status(path).error().code, Errc::not_live) << path;
    EXPECT_EQ(host->list(path).error().code, Errc::not_live) << path;
  }
  EXPECT_EQ(host->system_name().error().code, Errc::not_live);
  EXPECT_EQ(host->space("/").error().code, Errc::not_live);
  EXPECT_FALSE(host->live());
}

TEST_F(Images, TheEnvironmentIsThatOfTheConfiguration) {
  const std::string inner =
      R"({"Env":["PATH=/usr/bin","A=1","A=2","odd"],"Labels":{"k":"v"},"Cmd":["x"]})";
  const std::vector<MadeImage::Layer> layers{MadeImage::plain(base())};
  const auto host = opened(MadeImage::of(layers, inner).write(temp_));
  ASSERT_NE(host, nullptr);
  EXPECT_EQ(*host->variable("A"), "2");
  EXPECT_EQ(host->variable("B").error().code, Errc::absent);
  EXPECT_EQ(host->variable("HOME").error().code, Errc::not_live);
  EXPECT_THAT(*host->variables(), ElementsAre("A", "PATH"));
  EXPECT_EQ(host->image().id, test::sha256(MadeImage::config(layers, inner)));
  EXPECT_EQ(host->image().config.labels.at("k"), "v");
}

TEST_F(Images, OneOfSeveralIsNamed) {
  MadeImage made;
  MadeTar two;
  two.file("two", "2");
  const std::vector<MadeImage::Layer> first{MadeImage::plain(base())};
  const std::vector<MadeImage::Layer> second{MadeImage::zipped(two)};
  const std::string a = made.manifest(first, MadeImage::config(first));
  const std::string b = made.manifest(second, MadeImage::config(second));
  made.index(
      MadeImage::descriptor("manifest.v1+json", a, MadeImage::named("docker.io/library/app:1")) +
      "," + MadeImage::descriptor("manifest.v1+json", b, MadeImage::named("app:2")));
  const std::string path = made.write(temp_);
  const Error several = failure(open(path, ""));
  EXPECT_EQ(several.code, Errc::usage);
  EXPECT_THAT(several.message,
              HasSubstr("several images: docker.io/library/app:1, app:2; name one"));
  EXPECT_THAT(several.message, HasSubstr("image:" + path + "#docker.io/library/app:1"));
  EXPECT_TRUE(opened(path, "app:2")->exists("/two"));
  EXPECT_TRUE(opened(path, "app:1")->exists("/lib"));
  EXPECT_TRUE(opened(path, test::sha256(b).substr(7, 12))->exists("/two"));
  EXPECT_TRUE(opened(path, test::sha256(MadeImage::config(second)))->exists("/two"));
  const Error none = failure(open(path, "app:3"));
  EXPECT_EQ(none.code, Errc::usage);
  EXPECT_THAT(none.message, HasSubstr("no image app:3"));
}

TEST_F(Images, OfSeveralPlatformsThisOneIsTaken) {
  MadeImage made;
  MadeTar arm;
  arm.file("arm", "");
  const std::vector<MadeImage::Layer> first{MadeImage::plain(arm)};
  const std::vector<MadeImage::Layer> second{MadeImage::plain(base())};
  const std::string a = made.manifest(
      first, MadeImage::config(first, "{}", R"("architecture":"arm64","os":"linux")"));
  const std::string b = made.manifest(second, MadeImage::config(second));
  const auto platform = [](const std::string& name) {
    return R"(,"platform":{"os":"linux","architecture":")" + name + "\"}";
  };
  const std::string inner =
      R"({"schemaVersion":2,"manifests":[)" +
      MadeImage::descriptor("manifest.v1+json", a, platform("arm64")) + "," +
      MadeImage::descriptor("manifest.v1+json", b, platform("amd64")) + "," +
      MadeImage::descriptor("manifest.v1+json", "not here", platform("s390x")) + "," +
      MadeImage::descriptor(
          "manifest.v1+json", "nor this",
          R"(,"annotations":{"vnd.docker.reference.type":"attestation-manifest"})") +
      "]}";
  made.blob(inner);
  made.index(MadeImage::descriptor("index.v1+json", inner, MadeImage::named("app:1")));
  const std::string path = made.write(temp_);
  EXPECT_TRUE(opened(path)->exists("/lib"));
  EXPECT_TRUE(opened(path, "linux/arm64")->exists("/arm"));
  EXPECT_EQ(failure(open(path, "linux/s390x")).code, Errc::usage);
}

TEST_F(Images, PlatformsMayStandInTheOutermostIndex) {
  MadeImage made;
  MadeTar arm;
  arm.file("arm", "");
  const std::vector<MadeImage::Layer> first{MadeImage::plain(arm)};
  const std::vector<MadeImage::Layer> second{MadeImage::plain(base())};
  const std::string a = made.manifest(
      first, MadeImage::config(first, "{}", R"("architecture":"arm64","os":"linux")"));
  const std::string b = made.manifest(second, MadeImage::config(second));
  const auto entry = [](const std::string& text, const std::string& platform,
                        const std::string& name) {
    return MadeImage::descriptor("manifest.v1+json", text,
                                 R"(,"platform":{"os":"linux","architecture":")" + platform +
                                     "\"}" + (name.empty() ? "" : MadeImage::named(name)));
  };
  const auto path_of = [&](const std::string& entries) {
    made.index(entries);
    return made.write(temp_);
  };
  for (const char* name : {"", "app:1"}) {
    // One of which the blobs are elsewhere is no more in the way than in an inner index.
    const std::string path = path_of(entry(a, "arm64", name) + "," + entry(b, "amd64", name) + "," +
                                     entry("not here", "s390x", name));
    EXPECT_TRUE(opened(path)->exists("/lib"));
    EXPECT_TRUE(opened(path, "linux/arm64")->exists("/arm"));
  }
  // Two of other names, or for the same platform, are two images.
  EXPECT_THAT(
      failure(open(path_of(entry(a, "arm64", "app:1") + "," + entry(b, "amd64", "app:2")), ""))
          .message,
      HasSubstr("several images: app:1 (linux/arm64), app:2 (linux/amd64)"));
  EXPECT_THAT(
      failure(open(path_of(entry(a, "amd64", "") + "," + entry(b, "amd64", "")), "")).message,
      HasSubstr("several images"));
  EXPECT_THAT(failure(open(path_of(entry("not here", "amd64", "")), "")).message,
              HasSubstr("is not in it"));
}

TEST_F(Images, LinksInADockerSaveLeadToOtherLayers) {
  const std::vector<MadeImage::Layer> layers{MadeImage::plain(base()), MadeImage::plain(base())};
  MadeImage made = MadeImage::saved(layers);
  made.files.erase("1/layer.tar");
  MadeTar tar;
  for (const auto& [name, bytes] : made.files) {
    tar.file(name, bytes);
  }
  tar.link("1/layer.tar", "../0/layer.tar");
  EXPECT_NE(opened(temp_.file("linked.tar", tar.bytes())), nullptr);
}

TEST_F(Images, WhatIsNoImageIsSaid) {
  EXPECT_EQ(failure(open(temp_.at("none"), "")).code, Errc::usage);
  EXPECT_THAT(failure(open(temp_.file("text", "hello"), "")).message,
              HasSubstr("no archive of an image"));
  EXPECT_THAT(failure(open(temp_.file("other.tar", base().bytes()), "")).message,
              HasSubstr("neither index.json"));
  const MadeImage made = MadeImage::of({MadeImage::plain(base())});
  EXPECT_THAT(failure(open(temp_.file("whole.tar.gz", test::gzip(made.tar())), "")).message,
              HasSubstr("compressed as a whole"));
  EXPECT_THAT(failure(open(temp_.folder("empty"), "")).message, HasSubstr("neither index.json"));
  MadeImage windows;
  const std::vector<MadeImage::Layer> layers{MadeImage::plain(base())};
  const std::string text = windows.manifest(
      layers, MadeImage::config(layers, "{}", R"("architecture":"amd64","os":"windows")"));
  windows.index(MadeImage::descriptor("manifest.v1+json", text));
  EXPECT_THAT(failure(open(windows.write(temp_), "")).message, HasSubstr("windows"));
}

/// What opening an image with these layers fails with.
class Broken : public Images {
 protected:
  Error error_of(const MadeImage::Layer& layer) {
    return failure(open(MadeImage::of({layer}).write(temp_), ""));
  }
};

TEST_F(Broken, ALayerWithAnotherDigestIsRefused) {
  MadeImage made = MadeImage::of({MadeImage::zipped(base())});
  for (auto& [name, bytes] : made.files) {
    if (bytes.starts_with("\x1f\x8b")) {
      bytes = test::gzip(change().bytes());
    }
  }
  const Error error = failure(open(made.write(temp_), ""));
  EXPECT_EQ(error.code, Errc::malformed);
  EXPECT_THAT(error.message, HasSubstr("app.tar: layer 1: "));
  EXPECT_THAT(error.message, HasSubstr("digest"));
  MadeImage saved = MadeImage::saved({MadeImage::plain(base())});
  saved.files["0/layer.tar"] = change().bytes();
  EXPECT_THAT(failure(open(saved.write(temp_), "")).message, HasSubstr("digest"));
  MadeImage config = MadeImage::of({MadeImage::plain(base())});
  for (auto& [name, bytes] : config.files) {
    if (bytes.starts_with("{\"arch")) {
      bytes += " ";
    }
  }
  EXPECT_THAT(failure(open(config.write(temp_), "")).message, HasSubstr("digest"));
}

TEST_F(Broken, ALayerThatUnpacksToAnotherDigestIsRefused) {
  const std::string zeros = "sha256:" + std::string(64, '0');
  const std::string plain = base().bytes();
  for (const std::string& bytes : {plain, test::gzip(plain), test::zstd(plain), std::string()}) {
    for (const std::string& diff_id : {zeros, test::sha256(change().bytes())}) {
      for (const MadeImage& made :
           {MadeImage::of({{bytes, diff_id}}), MadeImage::saved({{bytes, diff_id}})}) {
        const Error error = failure(open(made.write(temp_), ""));
        EXPECT_EQ(error.code, Errc::malformed);
        EXPECT_THAT(error.message, HasSubstr("app.tar: layer 1: unpacked, its bytes do not have"));
      }
    }
  }
}

TEST_F(Broken, ADigestOfALayerThatIsNoneIsRefused) {
  for (const char* diff_id : {"", "sha256:xx", "\\u001b[31m",
                              "md5:d41d8cd98f00b204e9800998ecf8427e", "sha512:cf83", "sha256:"}) {
    for (const auto& layer : {MadeImage::plain(base()), MadeImage::zipped(base())}) {
      for (const MadeImage& made :
           {MadeImage::of({{layer.bytes, diff_id}}), MadeImage::saved({{layer.bytes, diff_id}})}) {
        const Error error = failure(open(made.write(temp_), ""));
        EXPECT_EQ(error.code, Errc::malformed) << diff_id;
        EXPECT_THAT(error.message, HasSubstr("expected the digest of a layer (diff_ids)"));
        EXPECT_EQ(error.message.find('\x1b'), std::string::npos);
      }
    }
  }
  // A list of other lengths is none of these layers.
  MadeImage more = MadeImage::saved({MadeImage::plain(base())});
  more.files["manifest.json"] = R"([{"Config":"c","Layers":["0/layer.tar","0/layer.tar"]}])";
  more.files["c"] = MadeImage::config({MadeImage::plain(base())});
  EXPECT_THAT(failure(open(more.write(temp_), "")).message, HasSubstr("names 1 layers"));
}

TEST_F(Broken, ALayerCutShortIsRefused) {
  const std::string zipped = test::gzip(base().bytes());
  const std::string half = zipped.substr(0, zipped.size() / 2);
  EXPECT_EQ(error_of({half, test::sha256(half)}).code, Errc::malformed);
  MadeTar large;
  large.file("a", std::string(100'000, 'a'));
  const std::string cut = large.bytes().substr(0, 50'000);
  const Error error = error_of({cut, test::sha256(cut)});
  EXPECT_EQ(error.code, Errc::malformed);
  EXPECT_THAT(error.message, HasSubstr("cut short"));
}

TEST_F(Broken, AnAbsurdSizeIsRefused) {
  MadeTar tar;
  tar.entry("a", '0', "x", "", 0644, "77777777777");
  EXPECT_EQ(error_of(MadeImage::plain(tar)).code, Errc::malformed);
  EXPECT_EQ(error_of(MadeImage::zipped(tar)).code, Errc::malformed);
  MadeTar huge;
  huge.entry("a", '0', "x", "", 0644,
             std::string("\x80\x00\x00\x00\x7f\xff\xff\xff\xff\xff\xff\xff", 12));
  EXPECT_EQ(error_of(MadeImage::plain(huge)).code, Errc::malformed);
}

constexpr unsigned kRun = 128u << 10;

/// The head of a file of `blocks` times 128 KiB of zeros.
MadeTar zeros_in(std::uint32_t blocks) {
  MadeTar tar;
  tar.entry("zeros", '0', "", "", 0644, MadeTar::octal(std::uint64_t{blocks} * kRun, 12));
  return tar;
}

std::string diff_id_of_zeros(std::uint32_t blocks) {
  Sha256Stream sum;
  sum.add(zeros_in(blocks).unended());
  const std::string run(kRun, '\0');
  for (std::uint32_t i = 0; i < blocks; ++i) {
    sum.add(run);
  }
  sum.add(std::string(1024, '\0'));
  return "sha256:" + sum.take().hex();
}

/// A zstd stream of a few hundred KiB that unpacks to a tar with a file of `blocks` times 128 KiB
/// of zeros. Source: RFC 8878, RLE blocks.
std::string bomb(std::uint32_t blocks) {
  const auto block = [](unsigned last, unsigned type, unsigned size, std::string_view bytes) {
    const unsigned head = last | type << 1 | size << 3;
    return std::string{static_cast<char>(head), static_cast<char>(head >> 8),
                       static_cast<char>(head >> 16)}
        .append(bytes);
  };
  std::string bytes("\x28\xb5\x2f\xfd\x00\x58", 6);  // window of 2 MiB, no size, no checksum
  bytes += block(0, 0, 512, zeros_in(blocks).unended());
  for (std::uint32_t i = 0; i < blocks; ++i) {
    bytes += block(0, 1, kRun, std::string(1, '\0'));
  }
  return bytes + block(1, 1, 1024, std::string(1, '\0'));
}

TEST_F(Broken, ABombIsLeftAloneAtFourGigabytes) {
  const std::string small = bomb(80);
  EXPECT_NE(opened(MadeImage::of({{small, diff_id_of_zeros(80)}}).write(temp_)), nullptr);
  const std::string large = bomb(200'000);  // 26 GB in 800 KB
  const auto start = std::chrono::steady_clock::now();
  const Error error = error_of({large, test::sha256("")});
  EXPECT_EQ(error.code, Errc::too_large);
  EXPECT_THAT(error.message, HasSubstr("app.tar: layer 1: unpacks to more than 4096 MiB"));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(60));
  // In parts, too.
  const std::string part = bomb(12'000);
  const MadeImage::Layer layer{part, diff_id_of_zeros(12'000)};
  EXPECT_EQ(failure(open(MadeImage::of({layer, layer, layer, layer}).write(temp_), "")).code,
            Errc::too_large);
}

TEST_F(Broken, AnEntryThatLeadsOutIsRefused) {
  for (const char* path : {"../out", "a/../../out", "usr/../../etc/passwd"}) {
    MadeTar tar;
    tar.file(path, "x");
    const Error error = error_of(MadeImage::plain(tar));
    EXPECT_EQ(error.code, Errc::malformed);
    EXPECT_THAT(error.message, HasSubstr("leads out of the image"));
  }
  MadeTar link;
  link.hard_link("a", "../../etc/passwd");
  EXPECT_THAT(error_of(MadeImage::plain(link)).message, HasSubstr("leads out"));
  MadeTar nowhere;
  nowhere.hard_link("a", "b");
  EXPECT_THAT(error_of(MadeImage::plain(nowhere)).message, HasSubstr("which is not there"));
  MadeTar far;
  const std::string record = " path=" + std::string(5000, 'a') + "\n";
  far.entry("pax", 'x', std::to_string(record.size() + 4) + record, "", 0644).file("a", "");
  EXPECT_THAT(error_of(MadeImage::plain(far)).message, HasSubstr("too long a path"));
  const std::string text = " linkpath=" + std::string(5000, 'a') + "\n";
  MadeTar long_link;
  long_link.entry("pax", 'x', std::to_string(text.size() + 4) + text, "", 0644).link("a", "b");
  EXPECT_THAT(error_of(MadeImage::plain(long_link)).message, HasSubstr("too long a text"));
  MadeTar loop;
  loop.link("a", "b").link("b", "a").file("a/x", "x");
  EXPECT_THAT(error_of(MadeImage::plain(loop)).message, HasSubstr("loop of links"));
}

TEST_F(Broken, ALayerThatIsNoTarIsRefused) {
  const std::string text(5000, 'x');
  EXPECT_THAT(error_of({text, test::sha256(text)}).message, HasSubstr("is no tar archive"));
  EXPECT_NE(opened(MadeImage::of({{"", test::sha256("")}}).write(temp_)), nullptr);
}

TEST_F(Broken, MissingBlobsAreNamed) {
  MadeImage made = MadeImage::of({MadeImage::zipped(base())});
  std::erase_if(made.files, [](const auto& file) { return file.second.starts_with("\x1f\x8b"); });
  EXPECT_THAT(failure(open(made.write(temp_), "")).message, HasSubstr("is not in it"));
  MadeImage wild = MadeImage::of({MadeImage::plain(base())});
  wild.files["index.json"] =
      R"({"manifests":[{"digest":"sha256:../../../../etc/passwd","size":1}]})";
  EXPECT_EQ(failure(open(wild.write(temp_), "")).code, Errc::malformed);
}

TEST_F(Broken, BlobsThatAreLinksAreNotFollowed) {
  MadeImage made = MadeImage::of({MadeImage::plain(base())});
  const std::string layout = made.write_folder(temp_);
  for (const auto& [name, bytes] : made.files) {
    if (bytes.starts_with("{\"arch")) {
      unlink((layout + "/" + name).c_str());
      temp_.link("layout/" + name, "/etc/passwd");
    }
  }
  EXPECT_EQ(failure(open(layout, "")).code, Errc::failed);
}

}  // namespace
}  // namespace goldenv::image
