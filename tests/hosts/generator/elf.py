"""ELF64 files of a few kilobytes, byte by byte: header, PT_DYNAMIC, PT_NOTE with a build-id, constants,
symbol-version definitions, section headers. They hold what a reader of versions looks at and no code.
Source of the layout: elf(5), System V ABI, Linux Standard Base (symbol versioning)."""

import hashlib
import struct

X86_64, AARCH64 = 62, 183
machine = X86_64  # for which files are made
ET_REL, ET_DYN = 1, 3
PT_LOAD, PT_DYNAMIC, PT_NOTE = 1, 2, 4
SHT = {'null': 0, 'progbits': 1, 'symtab': 2, 'strtab': 3, 'dynamic': 6, 'note': 7, 'dynsym': 11,
       'verdef': 0x6ffffffd}
DT = {'needed': 1, 'strtab': 5, 'symtab': 6, 'strsz': 10, 'syment': 11, 'soname': 14, 'rpath': 15,
      'runpath': 29, 'verdef': 0x6ffffffc, 'verdefnum': 0x6ffffffd}
HEADER, PROGRAM, SECTION, SYMBOL = 64, 56, 64, 24


def build_id(seed):
    """Twenty bytes that look like a linker's and never change."""
    return hashlib.sha1(seed.encode()).digest()


class Strings:
    def __init__(self):
        self.bytes = b'\0'

    def add(self, text):
        at = len(self.bytes)
        self.bytes += text.encode() + b'\0'
        return at


def elf_hash(name):
    value = 0
    for byte in name.encode():
        value = (value << 4) + byte
        high = value & 0xf0000000
        value = (value ^ (high >> 24)) & ~high & 0xffffffff
    return value


def note(identity):
    return struct.pack('<III', 4, len(identity), 3) + b'GNU\0' + identity


def definitions(names, strings):
    out = b''
    for index, name in enumerate(names):
        last = index == len(names) - 1
        base = 1 if index == 0 else 0  # VER_FLG_BASE: the file itself
        out += struct.pack('<HHHHIII', 1, base, index + 1, 1, elf_hash(name), 20, 0 if last else 28)
        out += struct.pack('<II', strings.add(name), 0)
    return out


def assemble(kind, sections, programs):
    """sections: (name, type, bytes, flags, link by name, info, entry size), without the first and the
    last; programs: (type, section name). One byte of the file is one byte of memory."""
    names = Strings()
    start = HEADER + PROGRAM * (len(programs) + 1 if programs else 0)
    place, body = {}, b''
    for name, _, data, *_ in sections:
        body += b'\0' * (-(start + len(body)) % 8)
        place[name] = (start + len(body), len(data))
        body += data
    table = [(0,) * 10]
    order = [s[0] for s in sections]
    for name, kind_, _, flags, link, info, entry in sections:
        at, size = place[name]
        table.append((names.add(name), SHT[kind_], flags, at if flags & 2 else 0, at, size,
                      order.index(link) + 1 if link else 0, info, 4 if kind_ == 'note' else 8, entry))
    own = names.add('.shstrtab')
    at = start + len(body)
    body += names.bytes
    table.append((own, SHT['strtab'], 0, 0, at, len(names.bytes), 0, 0, 1, 0))
    body += b'\0' * (-(start + len(body)) % 8)
    headers_at = start + len(body)
    out = b'\x7fELF' + bytes([2, 1, 1, 0]) + b'\0' * 8
    out += struct.pack('<HHIQQQIHHHHHH', kind, machine, 1, 0, HEADER if programs else 0, headers_at, 0,
                       HEADER, PROGRAM if programs else 0, len(programs) + 1 if programs else 0,
                       SECTION, len(table), len(table) - 1)
    if programs:
        out += struct.pack('<IIQQQQQQ', PT_LOAD, 4, 0, 0, 0, headers_at, headers_at, 0x1000)
        for type_, name in programs:
            at, size = place[name]
            out += struct.pack('<IIQQQQQQ', type_, 4, at, at, at, size, size,
                               4 if type_ == PT_NOTE else 8)
    out += body
    for row in table:
        out += struct.pack('<IIQQQQIIQQ', *row)
    return out


def library(soname, seed, needed=(), rpath=None, runpath=None, texts=(), versions=()):
    """A shared library. `seed` decides its build-id; `texts` are NUL-ended constants; `versions` are
    the symbol versions that it defines."""
    strings = Strings()
    entries = [(DT['needed'], strings.add(name)) for name in needed]
    if soname:
        entries.append((DT['soname'], strings.add(soname)))
    if rpath:
        entries.append((DT['rpath'], strings.add(rpath)))
    if runpath:
        entries.append((DT['runpath'], strings.add(runpath)))
    defined = definitions((soname,) + tuple(versions), strings) if versions else b''
    constants = b''.join(t.encode() + b'\0' for t in texts) or b'\0'
    # The dynamic table holds addresses, so it is made twice: once for its size.
    count = len(entries) + 5 + (2 if versions else 0)

    def sections(dynamic):
        rows = [('.note.gnu.build-id', 'note', note(build_id(seed)), 2, None, 0, 0),
                ('.dynsym', 'dynsym', b'\0' * SYMBOL, 2, '.dynstr', 1, SYMBOL),
                ('.dynstr', 'strtab', strings.bytes, 2, None, 0, 0)]
        if versions:
            rows.append(('.gnu.version_d', 'verdef', defined, 2, '.dynstr', len(versions) + 1, 0))
        rows += [('.rodata', 'progbits', constants, 2, None, 0, 0),
                 ('.dynamic', 'dynamic', dynamic, 3, '.dynstr', 0, 16)]
        return rows

    at = HEADER + PROGRAM * 3
    place = {}
    for name, _, data, *_ in sections(b'\0' * 16 * count):
        at += -at % 8
        place[name] = at
        at += len(data)
    rows = entries + [(DT['strtab'], place['.dynstr']), (DT['symtab'], place['.dynsym']),
                      (DT['strsz'], len(strings.bytes)), (DT['syment'], SYMBOL)]
    if versions:
        rows += [(DT['verdef'], place['.gnu.version_d']), (DT['verdefnum'], len(versions) + 1)]
    rows.append((0, 0))
    dynamic = b''.join(struct.pack('<QQ', *row) for row in rows)
    return assemble(ET_DYN, sections(dynamic),
                    [(PT_DYNAMIC, '.dynamic'), (PT_NOTE, '.note.gnu.build-id')])


def module(seed, **fields):
    """A kernel module file: .modinfo with NUL-ended key=value, a build-id note."""
    info = b''.join(f'{key}={value}'.encode() + b'\0' for key, value in fields.items())
    return assemble(ET_REL, [('.note.gnu.build-id', 'note', note(build_id(seed)), 2, None, 0, 0),
                             ('.modinfo', 'progbits', info, 2, None, 0, 0)], [])


def start_object(comment):
    """An object file that says which compiler made it."""
    return assemble(ET_REL, [('.comment', 'progbits', b'\0' + comment.encode() + b'\0', 0, None, 0, 1)], [])


def program(seed, texts=()):
    """An executable that cannot run: constants and a build-id."""
    return library(None, seed, needed=('libc.so.6',), texts=texts)
