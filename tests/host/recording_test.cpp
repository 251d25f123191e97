#include "host/recording.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "support/fake_host.h"
#include "support/temp_dir.h"

namespace goldenv::host {
namespace {

std::unique_ptr<test::FakeHost> machine() {
  auto host = std::make_unique<test::FakeHost>();
  host->file("/etc/os-release", "ID=debian\n")
      .file("/usr/lib/libx.so.1.2", std::string("\x7f"
                                                "ELF\0\xff\xfe",
                                                7))
      .link("/usr/lib/libx.so.1", "libx.so.1.2")
      .link("/lib", "usr/lib")
      .link("/loop", "/loop")
      .file("/etc/token", "hunter2")
      .deny("/root")
      .fail("/mnt/home", Errc::timed_out)
      .set("HOME", "/home/me")
      .set("SECRET", "hunter2")
      .room("/dev/shm", {64, 32});
  return host;
}

Discretion discretion() {
  return {[](std::string_view path, std::string_view text) {
            return path == "/etc/token" ? std::string("***") : std::string(text);
          },
          [](std::string_view name, std::string_view value) {
            return name == "SECRET" ? std::nullopt : std::optional<std::string>(value);
          }};
}

/// All that the tests ask of a machine, in words.
std::string questioned(const Host& host) {
  std::string told;
  const auto tell = [&](const auto& result, const std::string& value) {
    told += (result ? value : result.error().message) + "\n";
  };
  for (const char* path :
       {"/etc/os-release", "/lib/libx.so.1", "/loop", "/root/x", "/mnt/home/a", "/etc/none",
        "/none/below", "/etc/os-release/below", "/etc", "/usr/lib/../lib/libx.so.1"}) {
    const auto text = host.read_file(path);
    tell(text, text.value_or(""));
    const auto link = host.read_link(path);
    tell(link, link.value_or(""));
    const auto names = host.list(path);
    std::string all;
    for (const DirEntry& entry : names.value_or({})) {
      all += entry.name + std::to_string(static_cast<int>(entry.kind)) + " ";
    }
    tell(names, all);
    const auto status = host.status(path);
    tell(status, std::to_string(status.value_or(FileStatus{}).size_bytes));
    const auto real = host.real_path(path);
    tell(real, real.value_or(""));
    const auto hops = host.hops(path);
    all.clear();
    for (const std::string& hop : hops.value_or({})) {
      all += hop + " ";
    }
    tell(hops, all);
    const auto asked = host.ask(path, "head 4", [](int fd) -> Result<std::string> {
      std::string bytes(4, '\0');
      bytes.resize(static_cast<std::size_t>(std::max<ssize_t>(0, pread(fd, bytes.data(), 4, 0))));
      return bytes;
    });
    tell(asked, asked.value_or(""));
    const auto space = host.space(path);
    tell(space, std::to_string(space.value_or(Space{}).free_bytes));
  }
  tell(host.variable("HOME"), host.variable("HOME").value_or(""));
  told += host.system_name()->release;
  return told;
}

TEST(Recorder, TheRecordAnswersAsTheMachineDid) {
  const test::TempDir temp;
  const Recorder recorder(machine(), discretion());
  const std::string told = questioned(recorder.host());
  ASSERT_TRUE(recorder.write(temp.at("record")));
  const auto tree = tree_host(temp.at("record"));
  ASSERT_TRUE(tree) << tree.error().message;
  EXPECT_EQ(questioned(**tree), told);
  EXPECT_EQ(test::read_file(temp.at("record/etc/os-release")), "ID=debian\n");
}

TEST(Recorder, WhatNobodyAskedForIsNotCollected) {
  const test::TempDir temp;
  const Recorder recorder(machine(), discretion());
  ASSERT_TRUE(recorder.host().exists("/etc/os-release"));
  ASSERT_TRUE(recorder.host().list("/usr/lib"));
  ASSERT_TRUE(recorder.write(temp.at("record")));
  const auto tree = tree_host(temp.at("record"));
  ASSERT_TRUE(tree);
  EXPECT_EQ((*tree)->read_file("/etc/os-release").error().code, Errc::not_collected);
  EXPECT_EQ((*tree)->status("/etc/passwd").error().code, Errc::not_collected);
  EXPECT_EQ((*tree)->status("/usr/lib/libx.so.1").error().code, Errc::not_collected);
  // All names of this folder are known.
  EXPECT_EQ((*tree)->status("/usr/lib/liby.so").error().code, Errc::absent);
  EXPECT_EQ((*tree)->space("/").error().code, Errc::not_collected);
}

TEST(Recorder, SecretsStayBehind) {
  const test::TempDir temp;
  const Recorder recorder(machine(), discretion());
  EXPECT_EQ(*recorder.host().read_file("/etc/token"), "hunter2");
  EXPECT_EQ(*recorder.host().variable("SECRET"), "hunter2");
  ASSERT_TRUE(recorder.write(temp.at("record")));
  for (const auto& entry : std::filesystem::recursive_directory_iterator(temp.at("record"))) {
    if (entry.is_regular_file()) {
      EXPECT_EQ(test::read_file(entry.path().string()).find("hunter2"), std::string::npos);
    }
  }
  const auto tree = tree_host(temp.at("record"));
  EXPECT_EQ(*(*tree)->read_file("/etc/token"), "***");
  EXPECT_EQ((*tree)->variable("SECRET").error().code, Errc::not_collected);
  EXPECT_EQ((*tree)->variable("OTHER").error().code, Errc::absent);
}

TEST(Recorder, WritesToANewOrEmptyFolderAlone) {
  const test::TempDir temp;
  const Recorder recorder(machine(), discretion());
  temp.file("full/x", "");
  for (const std::string& path : {temp.at("full"), temp.file("file", ""), temp.at("none/below"),
                                  temp.link("link", temp.folder("elsewhere"))}) {
    const Result<void> done = recorder.write(path);
    ASSERT_FALSE(done) << path;
    EXPECT_EQ(done.error().code, Errc::usage);
  }
  EXPECT_TRUE(recorder.write(temp.folder("empty")));
  EXPECT_TRUE(recorder.write(temp.at("slash/")));
  std::size_t left = 0;
  for (const auto& entry : std::filesystem::directory_iterator(temp.path())) {
    left += entry.path().string().find(".yaml.") != std::string::npos ? 1u : 0u;
  }
  EXPECT_EQ(left, 0u);
}

TEST(Recording, TextAndBackAreInverses) {
  Recording recording;
  recording.places["/a"].status = FileStatus{FileStatus::Kind::device, 01777, 1, 2, 3, 4, 5, -6, 7};
  recording.places["/a"].answers["elf 1"] = std::string("\0\x01\xff\n", 4);
  recording.places["/b"].link = "x\ny";
  recording.places["/c"].names = {{"d", FileStatus::Kind::folder},
                                  {"\xff", FileStatus::Kind::link}};
  recording.places["/c/e: f"].has_content = true;
  recording.absent = {"/none"};
  recording.failures[{"file", "/x"}] = Error{Errc::denied, "/x: permission denied", {}};
  recording.spaces["/"] = {1, 2};
  recording.name = SystemName{"n", "5.15", "#1", "x86_64"};
  recording.variables["PATH"] = "/bin";
  recording.withheld = {"TOKEN"};
  const std::string text = recording.render();
  ASSERT_TRUE(Recording::is_one(text));
  const auto back = Recording::parse(text, "r");
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(back->render(), text);
  EXPECT_EQ(back->places.at("/a").status->mtime_ns, -6);
  EXPECT_EQ(back->places.at("/a").answers.at("elf 1"), std::string("\0\x01\xff\n", 4));
}

TEST(Recording, DamagedTextsAreErrors) {
  for (const char* text :
       {"goldenv_record: 1\nplaces: {}\n", "goldenv_record: 0\nplaces: []\n",
        "goldenv_record: 0\nplaces: {/a: {status: file}}\n",
        "goldenv_record: 0\nplaces: {/a: {status: file 999999 0 0 0 0 0 0 0}}\n",
        "goldenv_record: 0\nplaces: {/a: {names: [x]}}\n",
        "goldenv_record: 0\nplaces: {/a: {names: [zx]}}\n",
        "goldenv_record: 0\nplaces: {/a: {other: x}}\n",
        "goldenv_record: 0\nother: 1\nplaces: {}\n",
        "goldenv_record: 0\nspace: {/: {total: x}}\nplaces: {}\n",
        "goldenv_record: 0\nfailures: [{code: x}]\nplaces: {}\n", "places: {}\n"}) {
    const auto recording = Recording::parse(text, "r");
    ASSERT_FALSE(recording) << text;
    EXPECT_EQ(recording.error().code, Errc::malformed) << text;
  }
}

}  // namespace
}  // namespace goldenv::host
