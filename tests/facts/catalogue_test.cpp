#include "facts/catalogue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>

#include "base/text.h"
#include "doc/node.h"
#include "facts/sysctl_names.h"

namespace goldenv::facts {
namespace {

using ::testing::HasSubstr;

std::string file_text(const std::string& path) {
  std::ifstream in(std::string(GOLDENV_SOURCE_DIR) + "/" + path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::string canonical(std::string_view written) {
  auto key = resolve(written);
  if (!key) {
    return "error: " + key.error().message;
  }
  return key->label.empty() ? key->name : key->name + "@" + key->label;
}

std::string refusal(std::string_view written) {
  auto key = resolve(written);
  return key ? "no error: " + key->name : key.error().message;
}

std::string joined(const doc::Node* node, std::string_view separator) {
  std::string text;
  if (node != nullptr) {
    for (const doc::Node& item : node->items) {
      text += (text.empty() ? "" : std::string(separator)) + item.text;
    }
  }
  return text;
}

/// One entry of docs/facts.yaml as field -> text, with what holds where a field is left out.
std::map<std::string, std::string> documented(const doc::Node& node) {
  const auto text = [&node](std::string_view field, const std::string& otherwise) {
    const doc::Node* value = node.find(field);
    return value == nullptr ? otherwise : value->text;
  };
  std::map<std::string, std::string> fields;
  for (const auto* field :
       {"key", "layer", "unit", "needs", "compare", "label", "with", "view", "meaning"}) {
    fields[field] = text(field, "");
  }
  fields["also"] = joined(node.find("also"), " ");
  fields["type"] = text("type", "text");
  fields["values"] = joined(node.find("values"), "|");
  fields["scope"] = text("scope", "host");
  fields["class"] = text("class", "golden");
  fields["level"] = text("level", fields["class"] == "golden" ? "info" : "omit");
  fields["many"] = text("many", "one");
  fields["identity_names"] = joined(node.find("identity_names"), " ");
  fields["volatile_names"] = joined(node.find("volatile_names"), " ");
  if (const doc::Node* names = node.find("with_names")) {
    for (const doc::Node::Entry& entry : names->entries) {
      fields["with_names"] += entry.key + "=" + entry.value.text + " ";
    }
  } else {
    fields["with_names"] = "";
  }
  return fields;
}

std::map<std::string, std::string> built_in(const Entry& entry) {
  std::map<std::string, std::string> fields{
      {"key", std::string(entry.key)},
      {"also", std::string(entry.also)},
      {"layer", std::string(name(entry.layer))},
      {"type", std::string(name(entry.type))},
      {"values", std::string(entry.values)},
      {"unit", std::string(entry.unit)},
      {"scope", std::string(name(entry.scope))},
      {"class", std::string(name(entry.klass))},
      {"needs", std::string(entry.needs)},
      {"level", std::string(name(entry.level))},
      {"compare", std::string(entry.compare)},
      {"many", std::string(name(entry.many))},
      {"label", std::string(entry.label)},
      {"with", std::string(entry.with)},
      {"with_names", ""},
      {"identity_names", std::string(entry.identity_names)},
      {"volatile_names", std::string(entry.volatile_names)},
      {"view", std::string(entry.view)},
      {"meaning", std::string(entry.meaning)},
  };
  if (entry.type == Type::version) {
    fields["type"] += ":" + std::string(version::name(entry.scheme));
  }
  for (const Companion& companion : entry.with_names) {
    fields["with_names"] +=
        std::string(companion.pattern) + "=" + std::string(companion.headline) + " ";
  }
  return fields;
}

TEST(Catalogue, TableAndDocumentAreEqual) {
  auto document = doc::parse(file_text("docs/facts.yaml"), doc::Format::yaml, "docs/facts.yaml");
  ASSERT_TRUE(document) << document.error().message;
  const doc::Node* facts = document->find("facts");
  ASSERT_NE(facts, nullptr);
  ASSERT_EQ(facts->items.size(), catalogue().size());
  const std::set<std::string> known = {
      "key",   "also",    "layer",   "type",           "values",        "unit", "scope",
      "class", "needs",   "level",   "many",           "label",         "with", "with_names",
      "view",  "compare", "meaning", "identity_names", "volatile_names"};
  for (std::size_t i = 0; i < catalogue().size(); ++i) {
    EXPECT_EQ(documented(facts->items[i]), built_in(catalogue()[i]));
    for (const doc::Node::Entry& field : facts->items[i].entries) {
      EXPECT_TRUE(known.contains(field.key)) << field.key << " is a field the table lacks";
    }
  }
}

TEST(Catalogue, DocumentListsLayersAndSchemesInTheirOrder) {
  auto document = doc::parse(file_text("docs/facts.yaml"), doc::Format::yaml, "docs/facts.yaml");
  ASSERT_TRUE(document);
  const doc::Node* layers = document->find("layers");
  ASSERT_NE(layers, nullptr);
  ASSERT_EQ(layers->items.size(), static_cast<std::size_t>(Layer::events) + 1);
  for (std::size_t i = 0; i < layers->items.size(); ++i) {
    EXPECT_EQ(layers->items[i].text, name(static_cast<Layer>(i)));
  }
  for (const doc::Node::Entry& scheme : document->find("schemes")->entries) {
    EXPECT_TRUE(version::parse_scheme(scheme.key)) << scheme.key;
  }
}

TEST(Catalogue, EveryEntryIsSoundInItself) {
  std::set<std::string_view> keys;
  for (const Entry& entry : catalogue()) {
    EXPECT_TRUE(keys.insert(entry.key).second) << entry.key << " stands twice";
    EXPECT_EQ(entry.type == Type::choice, !entry.values.empty()) << entry.key;
    EXPECT_EQ(entry.many == Many::one, entry.label.empty()) << entry.key;
    if (entry.klass != Class::golden) {
      EXPECT_EQ(entry.level, Level::omit) << entry.key;
    }
    if (!entry.with.empty()) {
      EXPECT_NE(entry_of(entry.with), nullptr) << entry.key << " moves with " << entry.with;
    }
    for (const Companion& companion : entry.with_names) {
      EXPECT_NE(entry_of(companion.headline), nullptr) << companion.headline;
    }
    if (!entry.view.empty()) {
      EXPECT_NE(entry_of(entry.view), nullptr) << entry.view;
    }
  }
}

TEST(Catalogue, EveryKeyIsFoundUnderItsOwnName) {
  for (const Entry& entry : catalogue()) {
    std::string sample(entry.key);
    for (std::size_t open = sample.find('<'); open != std::string::npos; open = sample.find('<')) {
      sample.replace(open, sample.find('>') - open + 1, "x1");
    }
    EXPECT_EQ(entry_of(sample), &entry) << sample;
  }
}

TEST(Catalogue, NamesThatAreNoKeysHaveNoEntry) {
  for (const char* name :
       {"", ".", "driver.", ".driver", "env.", "env", "sysctl", "sysctl.", "module.nvidia",
        "module..loaded", "module.a.b.loaded", "python.package.", "limits.memlock.soft",
        "python.package.a.b", "Driver", "<x>", "module.nvidia.param.", "gpu.0.name"}) {
    EXPECT_EQ(entry_of(name), nullptr) << name;
  }
}

TEST(Catalogue, OnlyALastPlaceholderHoldsDots) {
  const auto key_of = [](std::string_view name) {
    const Entry* entry = entry_of(name);
    return entry == nullptr ? std::string("none") : std::string(entry->key);
  };
  EXPECT_EQ(key_of("sysctl.net.ipv4.conf.eth0/100.mtu"), "sysctl.<name>");
  EXPECT_EQ(key_of("library.path.libnccl.so.2"), "library.path.<soname>");
  EXPECT_EQ(key_of("conda.package.ruamel.yaml"), "conda.package.<name>");
  EXPECT_EQ(key_of("dpkg.package.libpython3.11-minimal:amd64"), "dpkg.package.<name>");
  EXPECT_EQ(key_of("module.nvidia.param.EnableGpuFirmware"), "module.<module>.param.<Parameter>");
  EXPECT_EQ(key_of("module.nvidia.on_disk"), "module.<module>.on_disk");
  EXPECT_EQ(key_of("module.nvidia.on_disk.srcversion"), "module.<module>.on_disk.srcversion");
  EXPECT_EQ(key_of("module.list"), "module.list");
  EXPECT_EQ(key_of("service.docker.enabled"), "service.<name>.enabled");
  EXPECT_EQ(key_of("python.package.numpy.origin"), "python.package.<name>.origin");
  EXPECT_EQ(key_of("limits.memlock.hard"), "limits.<resource>.hard");
  EXPECT_EQ(key_of("leftover.pymp.bytes"), "leftover.<kind>.bytes");
  EXPECT_EQ(key_of("device_node.char_links"), "device_node.char_links");
  EXPECT_EQ(key_of("device_node.nvidia-caps/nvidia-cap1"), "device_node.<name>");
  EXPECT_EQ(key_of("kernel.cmdline.nvidia-drm.modeset"), "kernel.cmdline.<parameter>");
}

TEST(Catalogue, ClassMayBeThatOfAMember) {
  const auto class_name = [](std::string_view key) {
    return std::string(name(class_of(*entry_of(key), key)));
  };
  EXPECT_EQ(class_name("env.PATH"), "identity");
  EXPECT_EQ(class_name("env.PATHS"), "golden");
  EXPECT_EQ(class_name("env.SLURM_JOB_ID"), "volatile");
  EXPECT_EQ(class_name("env.NCCL_DEBUG"), "golden");
  EXPECT_EQ(class_name("sysctl.kernel.random.boot_id"), "volatile");
  EXPECT_EQ(class_name("sysctl.kernel.randomize_va_space"), "golden");
  EXPECT_EQ(class_name("gpu.uuid"), "identity");
  EXPECT_EQ(class_name("gpu.temperature"), "volatile");
}

TEST(Catalogue, HeadlinesAreFilledIn) {
  const auto headline = [](std::string_view key) { return headline_of(*entry_of(key), key); };
  EXPECT_EQ(headline("driver.nvml"), "driver");
  EXPECT_EQ(headline("driver"), "");
  EXPECT_EQ(headline("module.nvidia_uvm.loaded"), "driver");
  EXPECT_EQ(headline("module.mlx5_core.loaded"), "");
  EXPECT_EQ(headline("module.nvidia_uvm.loaded.srcversion"), "module.nvidia_uvm.loaded");
  EXPECT_EQ(headline("next_boot.module.nvidia.param.X"), "module.nvidia.param.X");
  EXPECT_EQ(headline("next_boot.sysctl.vm.swappiness"), "sysctl.vm.swappiness");
  EXPECT_EQ(headline("python.package.nvidia-nccl-cu12"), "nccl");
  EXPECT_EQ(headline("python.package.numpy"), "");
  EXPECT_EQ(headline("python.package.numpy.digest"), "python.package.numpy");
  EXPECT_EQ(headline("dpkg.package.libnvidia-compute-535"), "driver");
  EXPECT_EQ(headline("dkms.nvidia"), "driver");
  EXPECT_EQ(headline("dkms.mlnx-ofed-kernel"), "");
}

TEST(Catalogue, FamiliesAreBelowADot) {
  EXPECT_TRUE(in_family("env.X", "env"));
  EXPECT_TRUE(in_family("python.package.numpy", "python.package"));
  EXPECT_FALSE(in_family("env", "env"));
  EXPECT_FALSE(in_family("env.", "env"));
  EXPECT_FALSE(in_family("environment.X", "env"));
}

TEST(Catalogue, LevelsParseBack) {
  for (const Level level : {Level::must, Level::should, Level::info, Level::omit}) {
    auto parsed = parse_level(name(level));
    ASSERT_TRUE(parsed);
    EXPECT_EQ(*parsed, level);
  }
  EXPECT_FALSE(parse_level("Must"));
  EXPECT_FALSE(parse_level(""));
}

TEST(Catalogue, MarkdownIsDocumented) {
  const std::string text = catalogue_markdown();
  if (const char* accept = std::getenv("GOLDENV_ACCEPT"); accept != nullptr && *accept == '1') {
    std::ofstream(std::string(GOLDENV_SOURCE_DIR) + "/docs/FACTS.md", std::ios::binary) << text;
    GTEST_SKIP() << "docs/FACTS.md rewritten";
  }
  EXPECT_EQ(file_text("docs/FACTS.md"), text) << "GOLDENV_ACCEPT=1 rewrites it";
}

TEST(Catalogue, MarkdownTellsEveryKeyOnce) {
  const std::string text = catalogue_markdown();
  for (const Entry& entry : catalogue()) {
    const std::string row = "\n| `" + std::string(entry.key) + "` | ";
    const std::size_t at = text.find(row);
    ASSERT_NE(at, std::string::npos) << entry.key;
    EXPECT_EQ(text.find(row, at + 1), std::string::npos) << entry.key;
  }
}

TEST(WrittenKeys, AreReadInTheirOtherSpellings) {
  const std::map<std::string, std::string> spellings = {
      {"driver", "driver"},
      {"driver.version", "driver"},
      {"conda.package.a.version.version", "conda.package.a"},
      {"os", "os.name"},
      {"os.version", "os.release"},
      {"bios.version", "bios"},
      {"arch", "cpu.arch"},
      {"cmdline", "kernel.cmdline"},
      {"cmdline.iommu", "kernel.cmdline.iommu"},
      {"next_boot.cmdline", "next_boot.kernel.cmdline"},
      {"kernel.release", "kernel"},
      {"kernel.version", "kernel"},
      {"driver.kind", "driver.flavor"},
      {"libcuda", "driver.libcuda"},
      {"libcuda.path", "driver.libcuda.path"},
      {"libcuda.version", "driver.libcuda"},
      {"gsp.enabled", "driver.gsp.enabled"},
      {"openmp", "openmp.runtime"},
      {"openmp.copies", "openmp.copies"},
      {"ulimit.memlock", "limits.memlock"},
      {"ulimit.memlock.hard", "limits.memlock.hard"},
      {"python.package.torch", "torch"},
      {"pip.torch", "torch"},
      {"pip.Torch.version", "torch"},
      {"python.package.torch.origin", "python.package.torch.origin"},
      {"python.package.Zope.Interface", "python.package.zope-interface"},
      {"python.package.ruamel_yaml.clib.version", "python.package.ruamel-yaml-clib"},
      {"python.package.zope.interface.origin", "python.package.zope-interface.origin"},
      {"pip.Flash__Attn", "python.package.flash-attn"},
      {"pip.numpy.digest", "python.package.numpy.digest"},
      {"module.nvidia-uvm.loaded", "module.nvidia_uvm.loaded"},
      {"module.nvidia-uvm.loaded.version", "module.nvidia_uvm.loaded"},
      {"module.nvidia-drm.param.modeset", "module.nvidia_drm.param.modeset"},
      {"next_boot.module.nvidia-uvm.loaded", "next_boot.module.nvidia_uvm.loaded"},
      {"module.nvidia.param.NVreg_EnableGpuFirmware", "module.nvidia.param.EnableGpuFirmware"},
      {"module.other.param.NVreg_X", "module.other.param.NVreg_X"},
      {"module.nvidia.on_disk@6.1.0-47-amd64", "module.nvidia.on_disk@6.1.0-47-amd64"},
      {"kernel.config.CONFIG_HMM_MIRROR", "kernel.config.HMM_MIRROR"},
      {"kernel.config.HMM_MIRROR", "kernel.config.HMM_MIRROR"},
      {"sysctl.kernel/watchdog_thresh", "sysctl.kernel.watchdog_thresh"},
      {"sysctl.net/ipv4/conf/eth0.100/mtu", "sysctl.net.ipv4.conf.eth0/100.mtu"},
      {"sysctl.kernel.version", "sysctl.kernel.version"},
      {"dkms.nvidia-current.version", "dkms.nvidia-current"},
      {"gpu.vbios@3", "gpu.vbios@3"},
      {"nccl@/usr/lib/x86_64-linux-gnu/libnccl.so.2",
       "nccl@/usr/lib/x86_64-linux-gnu/libnccl.so.2"},
      {"env.CUDA_VISIBLE_DEVICES@user-unit:jupyter@home",
       "env.CUDA_VISIBLE_DEVICES@user-unit:jupyter@home"},
      {"nccl.version@/a b.so", "nccl@/a b.so"},
      {"file@/data/train.idx", "file@/data/train.idx"},
  };
  for (const auto& [written, key] : spellings) {
    EXPECT_EQ(canonical(written), key) << written;
    EXPECT_EQ(canonical(key), key) << "canonical spellings stand";
  }
}

TEST(WrittenKeys, EveryAliasLeadsToItsKey) {
  for (const Entry& entry : catalogue()) {
    for (const std::string_view also : words(entry.also)) {
      const std::string alias(also.substr(0, also.find('<')));
      const bool family = also.find('<') != std::string_view::npos;
      auto key = resolve(family ? alias + "memlock" : alias);
      ASSERT_TRUE(key) << also;
      EXPECT_EQ(key->entry, &entry) << also;
    }
  }
}

TEST(WrittenKeys, SayTheirMember) {
  EXPECT_EQ(resolve("env.NCCL_DEBUG")->member, "NCCL_DEBUG");
  EXPECT_EQ(resolve("module.nvidia.param.X")->member, "X");
  EXPECT_EQ(resolve("module.nvidia-uvm.on_disk")->member, "nvidia_uvm");
  EXPECT_EQ(resolve("python.package.NumPy.origin")->member, "numpy");
  EXPECT_EQ(resolve("driver")->member, "");
  EXPECT_EQ(resolve("torch")->member, "");
}

TEST(WrittenKeys, UnknownOnesAreRefusedWithTheNearest) {
  const std::map<std::string, std::string> hints = {
      {"drivr", "driver"},
      {"Driver", "driver"},
      {"cuda.tolkit.link", "cuda.toolkit.link"},
      {"gpu_vbios", "gpu.vbios"},
      {"vbios", "gpu.vbios"},
      {"governor", "cpu.governor"},
      {"module.nvidia.laoded", "module.nvidia.loaded"},
      {"module.nvidia", "module.nvidia.loaded"},
      {"python.packge.numpy", "python.package.numpy"},
      {"transformers", "python.package.transformers"},
      {"flash_attn", "python.package.flash-attn"},
      {"kernel.watchdog_thresh", "sysctl.kernel.watchdog_thresh"},
      {"CUDA_VISIBLE_DEVICES", "env.CUDA_VISIBLE_DEVICES"},
      {"limits.memlok", "limits.memlock"},
      {"limits.nofiles.hard", "limits.nofile.hard"},
      {"gpu", "gpu.count"},
      {"nccl.orign@/x", "nccl.origin"},
      {"gpu.vbois@0", "gpu.vbios@0"},
      {"drivr@0", "driver"},
      {"gpu@", "gpu.name"},
      {"gpu@0", "gpu.name@0"},
      {"nvc", "cuda.toolkit.nvcc"},
      {"envv", "env.<NAME>"},
  };
  for (const auto& [written, key] : hints) {
    EXPECT_EQ(refusal(written), "unknown key \"" + written + "\"; did you mean " + key + "?");
  }
  EXPECT_EQ(refusal("quite_something_else"),
            "unknown key \"quite_something_else\"; expected a key that goldenv scan --list shows");
  EXPECT_EQ(refusal("1"), "unknown key \"1\"; expected a key that goldenv scan --list shows");
  EXPECT_EQ(refusal("env."), "unknown key \"env.\"; expected env.<NAME> with a name filled in");
  EXPECT_EQ(refusal("env.<NAME>"),
            "unknown key \"env.<NAME>\": what stands in <> is to be filled in");
  EXPECT_EQ(refusal("env.NCCL_*"),
            "unknown key \"env.NCCL_*\": one key is meant, * and ? make a pattern");
  EXPECT_EQ(
      refusal("limits.pencils"),
      "unknown key \"limits.pencils\"; expected behind limits. one of as, core, cpu, data, fsize, "
      "locks, memlock, msgqueue, nice, nofile, nproc, rss, rtprio, rttime, sigpending, stack");
}

TEST(WrittenKeys, AnIndexInMidKeyGetsTheHintWithAt) {
  EXPECT_THAT(refusal("gpu.0.name"), HasSubstr("did you mean gpu.name@0? (which"));
  EXPECT_THAT(refusal("gpu[0].name"), HasSubstr("did you mean gpu.name@0? (which"));
  EXPECT_THAT(refusal("gpu.vbios[3]"), HasSubstr("did you mean gpu.vbios@3? (which"));
  EXPECT_THAT(refusal("rdma.mlx5_0.rate"), HasSubstr("did you mean rdma.rate@mlx5_0? (which"));
  EXPECT_THAT(refusal("gpu.name[]"), HasSubstr("unknown key"));
}

TEST(WrittenKeys, LabelsMustFitTheKey) {
  EXPECT_THAT(refusal("kernel@x"), HasSubstr("kernel has no instances; write it without @"));
  EXPECT_THAT(refusal("file"), HasSubstr("says not which path; write file@/PATH"));
  EXPECT_THAT(refusal("gpu.name@"), HasSubstr("behind @ must stand printable text"));
  EXPECT_THAT(refusal("gpu.name@a\nb"), HasSubstr("behind @ must stand printable text"));
  EXPECT_THAT(refusal("@x"), HasSubstr("no key before @"));
  EXPECT_EQ(refusal("file@x"), "the path \"x\" is not absolute; expected /... or ~/...");
  EXPECT_EQ(refusal("file@/etc/../x"),
            "the path \"/etc/../x\" holds ..; expected the path that it leads to");
  EXPECT_THAT(refusal("filesystem@x/y"), HasSubstr("is not absolute"));
  EXPECT_TRUE(resolve("file@~/..x/y.."));
  EXPECT_THAT(refusal("nccl@" + std::string(5000, 'x')), HasSubstr("at most 4096"));
}

TEST(WrittenKeys, InstancesAreBytes) {
  const auto key = resolve("file@/data/caf\xE9");
  ASSERT_TRUE(key);
  EXPECT_EQ(key->label, "/data/caf\xE9");
}

TEST(WrittenKeys, ASysctlNamesAFile) {
  for (const char* key : {"sysctl.x..y", "sysctl..x", "sysctl.kernel.", "sysctl.kernel.//.etc",
                          "sysctl.kernel/../x", "next_boot.sysctl.kernel..x"}) {
    EXPECT_THAT(refusal(key), HasSubstr("can name no file below /proc/sys")) << key;
  }
  EXPECT_TRUE(resolve("sysctl.net.ipv4.conf.eth0/100.mtu"));
}

TEST(WrittenKeys, JunkIsRefusedAndDoesNotHang) {
  for (const std::string& junk :
       {std::string(), std::string("driver "), std::string(" driver"), std::string("a\0b", 3),
        std::string("\xff\xfe"), std::string("env.\xc3"), std::string("sysctl."),
        std::string("..."), std::string(512, '.'), std::string(512, 'a'), std::string(1 << 20, 'x'),
        std::string("next_boot."), std::string(".version"), std::string("python.package..."),
        std::string("module.-.loaded.version.version"), std::string("[[[[]]]]"),
        std::string("cmdline.")}) {
    auto key = resolve(junk);
    if (key) {
      EXPECT_EQ(entry_of(key->name), key->entry) << key->name;
    } else {
      EXPECT_EQ(key.error().code, Errc::malformed);
      EXPECT_LT(key.error().message.size(), 4096u);
    }
  }
}

TEST(Sysctls, RealNamesAreTakenAndSlipsRefused) {
  EXPECT_EQ(refusal("sysctl.kernel.watchdog_tresh"),
            "unknown key \"sysctl.kernel.watchdog_tresh\"; did you mean "
            "sysctl.kernel.watchdog_thresh?");
  EXPECT_EQ(refusal("next_boot.sysctl.vm.swapiness"),
            "unknown key \"next_boot.sysctl.vm.swapiness\"; did you mean "
            "next_boot.sysctl.vm.swappiness?");
  EXPECT_THAT(refusal("sysctl.kernel.numa_balanicng"), HasSubstr("sysctl.kernel.numa_balancing?"));
  EXPECT_THAT(refusal("sysctl.net.ipv4.conf.eth0/100.forwardng"),
              HasSubstr("sysctl.net.ipv4.conf.eth0/100.forwarding?"));
  for (const char* real :
       {"net.core.rmem_max", "net.core.wmem_max", "vm.dirty_ratio", "vm.dirty_bytes",
        "kernel.watchdog", "net.ipv4.tcp_sack", "net.ipv4.tcp_dsack",
        "net.ipv4.conf.eth0.rp_filter", "net.ipv4.neigh.default.gc_thresh3",
        "kernel.sched_latency_ns", "sunrpc.nfsd_debug"}) {
    EXPECT_TRUE(is_known_sysctl(real)) << real;
    EXPECT_EQ(canonical("sysctl." + std::string(real)), "sysctl." + std::string(real));
  }
}

TEST(Sysctls, UnknownNamesThatAreNoSlipsAreLegal) {
  for (const char* name : {"kernel.vendor_knob", "lnet.debug", "net.ipv4.tcp_xmem",
                           "net.ipv4.neigh.default.gc_thresh4", "vm.nr", "kernel"}) {
    EXPECT_FALSE(is_known_sysctl(name)) << name;
    EXPECT_EQ(misspelled_sysctl(name), "") << name;
    EXPECT_EQ(canonical("sysctl." + std::string(name)), "sysctl." + std::string(name));
  }
}

TEST(Sysctls, PathIsTakenAsItStands) {
  EXPECT_EQ(canonical("sysctl.kernel/watchdog_tresh"), "sysctl.kernel.watchdog_tresh");
}

TEST(Sysctls, NoRealNameIsASlipOfAnother) {
  for (const std::string_view a : known_sysctls()) {
    for (const std::string_view b : known_sysctls()) {
      EXPECT_FALSE(a != b && is_slip(a, b)) << a << " and " << b;
    }
  }
}

}  // namespace
}  // namespace goldenv::facts
