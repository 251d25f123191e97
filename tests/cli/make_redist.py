"""Puts a part into an index of the form that NVIDIA's redistributable archives have.

make_redist.py FOLDER LABEL PART VERSION PLATFORM [--variant V] [--lie] PATH=TEXT...

Writes FOLDER/<part>/<platform>/<part>-<platform>-<version>[_<variant>]-archive.tar.xz, whose files
are those, below a folder of the archive's name, and adds it to FOLDER/redistrib_LABEL.json. A text
that begins with "#!" is of a program. --lie: the index has another digest.
"""

import argparse
import hashlib
import io
import json
import pathlib
import tarfile


def main():
    parser = argparse.ArgumentParser()
    for word in ("folder", "label", "part", "version", "platform"):
        parser.add_argument(word)
    parser.add_argument("--variant", default="")
    parser.add_argument("--lie", action="store_true")
    parser.add_argument("files", nargs="*")
    asked = parser.parse_intermixed_args()

    top = pathlib.Path(asked.folder)
    suffix = "_" + asked.variant if asked.variant else ""
    stem = f"{asked.part}-{asked.platform}-{asked.version}{suffix}-archive"
    place = pathlib.Path(asked.part) / asked.platform / (stem + ".tar.xz")
    (top / place).parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(top / place, "w:xz") as archive:
        for entry in ["LICENSE=read me\n", *asked.files]:
            path, text = entry.split("=", 1)
            member = tarfile.TarInfo(f"{stem}/{path}")
            member.size = len(text.encode())
            member.mode = 0o755 if text.startswith("#!") else 0o644
            archive.addfile(member, io.BytesIO(text.encode()))
    data = (top / place).read_bytes()
    entry = {
        "relative_path": str(place),
        "sha256": hashlib.sha256(b"other" if asked.lie else data).hexdigest(),
        "md5": hashlib.md5(data).hexdigest(),
        "size": str(len(data)),
    }

    index_file = top / f"redistrib_{asked.label}.json"
    index = json.loads(index_file.read_text()) if index_file.exists() else {
        "release_date": "2023-04-18"}
    part = index.setdefault(asked.part, {"name": asked.part, "license": "made up"})
    part["version"] = asked.version
    if asked.variant:
        part["cuda_variant"] = [asked.variant.removeprefix("cuda")]
        part.setdefault(asked.platform, {})[asked.variant] = entry
    else:
        part[asked.platform] = entry
    index_file.write_text(json.dumps(index, indent=4))


main()
