#include "probe/python_names.h"

#include <gtest/gtest.h>

namespace goldenv::probe {
namespace {

using Form = DistributionName::Form;

TEST(PythonNames, SeriesOfFolders) {
  EXPECT_EQ(python_series("python3.11"), "3.11");
  EXPECT_EQ(python_series("python2.7"), "2.7");
  EXPECT_EQ(python_series("python3.13t"), "3.13t");
  for (const char* text : {"python", "python3", "python3.", "python3.11.7", "python.3", "python3.x",
                           "python33.1", "python3.1111", "Python3.11", "python3.11tt", ""}) {
    EXPECT_EQ(python_series(text), std::nullopt) << text;
  }
}

TEST(PythonNames, ReleasesAreThreeNumbersAndPerhapsAPreRelease) {
  EXPECT_TRUE(is_python_release("3.11.7"));
  EXPECT_TRUE(is_python_release("3.13.0rc2"));
  for (const char* text :
       {"", "3.11", "3.11.7+", "3.11.7.final", "3..7", "3.12.0~rc1", "v3.11.7"}) {
    EXPECT_FALSE(is_python_release(text)) << text;
  }
  EXPECT_EQ(leading_python_release("3.11.7.final.0"), "3.11.7");
  EXPECT_EQ(leading_python_release("3.11.2-6+deb12u5"), "3.11.2");
  EXPECT_EQ(leading_python_release("3.12.0~rc1-1"), "3.12.0rc1");
  EXPECT_EQ(leading_python_release("3.11"), "");
  EXPECT_EQ(leading_python_release("99999999999999999999.1.1"), "");
}

TEST(PythonNames, PatchlevelNamesTheRelease) {
  EXPECT_EQ(python_of_patchlevel("#define PY_VERSION      \t\"3.11.7\"\n"), "3.11.7");
  EXPECT_EQ(python_of_patchlevel("#define PY_MICRO_VERSION 2\n#define PY_VERSION \"3.9.2+\"\n"),
            "3.9.2");
  EXPECT_EQ(python_of_patchlevel("#define PY_VERSION \"3.9\n"), "");
  EXPECT_EQ(python_of_patchlevel("#define PY_VERSION_HEX 0x030b07f0\n"), "");
  EXPECT_EQ(python_of_patchlevel(""), "");
}

TEST(PythonNames, VenvConfigurationsOfThreeMakers) {
  const VenvConfig plain = parse_venv_config(
      "home = /usr/bin\ninclude-system-site-packages = false\nversion = 3.11.7\n"
      "executable = /usr/bin/python3.11\ncommand = /usr/bin/python3 -m venv /opt/venv\n");
  EXPECT_EQ(plain, (VenvConfig{"/usr/bin", "/usr/bin/python3.11", "3.11.7", false, ""}));
  const VenvConfig uv = parse_venv_config(
      "home = /root/.local/share/uv/python/cpython-3.12.1-linux-x86_64-gnu/bin\r\n"
      "implementation = CPython\r\nuv = 0.5.1\r\nversion_info = 3.12.1\r\n"
      "include-system-site-packages = TRUE\r\n");
  EXPECT_EQ(uv.version, "3.12.1");
  EXPECT_EQ(uv.maker, "uv 0.5.1");
  EXPECT_TRUE(uv.system_site);
  const VenvConfig virtualenv = parse_venv_config(
      "home = /usr/bin\nversion_info = 3.8.10.final.0\nvirtualenv = 20.24.1\n"
      "base-executable = /usr/bin/python3.8\n");
  EXPECT_EQ(virtualenv.version, "3.8.10");
  EXPECT_EQ(virtualenv.executable, "/usr/bin/python3.8");
  EXPECT_EQ(virtualenv.maker, "virtualenv 20.24.1");
  EXPECT_EQ(parse_venv_config("home\n=\n\0\xff"), VenvConfig{});
}

TEST(PythonNames, PackageNamesAfterPep503) {
  EXPECT_EQ(package_name("Flash_Attn"), "flash-attn");
  EXPECT_EQ(package_name("zope.interface"), "zope-interface");
  EXPECT_EQ(package_name("a-_.b"), "a-b");
  for (const char* text : {"", "-a", "a-", "_", "a b", "a\nb", "a/b", "..", "a@b", "\xc3\xa4"}) {
    EXPECT_EQ(package_name(text), std::nullopt) << text;
  }
  EXPECT_EQ(package_name(std::string(100'000, 'a')), std::nullopt);
}

TEST(PythonNames, DistInfoSaysNameAndVersion) {
  const auto nccl = parse_distribution_name("nvidia_nccl_cu12-2.18.1.dist-info");
  ASSERT_TRUE(nccl);
  EXPECT_EQ(*nccl, (DistributionName{Form::dist_info, "nvidia-nccl-cu12", "2.18.1", true}));
  const auto torch = parse_distribution_name("torch-2.1.2+cu121.dist-info");
  ASSERT_TRUE(torch);
  EXPECT_EQ(torch->version, "2.1.2+cu121");
  EXPECT_TRUE(torch->certain);
  EXPECT_EQ(parse_distribution_name("zope.interface-5.0.dist-info")->name, "zope-interface");
}

TEST(PythonNames, OddNamesNeedTheirMetadata) {
  // An underscore in a version stands for a character that was replaced.
  for (const char* entry :
       {"foo-1.0_local.dist-info", "foo-bar-1.0.dist-info", "foo.dist-info", "foo-.dist-info",
        "-1.0.dist-info", "foo-next.dist-info", "foo-1.0\n.dist-info", "f oo-1.0.dist-info",
        "foo-1.0.egg-info", "PyYAML-6.0-py3.11-linux-x86_64.egg-info"}) {
    const auto name = parse_distribution_name(entry);
    ASSERT_TRUE(name) << entry;
    EXPECT_FALSE(name->certain) << entry;
  }
  const auto egg = parse_distribution_name("PyYAML-6.0-py3.11-linux-x86_64.egg-info");
  EXPECT_EQ(*egg, (DistributionName{Form::egg_info, "pyyaml", "6.0", false}));
}

TEST(PythonNames, OtherEntriesAreNoDistributions) {
  for (const char* entry : {"torch", "torch.py", "~orch-2.1.0.dist-info", ".dist-info", "dist-info",
                            "foo-1.0.dist-info.bak", "", "foo-1.0.egg-link"}) {
    EXPECT_FALSE(parse_distribution_name(entry)) << entry;
  }
}

TEST(PythonNames, MetadataIsReadUpToItsFirstEmptyLine) {
  const CoreMetadata metadata = parse_core_metadata(
      "Metadata-Version: 2.1\r\nName: torch\r\nVersion: 2.1.2\r\nRequires-Dist: filelock\r\n"
      "Description: a\r\n        Name: not this\r\nrequires-dist: triton (==2.1.0) ; x\r\n\r\n"
      "Version: 9\r\nRequires-Dist: no\r\n");
  EXPECT_EQ(metadata.name, "torch");
  EXPECT_EQ(metadata.version, "2.1.2");
  EXPECT_EQ(metadata.requires_dist, (std::vector<std::string>{"filelock", "triton (==2.1.0) ; x"}));
  EXPECT_EQ(parse_core_metadata("").name, "");
  EXPECT_EQ(parse_core_metadata("\nName: late\n").name, "");
}

TEST(PythonNames, PinsOfTorchsMetadata) {
  const auto pin = [](const char* line, const char* machine = "x86_64") {
    return pinned_version(line, "nvidia-nccl", machine);
  };
  constexpr const char* kModern =
      "nvidia-nccl-cu12==2.19.3; platform_system == \"Linux\" and platform_machine == \"x86_64\"";
  EXPECT_EQ(pin(kModern), "2.19.3");
  EXPECT_EQ(pin(kModern, "aarch64"), std::nullopt);
  EXPECT_EQ(pin("nvidia-nccl-cu12 (==2.18.1) ; (platform_system == \"Linux\")"), "2.18.1");
  EXPECT_EQ(pin("nvidia-nccl-cu13==2.28.9"), "2.28.9");
  EXPECT_EQ(pin("nvidia_nccl_cu11 ==2.14.3"), "2.14.3");
  EXPECT_EQ(pin("nvidia-nccl==2.14.3"), "2.14.3");
  for (const char* line :
       {"nvidia-nccl-cu12>=2.19.3", "nvidia-nccl-cu12==2.19.*", "nvidia-nccl-cu12==2.19,>2",
        "nvidia-nccl-cu12==2.19.3; platform_system == \"Windows\"",
        "nvidia-nccl-cu12==2.19.3; extra == \"nccl\"",
        "nvidia-nccl-cu12==2.19.3; platform_system == \"Linux\" or python_version < \"3\"",
        "nvidia-nccl-cu12", "nvidia-nccl-cuda==2.1", "nvidia-nccl-cu==2.1", "",
        "nvidia-nccl-cu12===2.19.3", "nvidia-nccl-cu12[x]==2.19.3", ";;((("}) {
    EXPECT_EQ(pin(line), std::nullopt) << line;
  }
}

TEST(PythonNames, TorchVersionInBothForms) {
  const TorchVersion modern = parse_torch_version(
      "from typing import Optional\n\n__all__ = ['__version__', 'cuda']\n"
      "__version__ = '2.1.2+cu121'\ndebug = False\ncuda: Optional[str] = '12.1'\n"
      "git_version = 'a8e7c98cb95ff97bb30a728c6b2a1ce6bff946eb'\nhip: Optional[str] = None\n");
  ASSERT_TRUE(modern.version && modern.cuda && modern.git && modern.hip);
  EXPECT_EQ(modern.version->text, "2.1.2+cu121");
  EXPECT_EQ(modern.version->line, 4u);
  EXPECT_EQ(modern.cuda->text, "12.1");
  EXPECT_TRUE(modern.hip->none);
  const TorchVersion old = parse_torch_version(
      "__version__ = '1.8.1+rocm4.0.1'\r\ncuda = None\r\nhip = \"4.0.20496-4f163c68\"\r\n");
  EXPECT_EQ(old.version->text, "1.8.1+rocm4.0.1");
  EXPECT_TRUE(old.cuda->none);
  EXPECT_EQ(old.hip->text, "4.0.20496-4f163c68");
  EXPECT_FALSE(old.git);
}

TEST(PythonNames, TorchVersionThatIsCutOrCodeGivesNothing) {
  for (const char* text : {"", "__version__ = '2.1", "__version__ = get()\n", "__version__ =\n",
                           "  __version__ = '2.1'\n", "my__version__ = '2.1'\n",
                           "__version__ = '2.1' if x else '2.2'\n", "__version__ = ''\n"}) {
    EXPECT_FALSE(parse_torch_version(text).version) << text;
  }
}

TEST(PythonNames, CondaRecordsAreReadFromTheRight) {
  EXPECT_EQ(parse_conda_name("pytorch-2.1.2-py3.10_cuda12.1_cudnn8.9.2_0.json"),
            (CondaName{"pytorch", "2.1.2", "py3.10_cuda12.1_cudnn8.9.2_0"}));
  EXPECT_EQ(parse_conda_name("ca-certificates-2023.11.17-hbcca054_0.json"),
            (CondaName{"ca-certificates", "2023.11.17", "hbcca054_0"}));
  EXPECT_EQ(parse_conda_name("_libgcc_mutex-0.1-main.json")->name, "_libgcc_mutex");
  for (const char* name : {"history", "x.json", "a-b.json", "-1-2.json", "a--b.json", "a-1-.json",
                           "a-1-b.json.tmp", "a\n-1-b.json", "a@b-1-c.json"}) {
    EXPECT_FALSE(parse_conda_name(name)) << name;
  }
}

TEST(PythonNames, DirectUrlsWithoutTheirAddresses) {
  const std::string digest(64, 'a');
  EXPECT_EQ(parse_direct_url(R"({"archive_info": {"hash": "sha256=)" + digest +
                             R"("}, "url": "https://token@host/x.whl"})"),
            (DirectUrl{false, true, "", "", digest}));
  EXPECT_EQ(parse_direct_url(R"({"archive_info":{"hashes":{"sha256":")" + digest +
                             R"("}},"url":"file:///x"})")
                ->sha256,
            digest);
  EXPECT_EQ(parse_direct_url(R"({"url":"ssh://x","vcs_info":{"commit_id":"0a1b","vcs":"git",
                                "requested_revision":"main"}})"),
            (DirectUrl{false, false, "git", "0a1b", ""}));
  EXPECT_EQ(parse_direct_url(R"({"dir_info": {"editable": true}, "url": "file:///src"})"),
            (DirectUrl{true, false, "", "", ""}));
  EXPECT_EQ(parse_direct_url(R"({"dir_info": {}, "url": "file:///src"})"), DirectUrl{});
  // PEP 610: members of archive_info are optional.
  EXPECT_EQ(parse_direct_url(R"({"url":"https://h/baz.whl","archive_info":{}})"),
            (DirectUrl{false, true, "", "", ""}));
  EXPECT_EQ(parse_direct_url(R"({"url":"file:///x","dir_info":{"archive_info":{}}})"), DirectUrl{});
  // A key inside a text is none.
  EXPECT_EQ(parse_direct_url(R"({"url": "x\"vcs_info\": {\"vcs\": \"git\"}"})"), DirectUrl{});
}

TEST(PythonNames, DirectUrlsThatAreNoneAreRefused) {
  for (const std::string& text :
       {std::string(), std::string("{"), std::string("{\"a\": }"), std::string("{\"a\" 1}"),
        std::string("{} x"), std::string("{\"vcs_info\": {\"vcs\": \"git\\u001b[31m\"}}"),
        std::string("{\"vcs_info\": {\"commit_id\": \"a b\"}}"), std::string(100'000, '['),
        std::string("\"\\")}) {
    EXPECT_FALSE(parse_direct_url(text)) << text.substr(0, 40);
  }
}

}  // namespace
}  // namespace goldenv::probe
