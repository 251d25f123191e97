#!/usr/bin/env python3
"""archives.py FOLDER: good archives, and hostile ones that must be refused.

Writes them into FOLDER, and FOLDER/cases with a line for each: file, kind, what the refusal must
say ("" for a good one), with tabs between. All wheels claim to be demo 1.0.
"""
import base64
import gzip
import hashlib
import io
import lzma
import os
import stat
import struct
import subprocess
import sys
import tarfile
import zlib

OUT = sys.argv[1]
cases = []
INFO = "demo-1.0.dist-info"
METADATA = b"Metadata-Version: 2.1\nName: demo\nVersion: 1.0\n\nA demo.\n"
WHEEL = (b"Wheel-Version: 1.0\nGenerator: hand\nRoot-Is-Purelib: true\nTag: py3-none-any\n")


class Entry:
    """One member of a zip, with everything that can be lied about."""

    def __init__(self, name, data=b"", method=8, mode=0o100644, **lies):
        self.name = name if isinstance(name, bytes) else name.encode()
        self.data = data
        self.method = method
        self.mode = mode
        self.lies = lies

    def packed(self):
        if "packed" in self.lies:
            return self.lies["packed"]
        if self.method != 8:
            return self.data
        deflate = zlib.compressobj(6, zlib.DEFLATED, -15)
        return deflate.compress(self.data) + deflate.flush()


def raw_zip(entries, front=b"", comment=b"", shift=0, disk=0, count=None):
    body = io.BytesIO()
    body.write(front)
    directory = b""
    offsets = []
    for entry in entries:
        packed = entry.packed()
        crc = entry.lies.get("crc", zlib.crc32(entry.data))
        size = entry.lies.get("size", len(entry.data))
        flags = entry.lies.get("flags", 0x800)
        offset = entry.lies.get("offset", body.tell())
        offsets.append(offset)
        local_name = entry.lies.get("local_name", entry.name)
        big = size > 0xfffffffe
        extra = struct.pack("<HHQQ", 1, 16, size, len(packed)) if big else b""
        size32, packed32 = (0xffffffff, 0xffffffff) if big else (size, len(packed))
        if "offset" not in entry.lies:
            body.write(struct.pack("<IHHHHHIIIHH", 0x04034b50, 20, flags, entry.method, 0, 0x21,
                                   crc, packed32, size32, len(local_name), len(extra)))
            body.write(local_name + extra + packed)
        directory += struct.pack("<IBBHHHHHIIIHHHHHII", 0x02014b50, 20, 3, 20, flags, entry.method,
                                 0, 0x21, crc, packed32, size32, len(entry.name), len(extra), 0, 0,
                                 0, entry.mode << 16, offset)
        directory += entry.name + extra
    at = body.tell()
    number = len(entries) if count is None else count
    body.write(directory)
    body.write(struct.pack("<IHHHHIIH", 0x06054b50, disk, disk, number, number, len(directory),
                           at + shift, len(comment)))
    return body.getvalue() + comment


def digest(data):
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def line(name, data, size=None):
    return "%s,sha256=%s,%d\n" % (name, digest(data), len(data) if size is None else size)


def members(files=(), metadata=METADATA, wheel=WHEEL, record=None, more_record="", info=INFO,
            skip=(), points=None):
    """The entries of a wheel whose RECORD is right unless told otherwise."""
    entries = [file if isinstance(file, Entry) else Entry(*file) for file in files]
    entries.append(Entry(info + "/METADATA", metadata))
    entries.append(Entry(info + "/WHEEL", wheel))
    if points is not None:
        entries.append(Entry(info + "/entry_points.txt", points))
    if record is None:
        record = "".join(line(entry.name.decode("utf-8", "surrogateescape"), entry.data)
                         for entry in entries
                         if not entry.lies.get("unrecorded") and entry.mode & 0o170000 == 0o100000)
    record += more_record + info + "/RECORD,,\n"
    entries.append(Entry(info + "/RECORD", record.encode("utf-8", "surrogateescape")))
    return [entry for entry in entries
            if not any(entry.name.decode("utf-8", "replace").endswith(one) for one in skip)]


def put(label, kind, data, says):
    file = "demo-1.0-%d%s-py3-none-any.whl" % (len(cases) + 1, label) if kind == "wheel" else label
    with open(os.path.join(OUT, file), "wb") as out:
        out.write(data)
    cases.append((file, kind, says))


def wheel(label, says, files=(), **options):
    put(label, "wheel", raw_zip(members(files, **options)), says)


def tar(entries, mode="w"):
    """entries: (name, content) or a TarInfo, or (TarInfo, content)."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode, format=tarfile.GNU_FORMAT) as archive:
        for entry in entries:
            if isinstance(entry, tarfile.TarInfo):
                archive.addfile(entry)
                continue
            name, content = entry
            info = name if isinstance(name, tarfile.TarInfo) else tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return out.getvalue()


def special(name, kind, target=""):
    info = tarfile.TarInfo(name)
    info.type = kind
    info.linkname = target
    return info


def executable(name):
    info = tarfile.TarInfo(name)
    info.mode = 0o4755
    return info


def ar(parts):
    out = b"!<arch>\n"
    for name, data, *size in parts:
        out += ("%-16s%-12d%-6d%-6d%-8s%-10d" % (name, 0, 0, 0, "100644",
                                                 size[0] if size else len(data))).encode()
        out += b"`\n" + data + (b"\n" if len(data) % 2 else b"")
    return out


def zeros(count, unit=16 << 20):
    """A deflate stream of count times 16 MiB of zeros, made in no time."""
    deflate = zlib.compressobj(9, zlib.DEFLATED, -15)
    block = deflate.compress(bytes(unit)) + deflate.flush(zlib.Z_FULL_FLUSH)
    return block * count + zlib.compressobj(9, zlib.DEFLATED, -15).flush()


PKG = ("demo/__init__.py", b"VALUE = 1\n")
SCRIPT = b"#!python\nprint('hello')\n"

# Good ones.
put("ok", "wheel", raw_zip(members(
    [PKG, ("demo/old.py", b"print 'two'\n"), ("demo/", b"", 0, 0o040755),
     ("demo-1.0.data/scripts/hello", SCRIPT), ("demo-1.0.data/data/share/demo.txt", b"x\n"),
     ("demo-1.0.data/headers/demo.h", b"/**/\n"), ("demo-1.0.data/purelib/extra.py", b"X = 2\n"),
     Entry("demo/tool", b"#!/bin/sh\n", mode=0o104755)],
    points=b"[console_scripts]\ndemo = demo:main\n")), "")
TREE = [("top/lib/libx.so.1", b"\x7fELFno"), special("top/lib/libx.so", tarfile.SYMTYPE, "libx.so.1"),
        (executable("top/bin/x"), b"#!/bin/sh\n"), ("top/include/x.h", b"/**/\n"),
        special("top/lib/again", tarfile.LNKTYPE, "top/lib/libx.so.1"), ("top/lib64/y", b"y")]
put("good.tar", "tar", tar(TREE), "")
put("good.tar.gz", "tar", gzip.compress(tar(TREE)), "")
put("good.tar.xz", "tar", lzma.compress(tar(TREE)), "")
put("good.zip", "zip", raw_zip([Entry("top/bin/x", b"#!/bin/sh\n", mode=0o100755),
                                Entry("top/lib/a", b"a"),
                                Entry("top/lib/b", b"a", mode=0o120777)]), "")
put("good.deb", "deb", ar([("debian-binary", b"2.0\n"), ("control.tar.xz", b"x"),
                           ("data.tar.xz", lzma.compress(tar(
                               [("./usr/lib/libx.so.1", b"x"),
                                special("./usr/lib/libx.so", tarfile.SYMTYPE,
                                        "/usr/lib/libx.so.1")])))]), "")

# Names.
wheel("up", "\"..\"", [("../evil.py", b"")])
wheel("upinside", "\"..\"", [("demo/../../evil.py", b"")])
wheel("absolute", "absolute", [("/tmp/evil.py", b"")])
wheel("backslash", "backslash", [("demo\\evil.py", b"")])
wheel("nul", "control", [Entry(b"demo/a\0b.py", b"")])
wheel("newline", "control", [Entry(b"demo/a\nb.py", b"")], record="")
wheel("badutf8", "UTF-8", [Entry(b"demo/\xff\xfe.py", b"")])
wheel("emptypart", "empty", [("demo//a.py", b"")])
wheel("dotpart", "\".\"", [("demo/./a.py", b"")])
wheel("longname", "more than 255 bytes", [("demo/" + "a" * 300, b"")])
wheel("longpath", "more than 2000 bytes", [("/".join(["a" * 100] * 25), b"")])
wheel("twice", "twice", [PKG, PKG])
wheel("caseclash", "in case alone", [("demo/A.py", b""), ("demo/a.py", b"")])
wheel("casefolder", "in case alone", [("Demo/a.py", b""), ("demo/b.py", b"")])
wheel("fileandfolder", "no folder", [("demo", b""), ("demo/b.py", b"")])
# Kinds.
wheel("link", "is a link", [PKG, Entry("demo/l", b"/etc/passwd", mode=0o120777)])
wheel("device", "device", [PKG, Entry("demo/null", b"", mode=0o020666)])
wheel("fifo", "device", [PKG, Entry("demo/pipe", b"", mode=0o010666)])
wheel("fullfolder", "folder with content", [Entry("demo/", b"x", 0)], record="")
# RECORD.
wheel("norecord", "RECORD is missing", [PKG], skip=("/RECORD",))
wheel("missing", "not in the archive", [PKG], more_record=line("demo/gone.py", b""))
wheel("unrecorded", "is not in RECORD", [PKG, Entry("demo/evil.py", b"", unrecorded=True)])
wheel("wrongbytes", "other bytes than RECORD says",
      [PKG, Entry("demo/evil.py", b"1", unrecorded=True)], more_record=line("demo/evil.py", b"2"))
wheel("wrongsize", "RECORD says", [PKG, Entry("demo/evil.py", b"1", unrecorded=True)],
      more_record=line("demo/evil.py", b"1", 7))
wheel("md5", "RECORD", [PKG, Entry("demo/evil.py", b"1", unrecorded=True)],
      more_record="demo/evil.py,md5=xMpCOKC5I4INzFCab3WEmw,1\n")
wheel("undigested", "RECORD", [PKG, Entry("demo/evil.py", b"1", unrecorded=True)],
      more_record="demo/evil.py,,\n")
wheel("recordup", "RECORD", [PKG], more_record=line("../../evil.py", b""))
wheel("recordtwice", "RECORD", [PKG], more_record=line(PKG[0], PKG[1]))
wheel("recordquote", "RECORD", [PKG], more_record='"demo/x\n')
# Metadata.
put("noinfo", "wheel", raw_zip([Entry(*PKG)]), "no .dist-info folder")
wheel("twoinfos", "two folders of metadata", [("other-1.0.dist-info/METADATA", b"")])
wheel("othername", "another package", [PKG], metadata=METADATA.replace(b"demo", b"other"))
wheel("otherversion", "another package", [PKG], metadata=METADATA.replace(b"1.0\n", b"1.1\n"))
wheel("otherinfo", "another package", [PKG], info="other-1.0.dist-info")
wheel("noversion", "METADATA", [PKG], metadata=b"Metadata-Version: 2.1\nName: demo\n")
wheel("nometadata", "METADATA is missing", [PKG], skip=("/METADATA",))
wheel("nowheel", "WHEEL is missing", [PKG], skip=("/WHEEL",))
wheel("wheel2", "WHEEL", [PKG], wheel=WHEEL.replace(b"1.0", b"2.0"))
wheel("entrypoint", "entry_points.txt", [PKG], points=b"[console_scripts]\n../evil = demo:main\n")
wheel("entryutf16", "entry_points.txt is no UTF-8", [PKG],
      points="[console_scripts]\nx = demo:main\n".encode("utf-16"))
# .data.
wheel("scheme", "no folder of .data", [PKG, ("demo-1.0.data/etc/passwd", b"")])
wheel("otherdata", "another wheel", [PKG, ("other-1.0.data/scripts/x", b"")])
wheel("deepscript", "folder of its own", [PKG, ("demo-1.0.data/scripts/a/b", b"")])
wheel("datatwice", "twice", [PKG, ("demo-1.0.data/purelib/" + PKG[0], b"")])
# The container.
good = raw_zip(members([PKG]))
put("noend", "wheel", good[:-30], "no end record")
put("half", "wheel", good[:len(good) // 2], "no end record")
put("empty", "wheel", b"", "too short")
put("text", "wheel", b"this is no archive\n" * 9, "no zip archive")
put("front", "wheel", raw_zip(members([PKG]), front=b"#!/bin/sh\n"), "in front of")
put("behind", "wheel", good + b"more", "no end record")
put("shifted", "wheel", raw_zip(members([PKG]), shift=7), "directory is not where")
put("disks", "wheel", raw_zip(members([PKG]), disk=1), "one part of several")
put("count", "wheel", raw_zip(members([PKG]), count=2), "members in its directory")
wheel("encrypted", "encrypted", [Entry("demo/x", b"x", flags=0x801)])
wheel("method", "by method 12", [Entry("demo/x", b"x", 12)])
wheel("crc", "damaged", [Entry("demo/x", b"x", crc=1)])
wheel("twosizes", "two sizes", [Entry("demo/x", b"xyz", 0, size=2)])
wheel("grows", "more than the 2 bytes", [Entry("demo/x", b"xyz" * 99, size=2, unrecorded=True)],
      more_record=line("demo/x", b"xy"))
wheel("shrinks", "damaged", [Entry("demo/x", b"xyz", size=99, unrecorded=True)],
      more_record=line("demo/x", b"xyz", 99))
wheel("stream", "damaged", [Entry("demo/x", b"xyz", packed=b"\xff\xff\xff")])
wheel("behindstream", "damaged", [Entry("demo/x", b"", packed=b"\x03\x00more")])
wheel("header", "contradicts the directory", [Entry("demo/x", b"x", local_name=b"demo/y")])
wheel("overlap", "overlaps", [Entry("demo/x", b"x" * 50, 0), Entry("demo/y", b"x" * 50, 0, offset=0)])
wheel("offset", "behind the last member", [PKG, Entry("demo/y", b"", offset=0x7fffffff)])
wheel("tengigabytes", "times its size",
      [Entry("demo/zeros", b"", packed=zeros(640), size=640 << 24, unrecorded=True)],
      more_record="demo/zeros,sha256=%s,%d\n" % (digest(b""), 640 << 24))
million = raw_zip([Entry("a", b"")])
at = million.index(b"PK\1\2")
entry = million[at:-22]
directory = entry * 1_000_000
put("million", "wheel",
    million[:at] + directory +
    struct.pack("<IQHHIIQQQQ", 0x06064b50, 44, 45, 45, 0, 0, 1_000_000, 1_000_000, len(directory),
                at) +
    struct.pack("<IIQI", 0x07064b50, 0, at + len(directory), 1) +
    struct.pack("<IHHHHIIH", 0x06054b50, 0, 0, 0xffff, 0xffff, 0xffffffff, 0xffffffff, 0),
    "1000000 members")

# Tar.
SYM, HARD = tarfile.SYMTYPE, tarfile.LNKTYPE
for label, says, entries in [
        ("up", "\"..\"", [("top/../../evil", b"")]),
        ("absolute", "absolute", [("/tmp/evil", b"")]),
        ("badutf8", "UTF-8", [(b"top/\xff".decode("utf-8", "surrogateescape"), b"")]),
        ("linkabsolute", "absolute path /etc", [special("top/l", SYM, "/etc/passwd")]),
        ("linkup", "leads out", [special("top/l", SYM, "../../etc/passwd")]),
        ("linkround", "circle", [special("top/a", SYM, "b"), special("top/b", SYM, "a")]),
        ("through", "no folder", [("top/d/x", b""), special("top/l", SYM, "d"), ("top/l/evil", b"")]),
        ("device", "device", [special("top/null", tarfile.CHRTYPE)]),
        ("blockdevice", "device", [special("top/sda", tarfile.BLKTYPE)]),
        ("fifo", "device", [special("top/pipe", tarfile.FIFOTYPE)]),
        ("hardout", "no file that came before", [special("top/h", HARD, "../../etc/passwd")]),
        ("hardnone", "no file that came before", [special("top/h", HARD, "top/none")]),
        ("hardtolink", "no file that came before",
         [("top/x", b""), special("top/l", SYM, "x"), special("top/h", HARD, "top/l")]),
        ("twice", "twice", [("top/a", b"1"), ("top/a", b"2")])]:
    put("tar-%s.tar" % label, "tar", tar(entries), says)
put("cut.tar.gz", "tar", gzip.compress(tar([("top/a", os.urandom(9999))]))[:-400], "cut short")
put("damaged.tar.xz", "tar", (lambda x: x[:40] + b"\0\0\0\0" + x[44:])(lzma.compress(
    tar([("top/a", os.urandom(9999))]))), "damaged")
put("cut.tar", "tar", tar([("top/a", os.urandom(9999))])[:5000], "cut.tar")
put("text.tar", "tar", b"this is no archive\n" * 99, "is no tar archive")
put("none.tar", "tar", b"", "nothing of it is placed")
big = tarfile.TarInfo("top/zeros")
big.size = 640 << 24
put("bomb.tar.gz", "tar", gzip.compress(big.tobuf(tarfile.GNU_FORMAT))[:-8] and (
    b"\x1f\x8b\x08\0\0\0\0\0\0\xff" +
    (lambda c: c.compress(big.tobuf(tarfile.GNU_FORMAT)) + c.flush(zlib.Z_FULL_FLUSH))(
        zlib.compressobj(9, zlib.DEFLATED, -15)) + zeros(640)), "times its size")
with open(os.path.join(OUT, "sparse"), "wb") as hole:
    hole.truncate(1 << 20)
    hole.seek(512 << 10)
    hole.write(b"x" * 4096)
os.makedirs(os.path.join(OUT, "top"))
os.rename(os.path.join(OUT, "sparse"), os.path.join(OUT, "top/sparse"))
put("sparse.tar", "tar", subprocess.run(["tar", "-C", OUT, "-cSf", "-", "top/sparse"],
                                        stdout=subprocess.PIPE, check=True).stdout, "has holes")
# Zip that is no wheel.
put("zip-up.zip", "zip", raw_zip([Entry("top/../../evil", b"")]), "\"..\"")
put("zip-link.zip", "zip", raw_zip([Entry("top/l", b"/etc/passwd", mode=0o120777)]), "absolute path")
# Debian packages.
put("text.deb", "deb", b"this is no archive\n" * 9, "no Debian package")
put("version.deb", "deb", ar([("debian-binary", b"3.0\n")]), "format 2")
put("nodata.deb", "deb", ar([("debian-binary", b"2.0\n"), ("control.tar", b"x")]), "without data.tar")
put("lying.deb", "deb", ar([("debian-binary", b"2.0\n"), ("data.tar", b"x", 99999)]), "cut short")
put("up.deb", "deb", ar([("debian-binary", b"2.0\n"), ("data.tar", tar([("./usr/../../evil", b"")]))]),
    "\"..\"")
put("linkout.deb", "deb", ar([("debian-binary", b"2.0\n"), ("data.tar", tar(
    [special("./usr/lib/l", SYM, "../../../etc/passwd")]))]), "leads out")

with open(os.path.join(OUT, "cases"), "w") as out:
    for case in cases:
        out.write("\t".join(case) + "\n")
