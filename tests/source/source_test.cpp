#include "source/source.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "support/temp_dir.h"

namespace goldenv::source {
namespace {

TEST(ParseSource, KnowsItsWords) {
  EXPECT_EQ(parse("@live")->kind, Source::Kind::live);
  EXPECT_EQ(parse("-")->kind, Source::Kind::input);
  EXPECT_EQ(parse("root:/srv/tree")->place, "/srv/tree");
  EXPECT_EQ(parse("node17.yaml")->kind, Source::Kind::file);
  EXPECT_EQ(parse("./a:b.yaml")->kind, Source::Kind::file);
}

TEST(ParseSource, NamesTheKnownOnesForAnUnknownWord) {
  for (const char* word : {"slurm:gpu17", "git:repo", "@dead", "root:", ""}) {
    const Result<Source> source = parse(word);
    ASSERT_FALSE(source) << word;
    EXPECT_EQ(source.error().code, Errc::usage);
  }
  EXPECT_NE(parse("slurm:gpu17").error().message.find("root:DIR"), std::string::npos);
}

TEST(ReadText, SaysWhatIsWrongWithAFile) {
  const test::TempDir temp;
  const auto error_of = [&](const std::string& path) {
    return read_text({Source::Kind::file, path, path}).error();
  };
  EXPECT_EQ(error_of(temp.at("none")).message, "no such file: " + temp.at("none"));
  EXPECT_EQ(error_of(temp.folder("d")).code, Errc::usage);
  ASSERT_EQ(::mkfifo(temp.at("fifo").c_str(), 0600), 0);
  // Nobody writes it: it reads as empty, at once.
  EXPECT_EQ(*read_text({Source::Kind::file, "", temp.at("fifo")}), "");
  const std::string big = temp.file("big", std::string((16u << 20) + 1, 'a'));
  EXPECT_EQ(error_of(big).code, Errc::too_large);
}

TEST(ReadText, AFileThatWaitsForEventsIsGivenUp) {
  // Fails to open without the right to the log; with it, the log has no end.
  const auto read = read_text({Source::Kind::file, "/proc/kmsg", "/proc/kmsg"});
  ASSERT_FALSE(read);
  EXPECT_NE(read.error().message.find("/proc/kmsg"), std::string::npos) << read.error().message;
}

TEST(ReadDocument, SecretsOfASnapshotFileAreNotKept) {
  const test::TempDir temp;
  const std::string path = temp.file(
      "f",
      "goldenv_snapshot: 0\nsource: x\nlisted: []\nfacts:\n  env.AWS_SECRET: {value: hunter2}\n"
      "  env.HF_ENDPOINT: {value: 'https://u:hunter2@h'}\n");
  const Result<Document> document = read_document({Source::Kind::file, path, path});
  ASSERT_TRUE(document);
  const auto value = [&](const char* key) {
    return facts::describe(document->snapshot.find({key, ""})->reading);
  };
  EXPECT_TRUE(value("env.AWS_SECRET").starts_with("sha256:"));
  EXPECT_EQ(value("env.HF_ENDPOINT"), "https://***@h");
}

TEST(Look, SecretsOfAManifestThatStandsForAMachineAreNotKept) {
  const test::TempDir temp;
  const std::string path = temp.file(
      "f", "goldenv: 1\npins:\n  env.AWS_SECRET: hunter2\n  env.HF_HOME: https://u:hunter2@h\n");
  const auto found = look({Source::Kind::file, path, path}, {});
  ASSERT_TRUE(found);
  for (const facts::Fact& fact : found->facts) {
    EXPECT_EQ(facts::describe(fact.reading).find("hunter2"), std::string::npos) << fact.key.name;
  }
}

TEST(ReadDocument, TellsSnapshotsFromManifests) {
  const test::TempDir temp;
  const auto read = [&](std::string_view text) {
    const std::string path = temp.file("f", text);
    return read_document({Source::Kind::file, path, path});
  };
  EXPECT_EQ(read("goldenv_snapshot: 0\nsource: x\nlisted: []\nfacts: {}\n")->kind,
            Document::Kind::snapshot);
  EXPECT_EQ(read("goldenv: 1\npins:\n  driver: 1.0\n")->kind, Document::Kind::manifest);
  for (const char* text : {"", "hello", "a: 1\n", "[1, 2]", "\x01\x02\x03", "{\"a\":"}) {
    const Result<Document> document = read(text);
    ASSERT_FALSE(document) << text;
    EXPECT_EQ(document.error().code, Errc::malformed) << text;
  }
}

TEST(ReadDocument, AnExtendedFileStandsBelowTheOneThatNamesIt) {
  const test::TempDir temp;
  temp.file("in/base.yaml", "goldenv: 1\npins:\n  driver: 1.0\n  nccl: 2.18.1\n");
  temp.file("outside.yaml", "goldenv: 1\npins:\n  driver: 1.0\n");
  const auto load = [&](std::string_view extends) {
    const std::string path =
        temp.file("in/top.yaml",
                  "goldenv: 1\nextends: [" + std::string(extends) + "]\npins:\n  driver: 2.0\n");
    return read_manifest({Source::Kind::file, path, path});
  };
  const auto merged = load("base.yaml");
  ASSERT_TRUE(merged) << merged.error().message;
  EXPECT_EQ(merged->pins.size(), 2u);
  EXPECT_EQ(facts::describe(merged->find({"driver", ""})->want), "2.0");
  for (const char* name : {"../outside.yaml", "/etc/passwd", "none.yaml", "top.yaml"}) {
    EXPECT_FALSE(load(name)) << name;
  }
}

TEST(SnapshotOf, OnlyExactPinsAreFacts) {
  const test::TempDir temp;
  const std::string path = temp.file(
      "m.yaml", "goldenv: 1\npins:\n  driver: 1.0\n  kernel: '>=5.5'\n  env.NCCL_ALGO: absent\n");
  const Result<facts::Snapshot> snapshot = look({Source::Kind::file, path, path}, {});
  ASSERT_TRUE(snapshot) << snapshot.error().message;
  EXPECT_TRUE(std::holds_alternative<facts::Value>(snapshot->read({"driver", ""}).reading));
  EXPECT_TRUE(std::holds_alternative<facts::Unknown>(snapshot->read({"kernel", ""}).reading));
  EXPECT_TRUE(std::holds_alternative<facts::Absent>(snapshot->read({"env.NCCL_ALGO", ""}).reading));
}

TEST(Look, AFileOfATreeThatCannotBeReadIsNamedWithTheSource) {
  const test::TempDir temp;
  temp.folder("tree/record.yaml");
  const Result<facts::Snapshot> snapshot = look(*parse("root:" + temp.at("tree")), {});
  ASSERT_FALSE(snapshot);
  EXPECT_TRUE(snapshot.error().message.starts_with("root:" + temp.at("tree") + ": /record.yaml"))
      << snapshot.error().message;
}

}  // namespace
}  // namespace goldenv::source
