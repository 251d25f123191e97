#pragma once

#include <zlib.h>
#include <zstd.h>

#include <cstdint>
#include <cstdio>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/sha256.h"
#include "support/temp_dir.h"

namespace goldenv::test {

/// A tar in the making, in ustar form. Source: POSIX.1-2017, pax.
class MadeTar {
 public:
  MadeTar& file(const std::string& path, std::string_view content, unsigned mode = 0644) {
    return entry(path, '0', content, "", mode);
  }
  MadeTar& folder(const std::string& path) { return entry(path, '5', "", "", 0755); }
  MadeTar& link(const std::string& path, const std::string& target) {
    return entry(path, '2', "", target, 0777);
  }
  MadeTar& hard_link(const std::string& path, const std::string& target) {
    return entry(path, '1', "", target, 0644);
  }
  /// `size` may say anything.
  MadeTar& entry(const std::string& path, char type, std::string_view content,
                 const std::string& target, unsigned mode, std::string size = "") {
    std::string head(512, '\0');
    const auto put = [&](std::size_t at, const std::string& text) {
      head.replace(at, text.size(), text);
    };
    put(0, path.substr(0, 100));
    put(100, octal(mode, 7));
    put(108, octal(1000, 7));
    put(116, octal(100, 7));
    put(124, size.empty() ? octal(content.size(), 11) : size);
    put(136, octal(1'700'000'000, 11));
    put(148, std::string(8, ' '));
    put(156, std::string(1, type));
    put(157, target.substr(0, 100));
    put(257, std::string("ustar\00000", 8));
    unsigned sum = 0;
    for (const char c : head) {
      sum += static_cast<unsigned char>(c);
    }
    put(148, octal(sum, 6) + std::string("\0 ", 2));
    bytes_ += head;
    bytes_ += content;
    bytes_.append((512 - content.size() % 512) % 512, '\0');
    return *this;
  }
  /// With the two blocks that end it.
  [[nodiscard]] std::string bytes() const { return bytes_ + std::string(1024, '\0'); }
  [[nodiscard]] std::string unended() const { return bytes_; }

  static std::string octal(std::uint64_t value, int digits) {
    char text[32];
    std::snprintf(text, sizeof text, "%0*llo", digits, static_cast<unsigned long long>(value));
    return text;
  }

 private:
  std::string bytes_;
};

inline std::string gzip(std::string_view bytes) {
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, bytes.size()) + 64, '\0');
  std::string in(bytes);
  stream.next_in = reinterpret_cast<unsigned char*>(in.data());
  stream.avail_in = static_cast<unsigned>(in.size());
  stream.next_out = reinterpret_cast<unsigned char*>(out.data());
  stream.avail_out = static_cast<unsigned>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

inline std::string zstd(std::string_view bytes) {
  std::string out(ZSTD_compressBound(bytes.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), bytes.data(), bytes.size(), 3));
  return out;
}

inline std::string sha256(std::string_view bytes) { return "sha256:" + Sha256::of(bytes).hex(); }

/// The files of an archive of images, to be written as a tar or as a folder.
class MadeImage {
 public:
  struct Layer {
    std::string bytes;    ///< as it stands in the archive
    std::string diff_id;  ///< digest of the plain tar
  };
  static Layer plain(const MadeTar& tar) { return {tar.bytes(), sha256(tar.bytes())}; }
  static Layer zipped(const MadeTar& tar) { return {gzip(tar.bytes()), sha256(tar.bytes())}; }
  static Layer zstandard(const MadeTar& tar) { return {zstd(tar.bytes()), sha256(tar.bytes())}; }

  static std::string config(
      const std::vector<Layer>& layers, const std::string& inner = "{}",
      const std::string& platform = R"("architecture":"amd64","os":"linux")") {
    std::string ids;
    for (const Layer& layer : layers) {
      ids += (ids.empty() ? "\"" : ",\"") + layer.diff_id + "\"";
    }
    return "{" + platform + R"(,"config":)" + inner + R"(,"rootfs":{"type":"layers","diff_ids":[)" +
           ids + "]}}";
  }
  static std::string descriptor(const std::string& type, std::string_view blob,
                                const std::string& more = "") {
    return R"({"mediaType":"application/vnd.oci.image.)" + type + R"(","digest":")" + sha256(blob) +
           R"(","size":)" + std::to_string(blob.size()) + more + "}";
  }
  /// Adds a manifest with its blobs and gives its text.
  std::string manifest(const std::vector<Layer>& layers, const std::string& config) {
    std::string list;
    for (const Layer& layer : layers) {
      list += (list.empty() ? "" : ",") + descriptor("layer.v1.tar", layer.bytes);
      blob(layer.bytes);
    }
    blob(config);
    std::string text = R"({"schemaVersion":2,"config":)" + descriptor("config.v1+json", config) +
                       R"(,"layers":[)" + list + "]}";
    blob(text);
    return text;
  }
  void blob(const std::string& bytes) { files["blobs/sha256/" + sha256(bytes).substr(7)] = bytes; }
  void index(const std::string& descriptors) {
    files["oci-layout"] = R"({"imageLayoutVersion":"1.0.0"})";
    files["index.json"] = R"({"schemaVersion":2,"manifests":[)" + descriptors + "]}";
  }
  static std::string named(const std::string& name) {
    return R"(,"annotations":{"org.opencontainers.image.ref.name":")" + name + "\"}";
  }
  /// One image in an OCI layout.
  static MadeImage of(const std::vector<Layer>& layers, const std::string& inner = "{}") {
    MadeImage made;
    const std::string text = made.manifest(layers, config(layers, inner));
    made.index(descriptor("manifest.v1+json", text, named("app:1")));
    return made;
  }
  /// The same as `docker save` wrote it before version 25.
  static MadeImage saved(const std::vector<Layer>& layers, const std::string& inner = "{}") {
    MadeImage made;
    const std::string text = config(layers, inner);
    const std::string name = sha256(text).substr(7) + ".json";
    made.files[name] = text;
    std::string list;
    for (std::size_t i = 0; i < layers.size(); ++i) {
      const std::string member = std::to_string(i) + "/layer.tar";
      made.files[member] = layers[i].bytes;
      list += (list.empty() ? "\"" : ",\"") + member + "\"";
    }
    made.files["manifest.json"] =
        R"([{"Config":")" + name + R"(","RepoTags":["app:1"],"Layers":[)" + list + "]}]";
    return made;
  }

  [[nodiscard]] std::string tar() const {
    MadeTar tar;
    for (const auto& [name, bytes] : files) {
      tar.file(name, bytes);
    }
    return tar.bytes();
  }
  /// Writes the tar and gives its path.
  std::string write(const TempDir& folder, const std::string& name = "app.tar") const {
    return folder.file(name, tar());
  }
  std::string write_folder(const TempDir& folder, const std::string& name = "layout") const {
    for (const auto& [member, bytes] : files) {
      folder.file(name + "/" + member, bytes);
    }
    return folder.at(name);
  }

  std::map<std::string, std::string> files;
};

}  // namespace goldenv::test
