#include "probe/redact.h"

#include <gtest/gtest.h>

#include <set>

#include "doc/node.h"
#include "facts/snapshot.h"
#include "facts/variable_names.h"
#include "facts/want.h"
#include "probe/scan.h"
#include "support/fake_host.h"

namespace goldenv::probe {
namespace {

using facts::is_listed_variable;
using facts::is_secret_name;
using test::FakeHost;

TEST(SecretNames, NamesOfSecretsAreKnown) {
  for (const std::string_view name : {"HF_TOKEN",
                                      "GITHUB_TOKEN",
                                      "GITHUBTOKEN",
                                      "AWS_SECRET_ACCESS_KEY",
                                      "AWS_ACCESS_KEY_ID",
                                      "WANDB_API_KEY",
                                      "SLURM_JWT",
                                      "PGPASSWORD",
                                      "MYSQL_PWD",
                                      "DB_PASS",
                                      "sshpass",
                                      "apiKey",
                                      "SecretToken",
                                      "rd.luks.key",
                                      "X-Amz-Signature",
                                      "X-Amz-Credential",
                                      "access_token",
                                      "SESSION_COOKIE",
                                      "PRIVATE_KEY",
                                      "OAUTH2",
                                      "basic-auth",
                                      "SESSION",
                                      "clientSecret",
                                      "NVIDIA_API_KEY",
                                      "HF_HUB_TOKEN",
                                      "passphrase",
                                      "Authorization",
                                      "AUTH_HEADER",
                                      "wpa_psk",
                                      "psk",
                                      "pw",
                                      "rootpw",
                                      "inst.rootpw",
                                      "BIND_PW",
                                      "wifi-passphrase",
                                      "creds"}) {
    EXPECT_TRUE(is_secret_name(name)) << name;
  }
}

TEST(SecretNames, SettingsThatOnlyLookSoAreNone) {
  for (const std::string_view name :
       {"NCCL_IB_PKEY", "NCCL_DEBUG", "UCX_IB_PKEY", "KMP_AFFINITY", "PYTHONHASHSEED",
        "iommu.passthrough", "vconsole.keymap", "usbcore.authorized_default", "NCCL_NET_BYPASS",
        "GOMP_CPU_AFFINITY", "TORCHINDUCTOR_AUTOTUNE_REMOTE_CACHE", "NVreg_RegistryDwords",
        "TEMPWORDS", "CUDA_TOPW_SIZE", "dm_verity.require_signatures", "kernel.keyring_quota",
        "TRITON_CACHE_DIR", "", "___"}) {
    EXPECT_FALSE(is_secret_name(name)) << name;
  }
}

TEST(ListedVariables, AreThoseOfTheTradeAndNoSecrets) {
  for (const std::string_view name :
       {"CUDA_VISIBLE_DEVICES", "NCCL_DEBUG", "NCCL_IB_PKEY", "PATH", "LD_LIBRARY_PATH",
        "OMP_NUM_THREADS", "PYTHONPATH", "SLURM_JOB_ID", "HF_HOME", "GLIBC_TUNABLES", "TMPDIR",
        "XLA_FLAGS", "MKL_NUM_THREADS"}) {
    EXPECT_TRUE(is_listed_variable(name)) << name;
  }
  for (const std::string_view name :
       {"HF_TOKEN", "SLURM_JWT", "NVIDIA_API_KEY", "HOME", "USER", "PATHS", "MY_CUDA_HOME",
        "AWS_REGION", "cuda_home", "", "SSH_AUTH_SOCK"}) {
    EXPECT_FALSE(is_listed_variable(name)) << name;
  }
}

struct Case {
  std::string_view text;
  std::string_view redacted;
};

TEST(Redact, SecretsGoAndTheRestStays) {
  for (const Case& c : std::initializer_list<Case>{
           {"https://user:hunter2@example.org/simple", "https://***@example.org/simple"},
           {"https://user:hun/ter2@example.org/simple", "https://***@example.org/simple"},
           {"git+ssh://git@example.org/a.git", "git+ssh://git@example.org/a.git"},
           {"git+ssh://git:pw1@example.org/a.git", "git+ssh://***@example.org/a.git"},
           {"git+https://ab12@example.org/a.git", "git+https://***@example.org/a.git"},
           {"https://u:p S@h/x y", "https://***@h/x y"},
           {"u=https%3A%2F%2Fu%3AS%40h%2Fx&y=1", "u=https%3A%2F%2F***%40h%2Fx&y=1"},
           {"https://u%3AS%40h/x", "https://***%40h/x"},
           {"run --password S --x 1", "run --password *** --x 1"},
           {"run --token \"a b\" c", "run --token \"***\" c"},
           {"--api-key\nS", "--api-key\n***"},
           {"PASSWORD\tS", "PASSWORD\t***"},
           {"passwd:S", "passwd:***"},
           {"a X-Auth-Token:S b", "a X-Auth-Token:*** b"},
           {"apikey:S", "apikey:***"},
           {"TOKEN:=S", "TOKEN:=***"},
           {"mysql -u me -pS db", "mysql -u me -p*** db"},
           {"/usr/bin/mysqldump -p'a b' db", "/usr/bin/mysqldump -p'***' db"},
           {"sshpass -p S ssh h", "sshpass -p *** ssh h"},
           {"sshpass -pS ssh h", "sshpass -p*** ssh h"},
           {"curl -u user:S h", "curl -u user:*** h"},
           {"curl --proxy-user me:S h", "curl --proxy-user me:*** h"},
           {"x pypi-AgEIcHlwaS5vcmcCJDU5 y", "x *** y"},
           {"http://proxy:3128/a@b", "http://proxy:3128/a@b"},
           {"https://example.org/a?x=1&token=abc&y=2", "https://example.org/a?x=1&token=***&y=2"},
           {"https://example.org/a?sv=1&sig=abc%3D", "https://example.org/a?sv=1&sig=***"},
           {"PerfLevelSrc=0x2222;ApiKey=s3cr3t;Other=1", "PerfLevelSrc=0x2222;ApiKey=***;Other=1"},
           {"password=ab;cd,ef", "password=***"},
           {"password = ab", "password = ***"},
           {R"({"token": "abc def", "a": 1})", R"({"token": "***", "a": 1})"},
           {"Authorization: Bearer abc.def", "Authorization: ***"},
           {"x Bearer abcdef y", "x Bearer *** y"},
           {"Basic dXNlcjpwYXNz", "Basic ***"},
           {"basic mode", "basic mode"},
           {"a -----BEGIN OPENSSH PRIVATE KEY-----\nb3Bl\n-----END OPENSSH PRIVATE KEY----- z",
            "a *** z"},
           {"-----BEGIN PRIVATE KEY-----\nb3Bl", "***"},
           {"/opt/key:/usr/lib", "/opt/key:/usr/lib"},
           {"535.129.03", "535.129.03"},
           {"Ubuntu 22.04.4 LTS", "Ubuntu 22.04.4 LTS"},
           {"max_split_size_mb:512,expandable_segments:True",
            "max_split_size_mb:512,expandable_segments:True"},
           {"Mitigation: Retpolines; IBPB: conditional",
            "Mitigation: Retpolines; IBPB: conditional"},
           {"disk-by-0123456789abcdefghij", "disk-by-0123456789abcdefghij"},
           {"pw=hunter2", "pw=***"},
           {"pw=x", "pw=***"},
           {"network={ssid=\"a\" psk=\"b c\"}", "network={ssid=\"a\" psk=\"***\"}"},
           {"wpa_passphrase: hunter2 x", "wpa_passphrase: *** x"},
           {"user:pw@host", "user:***@host"},
           {"a user:p@ss@db.example.org:5432/x b", "a user:***@db.example.org:5432/x b"},
           {"--dsn=scott:ti/ger@10.0.0.1", "--dsn=scott:***@10.0.0.1"},
           {"//u:hunter2@nas/share", "//u:***@nas/share"},
           {"{\"auth\": \"me:hunter2@[::1]\"}", "{\"auth\": \"***\"}"},
           {"x=1,me:hunter2@h,y=2", "x=1,me:***@h,y=2"},
           {"token=", "token="},
           {"", ""},
       }) {
    EXPECT_EQ(redact(c.text), c.redacted) << c.text;
  }
}

TEST(Redact, UsualValuesStayAsTheyAre) {
  for (const std::string_view text :
       {"docker run -u 1000:1000 x",
        "nvidia-smi -p 1",
        "mkdir -p /a/b",
        "mysql --port 3306",
        "run --token-file /run/token --key-path /x",
        "key=1",
        "evm.key=1",
        "session=gnome",
        "--session off",
        "https%3A%2F%2Fh%2Fx",
        "pypi-attestations-0.0.28",
        "tokenizers: 0.19.1",
        "ssh://git@example.org/a.git",
        "http://localhost:8080 mail me@example.org",
        "/opt/token:/opt/secret:/usr/lib",
        "docker.io/x:tag@sha256:0123456789abcdef",
        "alpine:3.18@sha256:0123456789abcdef",
        "localhost:5000/team/image:1.2@sha512:ab",
        "node7:29500",
        "127.0.0.1:8080",
        "[::1]:22",
        "localhost:8080/pkg@1.2",
        "git@github.com:org/repo.git",
        "git:envs@main:goldenv.yaml",
        "ssh:me@gpu17",
        "mailto:root@example.org",
        "/usr/local/cuda-12.1/lib64:/opt/spack/gcc@12.1/lib:/opt/x@y:z",
        "/usr/local/cuda/bin:/usr/bin:/bin",
        "10.10.0.1@tcp:10.10.0.2@o2ib:/scratch",
        "mgs1@o2ib:mgs2@o2ib:/fs",
        "server:/export@snap",
        "crashkernel=512M-2G:64M@16M,2G-:128M@16M",
        "memmap=64M@0x100000000",
        "video=HDMI-A-1:1920x1080@60",
        "netconsole=6665@10.0.0.2/eth0,6666@10.0.0.1/00:11:22:33:44:55",
        "pci=resource_alignment=20@0000:03:00.0;12@0000:04:00.0",
        "hdf5@1.10:1.12%gcc@9",
        "mlx5_0:1,mlx5_1:1",
        "ppr:2:socket:pe=4",
        "getty@tty1.service",
        "gpu:a100:8",
        "env.CUDA_VISIBLE_DEVICES@user-unit:jupyter",
        "nccl@/usr/lib/x86_64-linux-gnu/libnccl.so.2",
        "2024-01-02T03:04:05+00:00",
        "#101-Ubuntu SMP Tue Nov 14 13:30:08 UTC 2023",
        "535.129.03",
        "2.2.1+cu121",
        "1:8.2p1-4ubuntu0.11",
        "BOOT_IMAGE=(hd0,gpt2)/vmlinuz-6.1.0 root=UUID=1 ro intel_iommu=on,sm_on pci=realloc=off",
        "expandable_segments:True,max_split_size_mb:512",
        "file:///x/y.whl",
        "https://download.pytorch.org/whl/cu121"}) {
    EXPECT_EQ(redact(text), text);
  }
}

TEST(Redact, HostileTextsComeToAnEnd) {
  // Where a step looks over the whole text again the runner's time limit ends this.
  constexpr std::size_t kBytes = 64u << 10;
  for (const std::string_view piece :
       {"a:", ",a:b", "://a:b/", "a:b@9", "pw=a' ", "pw=\"a", "\"a\":", "a,b:c;", "=", "sk-",
        "--password ", "-u a:", "mysql -p", "%3A%2F%2Fa%40", "://a:b ", "--key \"", "token:"}) {
    std::string text;
    while (text.size() < kBytes) {
      text += piece;
    }
    text += "@9";
    EXPECT_GE(redact(text).size(), 3u) << piece;
  }
}

TEST(Redact, WellKnownTokensGoWhereverTheyStand) {
  const std::string filler = "0123456789abcdefghijABCDEFGHIJ0123456789";
  for (const std::string_view start :
       {"ghp_", "gho_", "ghs_", "github_pat_", "glpat-", "hf_", "sk-", "sk-proj-", "AIza", "npm_",
        "nvapi-", "xoxb-", "xoxp-", "xapp-", "dckr_pat_", "eyJ", "gsk_"}) {
    const std::string text = "before " + std::string(start) + filler + " after";
    EXPECT_EQ(redact(text), "before *** after") << text;
  }
  EXPECT_EQ(redact("id AKIAIOSFODNN7EXAMPLE,x"), "id ***,x");
  EXPECT_EQ(redact("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc-_1 x"), "*** x");
  EXPECT_EQ(redact("hf_short"), "hf_short");
}

TEST(Redact, IsStableUnderRepetition) {
  for (const std::string_view text :
       {"https://user:hunter2@example.org/?token=abc", "password=ab;cd", "Bearer abc",
        "ghp_0123456789abcdefghij", "curl -u user:S h", "mysql -pS", "--password S", "TOKEN:=S",
        "https%3A%2F%2Fu%3AS%40h", "https://u:p S@h", "passwd:S"}) {
    EXPECT_EQ(redact(redact(text)), redact(text));
  }
}

TEST(RedactCmdline, ASecretBeforeASecretsNameGoesToo) {
  EXPECT_EQ(redact_cmdline({"a\"b ghp_0123456789abcdef0123 token: x https://h/?sig=a&b"}),
            (std::vector<std::string>{"a\"b *** token: *** https://h/?sig=***"}));
}

TEST(RedactCmdline, ParametersKeepTheirPlaces) {
  EXPECT_EQ(
      redact_cmdline({"BOOT_IMAGE=/vmlinuz", "root=UUID=1", "iommu=pt", "rd.luks.key=/k:UUID=2",
                      "ks=http://u:p@h/ks.cfg", "systemd.setenv=A=b", "--token", "abc",
                      "netroot=iscsi:user:pass@10.0.0.1::3260:", "iommu.passthrough=1",
                      "netconsole=4444@10.0.0.1/eth1,9353@10.0.0.2/12:34:56:78:9a:bc",
                      "systemd.set_credential=x:y", "inst.sshpw=S", "snmp_community=S", "apikey:S",
                      "evm.key=1", "session=1", "quiet"}),
      (std::vector<std::string>{"BOOT_IMAGE=/vmlinuz", "root=UUID=1", "iommu=pt", "rd.luks.key=***",
                                "ks=http://***@h/ks.cfg", "systemd.setenv=A=***", "--token", "***",
                                "netroot=iscsi:***@10.0.0.1::3260:", "iommu.passthrough=1",
                                "netconsole=4444@10.0.0.1/eth1,9353@10.0.0.2/12:34:56:78:9a:bc",
                                "systemd.set_credential=***", "inst.sshpw=***",
                                "snmp_community=***", "apikey:***", "evm.key=1", "session=1",
                                "quiet"}));
}

// Eighty secrets where people really leave them; each holds a number that nothing else holds.
class Planted {
 public:
  explicit Planted(FakeHost& host) : host_(host) {}

  void plant() {
    for (const char* name : {"HF_TOKEN", "SLURM_JWT", "NVIDIA_API_KEY", "CUDA_SECRET", "NCCL_AUTH",
                             "TORCH_PASSWORD", "OMPI_MCA_PRIVATE_KEY", "UCX_COOKIE",
                             "WANDB_API_KEY", "AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN", "PGPASSWORD",
                             "MYSQL_PWD", "SESSION_ID_KEY", "OTHER_NAME", "DATABASE_URL"}) {
      host_.set(name, secret());
    }
    host_.set("NVIDIA_PROXY", "http://user:" + secret() + "@proxy:3128");
    host_.set("HF_ENDPOINT", "https://" + secret() + "@hub.example.org");
    host_.set("TORCH_HOME", "https://h/?access_token=" + secret() + "&x=1");
    host_.set("TRITON_CACHE", "s3://b/?X-Amz-Signature=" + secret());
    host_.set("CUDA_NOTE", "Bearer " + secret());
    host_.set("NCCL_NOTE", "ghp_aaaaaaaaaaaaaaaaaaaa" + secret());
    host_.set("OMP_NOTE", "sk-proj-aaaaaaaaaaaaaaaaaaaa-" + secret());
    host_.set("MKL_NOTE", "eyJhbGciOiJIUzI1NiJ9." + secret() + ".x");
    host_.set("KMP_NOTE", "hf_aaaaaaaaaaaaaaaaaaaaaaaa" + secret());
    host_.set("UCX_NOTE", "glpat-aaaaaaaaaaaaaaaa" + secret());
    host_.set("XLA_FLAGS", "--a=1 --api_key=" + secret() + " --b=2");
    host_.set("PATH", "/bin:/opt/token=" + secret() + "/bin");
    host_.set("PYTHONPATH", "https://u:" + secret() + "@h/x");
    host_.set("ACCELERATE_CONFIG", "{\"password\": \"" + secret() + "\"}");
    host_.set("TRANSFORMERS_NOTE",
              "-----BEGIN RSA PRIVATE KEY-----\n" + secret() + "\n-----END RSA");
    host_.set("SLURM_NOTE", "xoxb-1234567890-" + secret());
    host_.set("SLURM_JOB_NAME", "pw=" + secret());
    host_.set("SLURM_JOB_COMMENT", "run --dsn user:" + secret() + "@db.example.org --x");
    host_.set("OMPI_COMMAND", "train wpa_psk=" + secret() + " 1");
    host_.set("OMPI_NOTE", "psk: " + secret());
    host_.set("UCX_PROXY", "user:" + secret() + "@proxy:3128");
    host_.set("XLA_NOTE", "--rootpw=" + secret() + ",--x=1");
    host_.set("NCCL_CONF_FILE", "//u:" + secret() + "@nas/nccl.conf");
    host_.set("HF_HOME", "passphrase='" + secret() + " " + secret() + "'");

    std::string cmdline = "BOOT_IMAGE=/vmlinuz root=UUID=1 quiet";
    for (const char* start : {"rd.luks.key=",
                              "password=",
                              "ks=http://u:",
                              "inst.ks=https://u:p",
                              "rd.iscsi.password=",
                              "systemd.setenv=ANY=",
                              "systemd.setenv=HF_TOKEN=",
                              "systemd.set_credential=a:",
                              "cloud-config-url=http://h/?token=",
                              "ds=nocloud;s=http://u:",
                              "nbd.auth=",
                              "x.secret=\"",
                              "foo.api_key=",
                              "netroot=iscsi:u:",
                              "--token ",
                              "--password=",
                              "note=ghp_aaaaaaaaaaaaaaaaaaaa",
                              "cookie=",
                              "rootpw=",
                              "inst.rootpw=",
                              "wpa_psk=",
                              "pw=",
                              "psk=",
                              "proxy=u:"}) {
      const std::string open(start);
      cmdline += " " + open + secret();
      if (open.find("://u:") != std::string::npos || open.starts_with("netroot") ||
          open == "proxy=u:") {
        cmdline += "@host/x";
      } else if (open.ends_with('"')) {
        cmdline += " " + secret() + "\"";
      }
    }
    host_.file("/proc/cmdline", cmdline + "\n");

    host_.file("/proc/driver/nvidia/params",
               "EnableGpuFirmware: 18\nRegistryDwords: \"PerfLevelSrc=1;ApiKey=" + secret() +
                   ";X=1\"\nRmMsg: \"token=" + secret() +
                   "\"\nRegistryDwordsPerDevice: \"https://u:" + secret() + "@h\"\n");
    host_.file("/sys/module/nvidia_uvm/parameters/uvm_note", "Bearer " + secret() + "\n");
    host_.file("/sys/module/nvidia_drm/parameters/note",
               "AKIAIOSFODNN7EXAMPLE;key=" + secret() + "\n");
    host_.file("/proc/sys/net/ipv4/tcp_fastopen_key", secret() + "\n");
    host_.file("/proc/sys/net/ipv6/conf/all/stable_secret", secret() + "\n");
    host_.file("/proc/sys/kernel/core_pattern", "|/bin/send --password=" + secret() + " %p\n");
    host_.file("/proc/sys/kernel/domainname", "https://u:" + secret() + "@h\n");
    host_.file("/proc/sys/kernel/modprobe",
               "/sbin/modprobe Authorization: Bearer " + secret() + "\n");
    host_.file("/proc/sys/kernel/poweroff_cmd", "/bin/off api-key='" + secret() + "'\n");
    host_.file("/etc/tuned/active_profile", "throughput token=" + secret() + "\n");
    host_.file("/proc/self/mountinfo", "22 1 0:1 / / rw - cifs //u:" + secret() +
                                           "@h/x rw,username=u,password=" + secret() + "\n");
  }

  [[nodiscard]] const std::set<std::string>& all() const { return secrets_; }

 private:
  std::string secret() {
    std::string text = "Plant" + std::to_string(7000 + secrets_.size()) + "edX";
    secrets_.insert(text);
    return text;
  }
  FakeHost& host_;
  std::set<std::string> secrets_;
};

TEST(Redact, NoPlantedSecretReachesASnapshot) {
  FakeHost host;
  host.folder("/sys/module/nvidia").file("/sys/module/nvidia_uvm/initstate", "live\n");
  host.file("/sys/module/nvidia_drm/initstate", "live\n");
  Planted planted(host);
  planted.plant();
  ASSERT_GE(planted.all().size(), 80u);

  Request request =
      test::also({"env.OTHER_NAME", "env.HF_TOKEN", "sysctl.net.ipv4.tcp_fastopen_key"});
  request.all = true;
  const facts::Snapshot snapshot = look(host, request, "@test");
  const std::string text = doc::render_yaml(facts::to_node(snapshot));
  for (const std::string& secret : planted.all()) {
    const std::size_t at = text.find(secret);
    EXPECT_EQ(at, std::string::npos)
        << secret << " in: " << text.substr(at == std::string::npos || at < 80 ? 0 : at - 80, 160);
  }
  // What is not secret is all there.
  EXPECT_EQ(test::told(snapshot, "module.nvidia.param.RegistryDwords"),
            "PerfLevelSrc=1;ApiKey=***;X=1");
  EXPECT_EQ(test::told(snapshot, "env.XLA_FLAGS"), "--a=1 --api_key=*** --b=2");
  EXPECT_NE(text.find("sha256:"), std::string::npos);
}

facts::Fact fact_of(std::string_view key, facts::Value value) {
  return {facts::FactKey::parse(key), std::move(value), {}};
}

TEST(RedactSnapshot, WhatAFileSaysPassesTheSameGate) {
  facts::Snapshot snapshot = facts::make_snapshot(
      "a.yaml", {},
      {fact_of("env.AWS_SECRET", facts::Value::scalar("hunter2")),
       fact_of("env.HTTPS_PROXY", facts::Value::scalar("http://u:hunter2@h")),
       fact_of("env.HF_HOME", facts::Value::scalar("http://u:hunter2@h")),
       fact_of("env.PATH", facts::Value::list({"/bin", "--password hunter2"})),
       fact_of("kernel.cmdline", facts::Value::list({"quiet", "--token", "hunter2"})),
       fact_of("driver", facts::Value::scalar("535.129.03"))});
  redact(snapshot);
  EXPECT_EQ(doc::render_yaml(facts::to_node(snapshot)).find("hunter2"), std::string::npos);
  EXPECT_EQ(test::told(snapshot, "env.AWS_SECRET"),
            "sha256:f52fbd32b2b3b86ff88ef6c490628285f482af15ddcb29541f94bcf526a3f6c7");
  EXPECT_EQ(test::told(snapshot, "env.HF_HOME"), "http://***@h");
  EXPECT_EQ(test::told(snapshot, "driver"), "535.129.03");
  facts::Snapshot again = snapshot;
  redact(again);
  EXPECT_EQ(again.facts, snapshot.facts);
}

TEST(Redact, TwoHiddenSecretsAreNotTakenForTheSame) {
  const auto same = [](std::string_view key, std::string_view a, std::string_view b) {
    facts::Reading left = facts::Value::scalar(std::string(a));
    facts::Reading right = facts::Value::scalar(std::string(b));
    redact(left);
    redact(right);
    return facts::same(*facts::entry_of(std::string(key)), left, right);
  };
  EXPECT_EQ(same("env.NCCL_COMM_ID", "https://u:p1@h/x", "https://u:p2@h/x"), Truth::unknown);
  EXPECT_EQ(same("env.NCCL_COMM_ID", "https://u:p1@h/x", "https://u:p2@g/x"), Truth::no);
  EXPECT_EQ(same("env.NCCL_DEBUG", "token=a", "token=b"), Truth::unknown);
  EXPECT_EQ(same("env.NCCL_DEBUG", "INFO", "INFO"), Truth::yes);
  const facts::Entry& cmdline = *facts::entry_of("kernel.cmdline");
  const auto words = [](std::vector<std::string> of) {
    return facts::Reading(facts::Value::list(redact_cmdline(std::move(of))));
  };
  EXPECT_EQ(
      facts::same(cmdline, words({"quiet", "cloud.token=a"}), words({"quiet", "cloud.token=b"})),
      Truth::unknown);
  EXPECT_EQ(facts::same(cmdline, words({"quiet", "cloud.token=a"}), words({"cloud.token=b"})),
            Truth::no);
  // Words of identity take no part, hidden or not.
  EXPECT_EQ(
      facts::same(cmdline, words({"rd.luks.key=/a", "quiet"}), words({"rd.luks.key=/b", "quiet"})),
      Truth::yes);
  facts::Want want;
  want.value = facts::Value::scalar("token=***");
  const facts::Reading found = facts::Value::scalar("token=***");
  EXPECT_EQ(facts::meets(*facts::entry_of("env.NCCL_DEBUG"), want, found, facts::Absent{}),
            Truth::unknown);
}

}  // namespace
}  // namespace goldenv::probe
