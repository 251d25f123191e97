#include "store/object.h"

#include <gtest/gtest.h>

namespace goldenv::store {
namespace {

Object torch() {
  Object object;
  object.key = std::string(64, 'a');
  object.kind = "wheel";
  object.name = "torch";
  object.version = "2.2.1+cu121";
  object.artifact = {"torch-2.2.1+cu121-cp311-cp311-linux_x86_64.whl", std::string(64, 'b'),
                     757'000'000, "https://example.org/torch.whl"};
  object.python = "cp311";
  object.content = std::string(64, 'c');
  object.size_bytes = 1'600'000'000;
  object.roots = {{"site", "site-packages"}, {"bin", "bin"}, {"", "."}};
  object.scripts = {{"torchrun", "torch.distributed.run", "main"}};
  object.environment = {{"CUDA_HOME", "${prefix}"}, {"ODD", "a\"b\\c\x01\xff\n"}};
  object.shape.real = {"site/torch", "site/torch/lib"};
  object.shape.copies = {"site/torch/bin/torch_shm_manager"};
  object.shape.listing = {{"", {"site/"}}, {"site/torch/lib", {"libc10.so", "sub/"}}};
  object.shape.elf = {
      {"site/torch/lib/libc10.so", "libc10.so", {"libm.so.6"}, {"$ORIGIN"}, {}, false},
      {"site/torch/bin/torch_shm_manager", "", {"libc10.so"}, {}, {"$ORIGIN/../lib"}, true}};
  return object;
}

TEST(Object, WrittenAndReadIsTheSame) {
  const Object object = torch();
  const Result<Object> read = parse_object(write_object(object), "object.json");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, object);
}

TEST(Object, AVersionStaysText) {
  Object object = torch();
  object.version = "12.10";
  object.artifact = {};
  EXPECT_EQ(parse_object(write_object(object), "o")->version, "12.10");
}

TEST(Object, ItsFolderNamesKeyNameAndVersion) {
  Object object = torch();
  EXPECT_EQ(object.id(), std::string(32, 'a') + "-torch-2.2.1+cu121");
  object.name = "../a b";
  object.version = std::string(100, '9');
  EXPECT_EQ(object.id(), std::string(32, 'a') + "-.._a_b-" + std::string(60, '9'));
}

TEST(Object, PathsThatLeaveATreeAreRefused) {
  for (const char* path : {"", "/", "/a", "a/", "a//b", "..", "a/../b", "./a", "a/."}) {
    EXPECT_FALSE(is_tree_path(path)) << path;
    Object object = torch();
    object.shape.real = {path};
    EXPECT_FALSE(parse_object(write_object(object), "o")) << path;
    object = torch();
    object.shape.elf[0].path = path;
    EXPECT_FALSE(parse_object(write_object(object), "o")) << path;
    object = torch();
    object.shape.copies = {path};
    EXPECT_FALSE(parse_object(write_object(object), "o")) << path;
    object = torch();
    object.roots = {{"site", path}};
    EXPECT_FALSE(parse_object(write_object(object), "o")) << path;
    object = torch();
    object.scripts[0].name = path;
    EXPECT_FALSE(parse_object(write_object(object), "o")) << path;
  }
  Object object = torch();
  object.shape.listing["site"] = {"a/b"};
  EXPECT_FALSE(parse_object(write_object(object), "o"));
  EXPECT_TRUE(is_tree_path("a/..b/...")) << "only whole parts count";
}

TEST(Object, WhatIsNoObjectIsRefusedWithItsName) {
  const std::string good = write_object(torch());
  for (const std::string& text :
       {std::string(), std::string("{}"), std::string("[]"), std::string("{\"goldenv_object\": 2}"),
        good.substr(0, good.size() / 2), "x" + good,
        std::string("{\"goldenv_object\": 1, \"key\": \"ab\"}")}) {
    const Result<Object> read = parse_object(text, "objects/x/object.json");
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().code, Errc::malformed);
    EXPECT_TRUE(read.error().message.starts_with("objects/x/object.json:")) << read.error().message;
  }
}

TEST(Files, WrittenAndReadAreTheSame) {
  const FileList list{{{"a", 3, Sha256::of("abc"), false, ""},
                       {"a b\xff\n", 0, Sha256::of(""), true, ""},
                       {"l", 0, {}, false, "../x"}},
                      std::string(64, 'd')};
  const Result<FileList> read = parse_files(write_files(list), "files.json");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, list);
  EXPECT_TRUE(parse_files(write_files({}), "f")->files.empty());
}

TEST(Files, ListsThatAreNotInOrderOrHalfAreRefused) {
  const std::string digest = Sha256::of("").hex();
  const auto list = [](const std::string& items) {
    return "{\"goldenv_files\": 1, \"object\": \"\", \"files\": [" + items + "]}";
  };
  const std::string a = "[\"a\", \"r\", \"" + digest + "\", 0]";
  const std::string b = "[\"b\", \"r\", \"" + digest + "\", 0]";
  EXPECT_TRUE(parse_files(list(a + "," + b), "f"));
  for (const std::string& items :
       {b + "," + a, a + "," + a, std::string("[\"a\", \"r\"]"),
        std::string("[\"a\", \"r\", \"00\", 0]"), "[\"a\", \"q\", \"" + digest + "\", 0]",
        "[\"a\", \"r\", \"" + digest + "\"]", "[\"../a\", \"r\", \"" + digest + "\", 0]",
        std::string("[\"a\", \"l\", \"\"]"), std::string("7"), std::string("[\"a\", [], \"x\"]")}) {
    EXPECT_FALSE(parse_files(list(items), "f")) << items;
  }
}

TEST(Files, TheDigestOfATreeIsOfNamesModesAndBytes) {
  const std::vector<File> files = {{"a", 3, Sha256::of("abc"), false, ""}};
  const std::string digest = content_digest(files);
  // printf 'a\0r\0ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad\n' | sha256sum
  EXPECT_EQ(digest, Sha256::of(std::string("a\0r\0", 4) + Sha256::of("abc").hex() + "\n").hex());
  auto other = files;
  other[0].executable = true;
  EXPECT_NE(content_digest(other), digest);
  other = files;
  other[0].path = "b";
  EXPECT_NE(content_digest(other), digest);
  other = files;
  other[0].sha256 = Sha256::of("abd");
  EXPECT_NE(content_digest(other), digest);
}

}  // namespace
}  // namespace goldenv::store
