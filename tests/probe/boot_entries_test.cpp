#include "probe/boot_entries.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "scan.h"
#include "support/fake_host.h"

namespace goldenv::probe {

extern const Probe next_boot;

namespace {

using test::FakeHost;
using test::told;

// The form that grub-mkconfig gives it on Debian and Ubuntu, shortened.
std::string grub_cfg(const std::string& fallback) {
  return R"(if [ -s $prefix/grubenv ]; then
  set have_grubenv=true
  load_env
fi
if [ "${next_entry}" ] ; then
   set default="${next_entry}"
   set next_entry=
   save_env next_entry
   set boot_once=true
else
   set default=")" +
         fallback + R"("
fi
if [ x"${feature_menuentry_id}" = xy ]; then
  menuentry_id_option="--id"
else
  menuentry_id_option=""
fi
function gfxmode {
	set gfxpayload="${1}"
	if [ "${1}" = "keep" ]; then
		set vt_handoff=vt.handoff=7
	else
		set vt_handoff=
	fi
}
menuentry 'Ubuntu' --class ubuntu --class os $menuentry_id_option 'gnulinux-simple-1' {
	recordfail
	if [ x$grub_platform = xxen ]; then insmod xzio; insmod lzopio; fi
	if [ "${grub_platform}" = efi ]; then
		insmod fat
	fi
	linux	/boot/vmlinuz-5.15.0-94-generic root=UUID=1 ro  iommu=pt "a b"
	initrd	/boot/initrd.img-5.15.0-94-generic
}
submenu 'Advanced options for Ubuntu' $menuentry_id_option 'gnulinux-advanced-1' {
	menuentry 'Ubuntu, with Linux 5.15.0-94-generic' --class os $menuentry_id_option 'gnulinux-5.15.0-94-generic-advanced-1' {
		linux	/boot/vmlinuz-5.15.0-94-generic root=UUID=1 ro  iommu=pt
	}
	menuentry 'Ubuntu, with Linux 5.15.0-91-generic' --class os $menuentry_id_option 'gnulinux-5.15.0-91-generic-advanced-1' {
		linux	/boot/vmlinuz-5.15.0-91-generic root=UUID=1 ro splash $vt_handoff
	}
}
if [ "$grub_platform" = "efi" ]; then
	menuentry 'UEFI Firmware Settings' $menuentry_id_option 'uefi-firmware' {
		fwsetup
	}
fi
)";
}

std::string kernel_of(const std::string& fallback, const std::string& environment = "") {
  FakeHost host;
  host.file("/boot/grub/grub.cfg", grub_cfg(fallback));
  host.file("/boot/grub/grubenv", "# GRUB Environment Block\n" + environment + "#######");
  return told(host, next_boot, "next_boot.kernel");
}

TEST(NextBootProbe, GrubsDefaultEntryIsTaken) {
  FakeHost host;
  host.file("/boot/grub/grub.cfg", grub_cfg("0"));
  const auto found = test::scan(host, next_boot);
  EXPECT_EQ(told(found, "next_boot.kernel"), "5.15.0-94-generic");
  const auto* cmdline = found.find(facts::FactKey::parse("next_boot.kernel.cmdline"));
  ASSERT_NE(cmdline, nullptr);
  const auto* value = std::get_if<facts::Value>(&cmdline->reading);
  ASSERT_NE(value, nullptr);
  EXPECT_EQ(value->items, (std::vector<std::string>{"BOOT_IMAGE=/boot/vmlinuz-5.15.0-94-generic",
                                                    "root=UUID=1", "ro", "iommu=pt", "a", "b"}));
  EXPECT_EQ(cmdline->evidence.from, "/boot/grub/grub.cfg");
  EXPECT_EQ(cmdline->evidence.line, 32u);
}

TEST(NextBootProbe, EntriesAreNamedByTitleIdOrNumber) {
  const std::string old = "5.15.0-91-generic";
  EXPECT_EQ(kernel_of("gnulinux-advanced-1>gnulinux-5.15.0-91-generic-advanced-1"), old);
  EXPECT_EQ(kernel_of("Advanced options for Ubuntu>Ubuntu, with Linux 5.15.0-91-generic"), old);
  EXPECT_EQ(kernel_of("1>1"), old);
  EXPECT_EQ(kernel_of("1>0"), "5.15.0-94-generic");
  EXPECT_EQ(kernel_of("no such entry"), "5.15.0-94-generic");
  EXPECT_EQ(kernel_of("99"), "5.15.0-94-generic");
}

TEST(NextBootProbe, WhatGrubSavedCounts) {
  EXPECT_EQ(kernel_of("${saved_entry}", "saved_entry=1>1\n"), "5.15.0-91-generic");
  EXPECT_EQ(kernel_of("${saved_entry}"), "5.15.0-94-generic");
  EXPECT_EQ(kernel_of("0", "next_entry=1>1\n"), "5.15.0-91-generic");
  EXPECT_EQ(kernel_of("0", "next_entry=\nsaved_entry=1>1\n"), "5.15.0-94-generic");
}

TEST(NextBootProbe, WhatWouldHaveToBeRunIsAmbiguous) {
  EXPECT_EQ(kernel_of("1"), "unknown (ambiguous)");  // a submenu
  EXPECT_EQ(kernel_of("2"), "unknown (ambiguous)");  // there on a condition
  EXPECT_EQ(kernel_of("$computed"), "unknown (ambiguous)");
  FakeHost splash;
  splash.file("/boot/grub/grub.cfg", grub_cfg("1>1"));
  const auto found = test::scan(splash, next_boot);
  EXPECT_EQ(told(found, "next_boot.kernel"), "5.15.0-91-generic");
  EXPECT_EQ(told(found, "next_boot.kernel.cmdline"), "unknown (ambiguous)");
  FakeHost twice;
  twice.file("/boot/grub/grub.cfg", grub_cfg("0") + "set default=\"1>1\"\n");
  EXPECT_EQ(told(twice, next_boot, "next_boot.kernel"), "unknown (ambiguous)");
  FakeHost custom;
  custom.file("/boot/grub/grub.cfg", grub_cfg("0")).file("/boot/grub/custom.cfg", "set default=1");
  EXPECT_EQ(told(custom, next_boot, "next_boot.kernel"), "unknown (ambiguous)");
}

TEST(NextBootProbe, DeniedIsUnknownAndNeedsRoot) {
  FakeHost host;
  host.deny("/boot/grub/grub.cfg");
  EXPECT_EQ(told(host, next_boot, "next_boot.kernel"), "unknown (denied, needs root)");
  FakeHost saved;
  saved.file("/boot/grub2/grub.cfg", grub_cfg("0")).deny("/boot/grub2/grubenv");
  EXPECT_EQ(told(saved, next_boot, "next_boot.kernel"), "unknown (denied, needs root)");
}

TEST(NextBootProbe, MachinesWithoutABootLoader) {
  EXPECT_EQ(told(FakeHost(), next_boot, "next_boot.kernel"), "unknown (not-stated)");
  FakeHost linked;
  linked.link("/vmlinuz", "boot/vmlinuz-6.1.0-18-amd64").file("/boot/vmlinuz-6.1.0-18-amd64", "");
  const auto found = test::scan(linked, next_boot);
  EXPECT_EQ(told(found, "next_boot.kernel"), "6.1.0-18-amd64");
  EXPECT_EQ(told(found, "next_boot.kernel.cmdline"), "unknown (not-stated)");
}

TEST(NextBootProbe, CutShortConfigurationsDoNotGuess) {
  const std::string whole = grub_cfg("1>1");
  for (std::size_t size = 0; size < whole.size(); size += 23) {
    FakeHost host;
    host.file("/boot/grub/grub.cfg", whole.substr(0, size));
    const std::string kernel = told(host, next_boot, "next_boot.kernel");
    EXPECT_TRUE(kernel.starts_with("unknown") || kernel.starts_with("5.15.0-9")) << kernel;
  }
}

constexpr std::string_view kRedHat = R"(if [ -s $prefix/grubenv ]; then
  load_env
fi
if [ "${next_entry}" ] ; then
   set default="${next_entry}"
else
   set default="${saved_entry}"
fi
if [ -n "${boot_counter}" -a "${boot_success}" = "0" ]; then
  if [ "${boot_counter}" = "0" ]; then
    set default=1
  fi
fi
set tuned_params="skew_tick=1"
insmod blscfg
blscfg
)";

FakeHost& add_red_hat(FakeHost& host, const std::string& environment) {
  host.file("/boot/grub2/grub.cfg", std::string(kRedHat));
  host.file("/boot/grub2/grubenv", "# GRUB Environment Block\n" + environment);
  for (const std::string release :
       {"5.14.0-362.8.1.el9_3.x86_64", "5.14.0-70.13.1.el9_0.x86_64", "0-rescue"}) {
    host.file("/boot/loader/entries/0123-" + release + ".conf",
              "title Red Hat Enterprise Linux (" + release + ")\nversion " + release +
                  "\nlinux /vmlinuz-" + release +
                  "\noptions root=/dev/mapper/rhel-root ro $tuned_params ${kernelopts}$nothing\n");
  }
  return host;
}

TEST(NextBootProbe, RedHatsGrubTakesLoaderEntries) {
  FakeHost saved;
  add_red_hat(saved, "saved_entry=0123-5.14.0-70.13.1.el9_0.x86_64\nkernelopts=crash=1\n");
  const auto found = test::scan(saved, next_boot);
  EXPECT_EQ(told(found, "next_boot.kernel"), "5.14.0-70.13.1.el9_0.x86_64");
  EXPECT_EQ(told(found, "next_boot.kernel.cmdline"),
            "root=/dev/mapper/rhel-root ro skew_tick=1 crash=1");
  FakeHost newest;
  EXPECT_EQ(told(add_red_hat(newest, ""), next_boot, "next_boot.kernel"),
            "5.14.0-362.8.1.el9_3.x86_64");
  FakeHost counted;
  EXPECT_EQ(told(add_red_hat(counted, "saved_entry=1\n"), next_boot, "next_boot.kernel"),
            "unknown (ambiguous)");
  FakeHost denied;
  add_red_hat(denied, "").deny("/boot/loader/entries");
  EXPECT_EQ(told(denied, next_boot, "next_boot.kernel"), "unknown (denied, needs root)");
}

FakeHost& add_systemd_boot(FakeHost& host, const std::string& config) {
  host.file("/efi/loader/loader.conf", config);
  for (const std::string release : {"6.6.10-arch1-1", "6.6.9-arch1-1"}) {
    host.file("/efi/loader/entries/arch-" + release + ".conf",
              "title Arch\nsort-key arch\nversion " + release + "\nlinux /" + release +
                  "/linux\noptions root=/dev/sda2\noptions quiet\n");
  }
  return host;
}

TEST(NextBootProbe, SystemdBootTakesTheNewestOrTheNamedEntry) {
  FakeHost newest;
  const auto found = test::scan(add_systemd_boot(newest, "timeout 3\n"), next_boot);
  EXPECT_EQ(told(found, "next_boot.kernel"), "6.6.10-arch1-1");
  EXPECT_EQ(told(found, "next_boot.kernel.cmdline"), "root=/dev/sda2 quiet");
  FakeHost named;
  EXPECT_EQ(told(add_systemd_boot(named, "default arch-6.6.9*\n"), next_boot, "next_boot.kernel"),
            "6.6.9-arch1-1");
  FakeHost saved;
  EXPECT_EQ(told(add_systemd_boot(saved, "default @saved\n"), next_boot, "next_boot.kernel"),
            "unknown (ambiguous)");
  FakeHost once;
  add_systemd_boot(once, "");
  constexpr char kEntry[] = "\x07\0\0\0a\0r\0c\0h\0-\0006\0.\0006\0.\0009\0*\0\0";  // UTF-16
  once.file("/sys/firmware/efi/efivars/LoaderEntryOneShot-4a67b082-0a4c-41cf-b6c7-440b29bb8c4f",
            std::string(kEntry, sizeof kEntry));
  EXPECT_EQ(told(once, next_boot, "next_boot.kernel"), "6.6.9-arch1-1");
  FakeHost unified;
  add_systemd_boot(unified, "").file("/efi/EFI/Linux/arch.efi", "");
  EXPECT_EQ(told(unified, next_boot, "next_boot.kernel"), "unknown (ambiguous)");
}

TEST(NextBootProbe, OfTwoBootLoadersTheOneThatStartedThisSystemCounts) {
  FakeHost host;
  add_systemd_boot(host, "").file("/boot/grub/grub.cfg", grub_cfg("0"));
  EXPECT_EQ(told(host, next_boot, "next_boot.kernel"), "5.15.0-94-generic");
  host.file("/sys/firmware/efi/efivars/LoaderInfo-4a67b082-0a4c-41cf-b6c7-440b29bb8c4f",
            std::string("\x06\0\0\0s\0y\0s\0t\0e\0m\0d\0-\0b\0o\0o\0t\0 \0002\0", 32));
  EXPECT_EQ(told(host, next_boot, "next_boot.kernel"), "6.6.10-arch1-1");
}

TEST(BootEntries, ReleasesStandInNamesAndImages) {
  EXPECT_EQ(release_in_name("/boot/vmlinuz-6.1.0-18-amd64"), "6.1.0-18-amd64");
  EXPECT_EQ(release_in_name("vmlinuz-5.4"), "5.4");
  EXPECT_EQ(release_in_name("(hd0,gpt2)/vmlinuz-5.4"), "5.4");
  EXPECT_EQ(release_in_name("/0123456789abcdef/6.6.8/linux"), "6.6.8");
  EXPECT_EQ(release_in_name("/boot/vmlinuz-linux"), "");
  EXPECT_EQ(release_in_name("/123/linux"), "");
  EXPECT_EQ(release_in_name(""), "");
  std::string image(0x400, '\0');
  image.replace(0x202, 4, "HdrS");
  image[0x20e] = '\x20', image[0x20f] = '\x01';
  image.replace(0x320, 29, "6.6.8-arch1-1 (linux@host) #1");
  EXPECT_EQ(release_in_image(image), "6.6.8-arch1-1");
  EXPECT_EQ(release_in_image(image.substr(0, 0x320)), "");
  EXPECT_EQ(release_in_image(""), "");
  FakeHost host;
  host.file("/boot/grub/grub.cfg", "menuentry 'Arch' {\n linux /vmlinuz-linux quiet\n}\n");
  EXPECT_EQ(told(host, next_boot, "next_boot.kernel"), "unknown (not-stated)");
  host.file("/boot/vmlinuz-linux", image);
  EXPECT_EQ(told(host, next_boot, "next_boot.kernel"), "6.6.8-arch1-1");
}

TEST(NextBootProbe, JetsonsMenuIsRead) {
  FakeHost host;
  host.uname({"n", "5.10.104-tegra", "#1", "aarch64"});
  host.file("/boot/extlinux/extlinux.conf",
            "TIMEOUT 30\nDEFAULT backup\n\nMENU TITLE L4T boot options\n\nLABEL primary\n"
            "      MENU LABEL primary kernel\n      LINUX /boot/Image\n"
            "      APPEND ${cbootargs} root=PARTUUID=1 rw\n\nlabel backup\n"
            "      linux /boot/vmlinuz-5.10.104-tegra\n      append root=/dev/mmcblk0p1 quiet\n");
  EXPECT_EQ(told(host, next_boot, "next_boot.kernel"), "5.10.104-tegra");
  EXPECT_EQ(told(host, next_boot, "next_boot.kernel.cmdline"), "root=/dev/mmcblk0p1 quiet");
  host.file("/boot/Image", "ARM64")
      .file("/boot/extlinux/extlinux.conf",
            "LABEL primary\nLINUX /boot/Image\n"
            "APPEND ${cbootargs} rw\n");
  EXPECT_EQ(told(host, next_boot, "next_boot.kernel"), "unknown (not-stated)");
  EXPECT_EQ(told(host, next_boot, "next_boot.kernel.cmdline"), "unknown (ambiguous)");
  for (const char* text : {"", "DEFAULT x\nLABEL y\nLINUX /boot/vmlinuz-1.2.3\n", "APPEND a\n"}) {
    host.file("/boot/extlinux/extlinux.conf", text);
    EXPECT_EQ(told(host, next_boot, "next_boot.kernel"), "unknown (ambiguous)") << text;
  }
  host.deny("/boot/extlinux/extlinux.conf");
  EXPECT_EQ(told(host, next_boot, "next_boot.kernel"), "unknown (denied, needs root)");
}

}  // namespace
}  // namespace goldenv::probe
