#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "manifest/manifest.h"

namespace goldenv::manifest {
namespace {

Manifest read(std::string_view text) {
  auto manifest = load(text, "m.yaml", nullptr);
  EXPECT_TRUE(manifest) << (manifest ? "" : manifest.error().message) << "\n" << text;
  return manifest ? *std::move(manifest) : Manifest{};
}

TEST(ManifestRender, HasAFixedOrder) {
  const Manifest manifest = read(
      "files:\n  /b: absent\n"
      "  /a: {sha256: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08}\n"
      "pins:\n"
      "  torch: 2.2.1+cu121\n"
      "  sysctl.kernel.watchdog_thresh: 60\n"
      "  driver: 550.90.07\n"
      "  cuda: 12.10\n"
      "  nccl: [2.19.3, 2.20.5]\n"
      "  kernel: \">=5.5\"\n"
      "  env.CUDA_VISIBLE_DEVICES: absent\n"
      "  glibc: {why: slow, level: should, want: \"!=2.31\", when: cpu.vendor == AuthenticAMD}\n"
      "closed: {level: must, want: [python.package, env]}\n"
      "target_python: ~/venv\n"
      "name: train-a100\n"
      "goldenv: 1\n");
  EXPECT_EQ(
      render(manifest),
      "goldenv: 1\n"
      "name: train-a100\n"
      "target_python: ~/venv\n"
      "closed:\n"
      "  want: [env, python.package]\n"
      "  level: must\n"
      "pins:\n"
      "  kernel: \">=5.5\"\n"
      "  driver: 550.90.07\n"
      "  sysctl.kernel.watchdog_thresh: 60\n"
      "  glibc: {want: \"!=2.31\", level: should, when: cpu.vendor == AuthenticAMD, why: slow}\n"
      "  cuda: \"12.10\"\n"
      "  nccl: [2.19.3, 2.20.5]\n"
      "  torch: 2.2.1+cu121\n"
      "  env.CUDA_VISIBLE_DEVICES: absent\n"
      "files:\n"
      "  /a: {sha256: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08}\n"
      "  /b: absent\n");
  EXPECT_EQ(read(render(manifest)), manifest);
}

TEST(ManifestRender, AnArtifactComesBack) {
  const std::string digest(64, 'a');
  const Manifest manifest =
      read("goldenv: 1\npins:\n  torch: {want: 2.2.1, sha256: " + std::string(64, 'A') +
           ", artifact: torch-2.2.1-cp311-cp311-manylinux1_x86_64.whl}\n  nccl: {want: 2.19.3, "
           "sha256: " +
           digest + "}\n");
  const Pin& torch = *manifest.find({"torch", {}});
  EXPECT_EQ(torch.artifact, "torch-2.2.1-cp311-cp311-manylinux1_x86_64.whl");
  EXPECT_EQ(torch.sha256, digest);
  const std::string text = render(manifest);
  EXPECT_NE(text.find("artifact: torch-2.2.1"), std::string::npos) << text;
  EXPECT_EQ(read(text), manifest);
  Manifest other = manifest;
  other.pins.front().sha256.clear();
  EXPECT_NE(other, manifest);
}

TEST(ManifestRender, EverythingComesBack) {
  for (const char* pins :
       {"driver: 12.10",
        "driver: \"12.10\"",
        "kernel: \">=5.5,<6\"",
        "cuda: 12.1.*",
        "torch: ~=2.1",
        "torch: ==2.1",
        "nccl: [2.19.3, absent, \">=2.20\"]",
        "env.NCCL_DEBUG: ==absent",
        "env.NCCL_DEBUG: ==any",
        "env.NCCL_DEBUG: \"== x\"",
        "env.NCCL_DEBUG: \"null\"",
        "env.NCCL_DEBUG: \"yes\"",
        "env.NCCL_DEBUG: \"\"",
        "env.NCCL_DEBUG: \"a\\nb\\x1b\\u202e\"",
        "env.NCCL_DEBUG: \"0x10\"",
        "env.NCCL_DEBUG: [a, \"b, c\"]",
        "env.NCCL_DEBUG: \"!=x\"",
        "env.PATH: /bin:/usr/bin",
        "kernel.cmdline: [quiet, iommu=pt, quiet]",
        "kernel.cmdline: quiet iommu=pt",
        "kernel.taint: [P, O]",
        "cpu.flags: []",
        "nccl.copies: {2.19.3: 1, 2.20.5: 2}",
        "nccl.copies: {want: {want: 1}}",
        "torch.copies: {level: 2}",
        "gpu.vbios: {92.00.45.00.03: 7}",
        "gpu.vbios@3: 92.00.45.00.03",
        "bios.secure_boot: yes",
        "gpu.count: 8",
        "gpu.count: \">=8\"",
        "gpu.count: [4, 8]",
        "shm.size: 64GiB",
        "shm.size: \">=64GiB,<1TiB\"",
        "file@/x: [absent]",
        "file@/x: {want: absent, when: \"driver == absent or cuda >= 12\", why: \"a: b # c\"}",
        "env.CUDA_VISIBLE_DEVICES@user-unit:jupyter: \"0,1,2,3\"",
        "host.name: {want: x, level: info}",
        "cpu.vendor: \"!=AuthenticAMD\""}) {
    const Manifest manifest = read("goldenv: 1\npins:\n  " + std::string(pins) + "\n");
    ASSERT_EQ(manifest.pins.size(), 1U) << pins;
    const std::string text = render(manifest);
    EXPECT_EQ(read(text), manifest) << text;
    EXPECT_EQ(render(read(text)), text);
  }
}

TEST(ManifestRender, AnEmptyManifestIsOne) {
  EXPECT_EQ(render(Manifest{}), "goldenv: 1\npins: {}\n");
  EXPECT_EQ(read(render(Manifest{})), Manifest{});
}

TEST(ManifestRender, OddFilesStayPins) {
  const Manifest manifest = read(
      "goldenv: 1\npins:\n"
      "  file@/y: {want: [absent], level: info}\nfiles:\n  /z: {sha256: absent, level: should}\n");
  EXPECT_EQ(render(manifest),
            "goldenv: 1\n"
            "pins:\n"
            "  file@/y: {want: [absent], level: info}\n"
            "files:\n"
            "  /z: {sha256: absent, level: should}\n");
  EXPECT_EQ(read(render(manifest)), manifest);
}

}  // namespace
}  // namespace goldenv::manifest
