#include "base/url.h"

#include <gtest/gtest.h>

#include <utility>

namespace goldenv {
namespace {

TEST(MaskUsers, TheUserPartOfEveryUrl) {
  const std::pair<const char*, const char*> cases[] = {
      {"https://u:pw@host/x", "https://***@host/x"},
      {"git:https://u:pw@host/r.git@abc:m.yaml", "git:https://***@host/r.git@abc:m.yaml"},
      {"a https://u:pw@h, then ftp://v:q@i.", "a https://***@h, then ftp://***@i."},
      {"\"https://u:p@w@host\" and x@y", "\"https://***@host\" and x@y"},
      {"https://u:p/w@host/x", "https://***@host/x"},
      {"https://token@host", "https://***@host"},
      {"https://host:8080/a@b", "https://host:8080/a@b"},
      {"https://[::1]:80/a@b", "https://[::1]:80/a@b"},
      {"https://host/a", "https://host/a"},
      {"user:pw@host", "user:pw@host"},
      {"/tmp/https:/u:pw@host/x: gone", "/tmp/https:/***@host/x: gone"},
      {"git:/srv/repo@main:a.yaml", "git:/srv/repo@main:a.yaml"},
      {"://", "://"},
      {"", ""}};
  for (const auto& [text, masked] : cases) {
    EXPECT_EQ(mask_users(text), masked);
  }
}

TEST(MaskSourceUser, AlsoBehindTheSchemeAlone) {
  const std::pair<const char*, const char*> cases[] = {
      {"ssh:u:pw@gpu17", "ssh:***@gpu17"},
      {"u:pw@gpu17", "u:***@gpu17"},
      {"git:u:p/w@host:repo", "git:***@host:repo"},
      {"https://u:pw@host/x", "https://***@host/x"},
      {"git:/srv/repo@main:a.yaml", "git:/srv/repo@main:a.yaml"},
      {"git:repo@abc:m.yaml", "git:repo@abc:m.yaml"},
      {"ssh:gpu17", "ssh:gpu17"},
      {"@live", "@live"},
      {"a@b:c", "a@b:c"}};
  for (const auto& [text, masked] : cases) {
    EXPECT_EQ(mask_source_user(text), masked);
  }
}

}  // namespace
}  // namespace goldenv
