// Stands in for NVIDIA's module of a driver: its name, version, licence and what it shows in /proc,
// and no hardware. Source of the forms: /proc/driver/nvidia of release 535.
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>

#define VERSION_TEXT "535.129.03"

static int modeset;
module_param(modeset, int, 0444);

static int show_version(struct seq_file *file, void *unused) {
  seq_puts(file,
           "NVRM version: NVIDIA UNIX x86_64 Kernel Module  " VERSION_TEXT
           "  Thu Oct 19 18:56:32 UTC 2023\n"
           "GCC version:  gcc version 12.2.0 (Debian 12.2.0-14)\n");
  return 0;
}

static int show_params(struct seq_file *file, void *unused) {
  seq_puts(file, "EnableStreamMemOPs: 0\nEnableGpuFirmware: 18\n");
  return 0;
}

static int __init start(void) {
  struct proc_dir_entry *folder;
  if (!proc_mkdir("driver/nvidia", NULL)) return -ENOMEM;
  folder = proc_create_single("driver/nvidia/version", 0444, NULL, show_version);
  if (!folder || !proc_create_single("driver/nvidia/params", 0444, NULL, show_params)) {
    remove_proc_subtree("driver/nvidia", NULL);
    return -ENOMEM;
  }
  return 0;
}

static void __exit stop(void) { remove_proc_subtree("driver/nvidia", NULL); }

module_init(start);
module_exit(stop);
MODULE_VERSION(VERSION_TEXT);
MODULE_LICENSE("NVIDIA");
