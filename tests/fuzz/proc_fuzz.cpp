// Everything that reads the text of /proc, /sys, /boot, /etc and dpkg: no input may crash it, lead
// out of a folder or carry a secret through.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "host/process.h"
#include "probe/bracketed.h"
#include "probe/compiler.h"
#include "probe/cpuinfo.h"
#include "probe/dpkg_status.h"
#include "probe/gpu_list.h"
#include "probe/kernel_text.h"
#include "probe/limits_text.h"
#include "probe/memory_text.h"
#include "probe/module_files.h"
#include "probe/nvidia_proc.h"
#include "probe/os_release.h"
#include "probe/platform.h"
#include "probe/redact.h"
#include "probe/sysctl_path.h"

namespace {

using namespace goldenv::probe;

void require(bool holds) {
  if (!holds) {
    std::abort();
  }
}

void read_nvidia(std::string_view text) {
  if (const auto module = parse_nvidia_version(text)) {
    require(module->version.find('.') != std::string::npos);
  }
  for (const auto& [name, value] : parse_nvidia_lines(text)) {
    require(!name.empty() && value.size() <= text.size());
  }
  static_cast<void>(parse_l4t(text));
  static_cast<void>(parse_pci_address(text));
}

void read_kernel(std::string_view text) {
  static_cast<void>(compiler_name(version_compiler(text)));
  static_cast<void>(without_builder(text));
  for (const std::string& parameter : split_cmdline(text)) {
    require(!parameter.empty());
  }
  if (const auto line = find_option(text, "CONFIG_HZ")) {
    require(line->line > 0);
  }
  static_cast<void>(quoted_definition(text, "UTS_RELEASE"));
  const ModuleFiles files = parse_module_files(text, text);
  require(files.loadable == files.builtin);
  static_cast<void>(parse_module_names(text));
}

void read_process(std::string_view text) {
  for (const goldenv::host::MappedFile& file : goldenv::host::parse_maps(text)) {
    require(!file.path.empty());
  }
}

void read_machine(std::string_view text) {
  const auto processors = parse_cpuinfo(text);
  for (const Processor& processor : processors) {
    static_cast<void>(cpu_vendor(processor));
    static_cast<void>(cpu_model(processor));
    static_cast<void>(cpu_stepping(processor));
  }
  static_cast<void>(common_flags(processors));
  require(expand_ranges(text, 1000).size() <= 1000);
  static_cast<void>(find_memory_line(text, "MemTotal"));
  if (const auto size = page_size_in_auxv(text)) {
    require((*size & (*size - 1)) == 0);
  }
  if (const auto limit = find_limit(text, "memlock")) {
    require(!limit->soft.empty() && !limit->hard.empty());
  }
  static_cast<void>(parse_cgroup(text));
  static_cast<void>(mount_size(text));
}

void read_packages(std::string_view text) {
  for (const DpkgPackage& package : parse_dpkg_status(text)) {
    require(!package.name.empty() && !package.state.empty() && package.line > 0);
  }
  static_cast<void>(parse_os_release(text));
}

void read_names(std::string_view text) {
  const std::string path = "/" + sysctl_path(text) + "/";
  require(path.find("/../") == std::string::npos && path.find("//") == std::string::npos);
  require(one_blank(one_blank(text)) == one_blank(text));
}

void hide_secrets(std::string_view text) {
  const std::string secret = "ghp_0123456789abcdef0123";
  if (text.find(secret) != std::string_view::npos) {
    return;  // in the midst of a word it begins none
  }
  const std::string around = std::string(text) + " " + secret + " " + std::string(text);
  require(redact(around).find(secret) == std::string::npos);
  const std::string url = std::string(text) + " https://user:" + secret + "x@host/ ";
  require(redact(url).find(secret) == std::string::npos);
  for (const std::string& parameter :
       redact_cmdline(split_cmdline(around + " password=Zq7secret"))) {
    require(parameter.find(secret) == std::string::npos);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  read_nvidia(text);
  read_kernel(text);
  read_machine(text);
  read_process(text);
  read_packages(text);
  read_names(text);
  hide_secrets(text);
  return 0;
}
