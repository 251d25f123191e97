"""A recorded machine in the making: files and links by path, and for each the public source of its
form."""

import fnmatch
import os
import shutil

# What the form of a file follows. True: read in that source, or seen on a running Linux system;
# False: from general knowledge, so that it may not be the only support of a planted difference.
SOURCES = {
    'proc': ('proc(5)', True),
    'sysctl': ('Linux Documentation/admin-guide/sysctl; proc(5)', True),
    'modules': ('proc(5), /proc/modules; public samples of loaded NVIDIA modules', True),
    'module-sysfs': ('Linux kernel/module/main.c: attributes version, srcversion, initstate; nvidia-uvm '
                     'has a MODULE_VERSION from the 525 branch on (open-gpu-kernel-modules)', True),
    'module-param': ('Linux Documentation/admin-guide/kernel-parameters; sysfs(5)', True),
    'modinfo': ('modinfo(8); .modinfo sections of distribution kernels', True),
    'modules.dep': ('modules.dep(5); dkms(8) for updates/dkms', True),
    'dkms': ('dkms(8) 3.0: /var/lib/dkms', True),
    'nvrm': ('open-gpu-kernel-modules, kernel-open/nvidia/nv-procfs.c and utils.mk; public samples '
             'of the proprietary form', True),
    'nvrm-gpu': ('open-gpu-kernel-modules, kernel-open/nvidia/nv-procfs.c', True),
    'nvreg': ('open-gpu-kernel-modules, kernel-open/nvidia/nv-reg.h', True),
    'pci': ('Linux Documentation/ABI/testing/sysfs-bus-pci; PCI id list', True),
    'pci-link': ('Linux drivers/pci/pci-sysfs.c (link speed and width)', False),
    'iommu': ('Linux Documentation/ABI/testing/sysfs-kernel-iommu_groups', True),
    'auxv': ('getauxval(3); proc(5), /proc/PID/auxv', True),
    'cpuinfo-arm': ('Linux arch/arm64/kernel/cpuinfo.c; public samples of Neoverse V2', True),
    'cpu': ('Linux Documentation/ABI/testing/sysfs-devices-system-cpu', True),
    'cpufreq': ('Linux Documentation/admin-guide/pm/cpufreq.rst', True),
    'clocksource': ('Linux kernel/time/clocksource.c (sysfs attributes)', True),
    'node': ('Linux Documentation/ABI/stable/sysfs-devices-node', True),
    'thp': ('Linux Documentation/admin-guide/mm/transhuge.rst', True),
    'hugetlb': ('Linux Documentation/admin-guide/mm/hugetlbpage.rst', True),
    'dmi': ('Linux drivers/firmware/dmi-id.c', False),
    'efi': ('Linux Documentation/filesystems/efivarfs.rst: four bytes of attributes, then the value', True),
    'net': ('Linux Documentation/ABI/testing/sysfs-class-net', True),
    'infiniband': ('Linux Documentation/ABI/stable/sysfs-class-infiniband', True),
    'shm': ('shm_overview(7), sem_overview(7)', True),
    'cgroup': ('Linux Documentation/admin-guide/cgroup-v2.rst', True),
    'os-release': ('os-release(5)', True),
    'machine-id': ('machine-id(5)', True),
    'hostname': ('hostname(5)', True),
    'hosts-file': ('hosts(5)', True),
    'bashrc': ('bash(1), INVOCATION', True),
    'systemd': ('systemd.unit(5), systemd.exec(5)', True),
    'passwd': ('passwd(5)', True),
    'ld.so': ('ld.so(8), ldconfig(8)', True),
    'ld.so.cache': ('glibc sysdeps/generic/dl-cache.h', True),
    'sysctl.d': ('sysctl.d(5)', True),
    'modprobe.d': ('modprobe.d(5)', True),
    'grub': ('GRUB manual, simple configuration', True),
    'dpkg': ('dpkg(1), deb-control(5)', True),
    'alternatives': ('update-alternatives(1)', True),
    'merged-usr': ('file-hierarchy(7)', True),
    'fixture-elf': ('a fixture made by generator/elf.py after elf(5): no code, a few kilobytes', True),
    'nccl-text': ('fixture; the text as in NCCL src/init.cc', True),
    'glibc-text': ('fixture; the text as in glibc csu/version.c', True),
    'libstdcxx': ('fixture; symbol versions as in GCC libstdc++-v3/config/abi', True),
    'gcc-comment': ('fixture; the .comment section as GCC writes it', True),
    'driver-library': ('fixture; NAME.so.VERSION as libnvidia-container, src/nvc_info.c, looks for it',
                       True),
    'nvcc': ('fixture; the text that nvcc --version prints in public samples', True),
    'cuda-json': ('version.json of CUDA toolkits in public samples', True),
    'cuda-header': ('CUDA toolkit headers: cuda.h, cuda_runtime_api.h', True),
    'cuda-link': ('CUDA installation guide for Linux: /usr/local/cuda', True),
    'cudnn-header': ('cuDNN cudnn_version.h', True),
    'nccl.conf': ('NCCL documentation, environment variables', True),
    'python-prefix': ('Python setup and usage: make install below a prefix of its own', True),
    'conda': ('Conda Enhancement Proposals: conda-meta/NAME-VERSION-BUILD.json of an environment', True),
    'llvm': ('fixture; libLLVM in the places where Debian 12 has it', True),
    'venv': ('Python library reference, venv', True),
    'python': ('a Python installation as Debian lays it out', True),
    'wheel': ('Python packaging: recording installed projects, core metadata', True),
    'torch': ('PyTorch tools/generate_torch_version.py; metadata of torch 2.1.2+cu121 and 2.2.1+cu121', True),
    'wsl': ('CUDA on WSL User Guide, and public reports: /usr/lib/wsl/lib, /dev/dxg', True),
    'wsl-interop': ('Linux Documentation/admin-guide/binfmt-misc.rst; the name WSLInterop', False),
    'leftover': ('NCCL src/misc/shmutils.cc, PyTorch and CPython multiprocessing: names in /dev/shm', True),
    'kernel-log': ('NVIDIA XID Errors documentation; rsyslog traditional file format', True),
    'docker': ('/.dockerenv, made by Docker', True),
    'record': ('goldenv scan --record; docs/RECORD.md', True),
}


class Tree:
    def __init__(self, name, says, moves=(), words=()):
        self.name = name
        self.moves = moves  # (folder, where it is on this machine)
        self.words = words  # (word, what stands for it on this machine) of paths and texts
        self.says = says  # what this machine is for, told at the top of PROVENANCE
        self.entries = {}  # path -> bytes, or a link's text
        self.follows = {}  # source -> patterns, in order of their coming
        self.answers = {}  # path -> how a look at it ended, for record.yaml

    def _moved(self, path):
        for folder, other in self.moves:
            if path and path.startswith(folder):
                path = other + path.removeprefix(folder)
                break
        return self.text(path)

    def text(self, text):
        for word, other in self.words:
            text = text and text.replace(word, other)
        return text

    def _note(self, path, source, pattern):
        pattern = self._moved(pattern) or path
        assert source in SOURCES, source
        assert fnmatch.fnmatchcase(path, pattern), (path, pattern)
        patterns = self.follows.setdefault(source, [])
        if pattern not in patterns:
            patterns.append(pattern)

    def put(self, path, content, source, pattern=None):
        path = self._moved(path)
        assert path.startswith('/') and path not in self.entries, path
        self._note(path, source, pattern)
        # What lies in a dist-info has its digest in RECORD: it is made as it has to be.
        if isinstance(content, str):
            content = (content if '.dist-info/' in path else self.text(content)).encode()
        self.entries[path] = content

    def link(self, path, target, source, pattern=None):
        path = self._moved(path)
        assert path.startswith('/') and path not in self.entries, path
        self._note(path, source, pattern)
        self.entries[path] = self.text(target)

    def lines(self, folder, source, values, pattern=None):
        """One-line files of a folder."""
        for name, value in values.items():
            self.put(f'{folder}/{name}', f'{value}\n', source,
                     f'{pattern}/{name}' if pattern else None)

    def provenance(self):
        out = [f'{self.name}: {self.says}', '',
               'Written for these tests by tests/hosts/generate; no line comes from a real machine, and',
               'all names, serials and addresses are made up. Below: what the form of each file follows.',
               '"checked": read in that source or seen on a running Linux system; "unverified": from',
               'general knowledge, never the only support of a difference that a test expects.', '']
        for source in sorted(self.follows, key=lambda s: SOURCES[s][0].lower()):
            text, checked = SOURCES[source]
            out.append(f'{text} [{"checked" if checked else "unverified"}]')
            out += [f'  {pattern}' for pattern in sorted(self.follows[source])]
            out.append('')
        return '\n'.join(out).encode()

    def write(self, folder):
        shutil.rmtree(folder, ignore_errors=True)
        entries = dict(self.entries)
        entries['/PROVENANCE'] = self.provenance()
        for path, content in sorted(entries.items()):
            full = folder + path
            os.makedirs(os.path.dirname(full), exist_ok=True)
            if isinstance(content, str):
                os.symlink(content, full)
            else:
                with open(full, 'wb') as out:
                    out.write(content)
