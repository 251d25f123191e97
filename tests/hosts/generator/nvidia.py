"""The NVIDIA driver and its GPUs, as kernel and file system show them."""

import elf
from kernel import cpu_list, node_cpus

# Parameters of the 535 branch and their defaults: nv-reg.h.
PARAMETERS = {
    'ResmanDebugLevel': 4294967295, 'RmLogonRC': 1, 'ModifyDeviceFiles': 1, 'DeviceFileUID': 0,
    'DeviceFileGID': 0, 'DeviceFileMode': 438, 'InitializeSystemMemoryAllocations': 1,
    'UsePageAttributeTable': 4294967295, 'EnableMSI': 1, 'EnablePCIeGen3': 0, 'MemoryPoolSize': 0,
    'KMallocHeapMaxSize': 0, 'VMallocHeapMaxSize': 0, 'IgnoreMMIOCheck': 0, 'TCEBypassMode': 0,
    'EnableStreamMemOPs': 1, 'EnableUserNUMAManagement': 1, 'NvLinkDisable': 0, 'RmProfilingAdminOnly': 1,
    'PreserveVideoMemoryAllocations': 0, 'EnableS0ixPowerManagement': 0,
    'S0ixPowerManagementVideoMemoryThreshold': 256, 'DynamicPowerManagement': 3,
    'DynamicPowerManagementVideoMemoryThreshold': 200, 'RegisterPCIDriver': 1,
    'EnablePCIERelaxedOrderingMode': 0, 'EnableResizableBar': 0, 'EnableGpuFirmware': 18,
    'EnableGpuFirmwareLogs': 2, 'EnableDbgBreakpoint': 0, 'OpenRmEnableUnsupportedGpus': 0,
    'DmaRemapPeerMmio': 1,
}
TEXTS = ('RegistryDwords', 'RegistryDwordsPerDevice', 'RmMsg', 'GpuBlacklist', 'TemporaryFilePath',
         'ExcludedGpus')
# name, size in memory, users
MODULES = (('nvidia_uvm', 1544192, ''), ('nvidia_drm', 77824, ''), ('nvidia_peermem', 16384, ''),
           ('nvidia_modeset', 1310720, 'nvidia_drm'),
           ('nvidia', 56713216, 'nvidia_uvm,nvidia_peermem,nvidia_modeset'))


def srcversion(name, version):
    """24 hex digits in upper case, as modpost makes them."""
    return elf.build_id(f'srcversion {name} {version}').hex().upper()[:24]


def loaded(m, name):
    return m.uvm if m.uvm and name == 'nvidia_uvm' else m.driver


def driver(tree, m):
    tree.put('/proc/driver/nvidia/version',
             (f'NVRM version: NVIDIA UNIX Open Kernel Module for {m.machine}  {m.driver}  Release Build  '
              f'(dvs-builder@builder)  {m.driver_date}\n' if m.open else
              f'NVRM version: NVIDIA UNIX {m.machine} Kernel Module  {m.driver}  {m.driver_date}\n') +
             f'GCC version:  gcc version {m.system.gcc} ({m.system.id.capitalize()} {m.system.gcc_package}) \n',
             'nvrm')
    tree.put('/proc/driver/nvidia/params', ''.join(f'{k}: {v}\n' for k, v in PARAMETERS.items()) +
             ''.join(f'{name}: ""\n' for name in TEXTS), 'nvreg')
    for index, (_, bus) in enumerate(m.gpus):
        tree.put(f'/proc/driver/nvidia/gpus/0000:{bus}:00.0/information',
                 f'Model: \t\t {m.gpu.name}\nIRQ:   \t\t {m.me.number("irq" + bus, 100, 400)}\n'
                 f'GPU UUID: \t GPU-{m.me.uuid("gpu" + bus)}\nVideo BIOS: \t {m.gpu.vbios}\n'
                 'Bus Type: \t PCIe\nDMA Size: \t 47 bits\nDMA Mask: \t 0x7fffffffffff\n'
                 f'Bus Location: \t 0000:{bus}:00.0\nDevice Minor: \t {index}\n'
                 f'GPU Firmware: \t {m.driver}\nGPU Excluded:\t No\n',
                 'nvrm-gpu', '/proc/driver/nvidia/gpus/*/information')
    listing = ''
    for name, size, users in MODULES:
        version = loaded(m, name)
        tree.lines(f'/sys/module/{name}', 'module-sysfs',
                   {'version': version, 'srcversion': srcversion(name, version), 'initstate': 'live'})
        listing += (f'{name} {size} {m.me.number(name, 1, 40)} {users + "," if users else "-"} '
                    f'Live 0x0000000000000000 ({"OE" if m.open else "POE"})\n')
    tree.put('/sys/module/nvidia_drm/parameters/modeset', 'N\n', 'module-param')
    tree.put('/sys/module/nvidia_uvm/parameters/uvm_disable_hmm', 'N\n', 'module-param')
    for name, size in (('mlx5_ib', 397312), ('ib_core', 425984), ('mlx5_core', 1720320)):
        tree.lines(f'/sys/module/{name}', 'module-sysfs',
                   {'srcversion': srcversion(name, m.kernel.release), 'initstate': 'live'})
        listing += f'{name} {size} 2 - Live 0x0000000000000000\n'
    tree.put('/proc/modules', listing, 'modules')
    files(tree, m)


def licence(m, name):
    if name == 'nvidia_peermem':
        return 'Linux-OpenIB'
    return 'Dual MIT/GPL' if m.open else 'NVIDIA'


def files(tree, m):
    """Modules on disk, built by DKMS for the running kernel."""
    release, version = m.kernel.release, m.on_disk
    dep = ''
    for name, _, _ in MODULES:
        file = name.replace('_', '-') + '.ko'
        vermagic = m.kernel.vermagic
        if m.stale_kernel and name == 'nvidia_drm':
            vermagic = f'{m.stale_kernel} SMP preempt mod_unload modversions '
        image = elf.module(f'{vermagic.split()[0]} {name} {version}', license=licence(m, name),
                           version=version, srcversion=srcversion(name, version), depends='' if name == 'nvidia' else 'nvidia', name=name, retpoline='Y',
                           vermagic=vermagic)
        tree.put(f'/usr/lib/modules/{release}/updates/dkms/{file}', image, 'modinfo')
        tree.put(f'/var/lib/dkms/nvidia/{version}/{release}/x86_64/module/{file}', image, 'dkms')
        dep += f'updates/dkms/{file}:' + ('' if name == 'nvidia' else ' updates/dkms/nvidia.ko') + '\n'
    tree.put(f'/usr/lib/modules/{release}/modules.dep', dep, 'modules.dep')
    tree.link(f'/var/lib/dkms/nvidia/kernel-{release}-x86_64', f'{version}/{release}/x86_64', 'dkms')
    tree.link(f'/var/lib/dkms/nvidia/{version}/source', f'/usr/src/nvidia-{version}', 'dkms')
    tree.put('/etc/modprobe.d/nvidia.conf', 'blacklist nouveau\noptions nvidia NVreg_EnableStreamMemOPs=1\n',
             'modprobe.d')


def config_space(vendor, device, class_code, bridge):
    """The first 64 bytes, which is what a user without rights gets to see."""
    out = bytearray(64)
    out[0:2] = vendor.to_bytes(2, 'little')
    out[2:4] = device.to_bytes(2, 'little')
    out[4:8] = bytes([0x06, 0x04, 0x10, 0x00])
    out[9:12] = class_code.to_bytes(3, 'little')
    out[14] = 1 if bridge else 0
    out[0x34] = 0x60
    return bytes(out)


def function(tree, folder, pattern, vendor, device, class_code, **more):
    tree.lines(folder, 'pci', {'vendor': f'0x{vendor:04x}', 'device': f'0x{device:04x}',
                               'class': f'0x{class_code:06x}', **more}, pattern)


def link_facts(tree, folder, pattern, now):
    tree.lines(folder, 'pci-link', {'max_link_speed': '16.0 GT/s PCIe', 'max_link_width': 16,
                                    'current_link_speed': now, 'current_link_width': 16}, pattern)


def gpus(tree, m):
    """Each GPU behind a port of its own, as many on each NUMA node."""
    for index, bus in enumerate(m.me.gpu_buses):
        node = index * m.sockets // len(m.me.gpu_buses)
        domain = f'pci0000:{int(bus, 16) & 0xf0:02x}'
        port = f'0000:{int(bus, 16) & 0xf0:02x}:{int(bus, 16) & 0x0f:02x}.1'
        bdf = f'0000:{bus}:00.0'
        top = f'/sys/devices/{domain}/{port}'
        wild = '/sys/devices/pci*/*'
        function(tree, top, wild, 0x1022, 0x1483, 0x060400, numa_node=node)
        link_facts(tree, top, wild, '16.0 GT/s PCIe')
        tree.put(f'{top}/config', config_space(0x1022, 0x1483, 0x060400, True), 'pci', f'{wild}/config')
        tree.link(f'/sys/bus/pci/devices/{port}', f'../../../devices/{domain}/{port}', 'pci',
                  '/sys/bus/pci/devices/*')
        if index == m.gpu_missing:
            continue
        folder, deep = f'{top}/{bdf}', f'{wild}/*'
        device = int(m.gpu.device, 16)
        function(tree, folder, deep, 0x10de, device, 0x030200, subsystem_vendor='0x10de',
                 subsystem_device='0x' + m.gpu.subsystem, numa_node=node,
                 local_cpulist=cpu_list(node_cpus(m, node)), resource=resources(m, index))
        link_facts(tree, folder, deep, m.me.link_speed)
        tree.put(f'{folder}/config', config_space(0x10de, device, 0x030200, False), 'pci', f'{deep}/config')
        tree.link(f'{folder}/driver', '../../../../bus/pci/drivers/nvidia', 'pci', f'{deep}/driver')
        tree.link(f'{folder}/iommu_group', f'../../../../kernel/iommu_groups/{m.me.iommu_first + index}', 'iommu',
                  f'{deep}/iommu_group')
        tree.put(f'/sys/kernel/iommu_groups/{m.me.iommu_first + index}/type', 'identity\n', 'iommu')
        tree.link(f'/sys/kernel/iommu_groups/{m.me.iommu_first + index}/devices/{bdf}',
                  f'../../../../devices/{domain}/{port}/{bdf}', 'iommu',
                  f'/sys/kernel/iommu_groups/{m.me.iommu_first + index}/devices/*')
        tree.link(f'/sys/bus/pci/devices/{bdf}', f'../../../devices/{domain}/{port}/{bdf}', 'pci',
                  '/sys/bus/pci/devices/*')
    for index in range(m.nvswitches):
        bdf = f'0000:{0xc4 + index:02x}:00.0'
        function(tree, f'/sys/devices/pci0000:c0/{bdf}', '/sys/devices/pci*/*', 0x10de, 0x1af1, 0x068000,
                 numa_node=m.sockets - 1)
        tree.link(f'/sys/bus/pci/devices/{bdf}', f'../../../devices/pci0000:c0/{bdf}', 'pci',
                  '/sys/bus/pci/devices/*')


def resources(m, index):
    """start, end, flags of each region; the second is BAR1 (64 bits wide, so it takes two)."""
    base = 0x20000000000 + m.me.number('bar', 0, 7) * 0x10000000000 + index * 0x4000000000
    rows = [(0xb0000000 + index * 0x2000000, 16 << 20, 0x40200), (base, m.gpu.bar1_bytes, 0x14220c), None,
            (base + m.gpu.bar1_bytes, 32 << 20, 0x14220c), None, None, None]
    return '\n'.join('0x%016x 0x%016x 0x%016x' % ((r[0], r[0] + r[1] - 1, r[2]) if r else (0, 0, 0))
                     for r in rows)
