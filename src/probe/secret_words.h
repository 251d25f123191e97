#pragma once

#include <cstddef>
#include <string_view>

namespace goldenv::probe {

/// A piece of a text; empty where there is none.
struct Range {
  std::size_t begin = 0;
  std::size_t end = 0;
};

// Secrets that stand where programs take them. Each looks at a bounded part of the text.

/// The secret in the word behind the blank at `at`: behind an option with a secret's name
/// (--password S), behind such a name and a tab, behind `sshpass -p`, and what stands behind the
/// colon after `-u` and its like (curl -u user:S).
Range word_behind(std::string_view text, std::size_t at);

/// The password that hangs on the option -p of mysql, mariadb and sshpass (mysql -pS), the '-'
/// standing at `at`.
Range attached_password(std::string_view text, std::size_t at);

/// The user part of a URL whose signs are escaped (https%3A%2F%2Fu%3AS%40h), the first of which
/// stands at `at`.
Range escaped_user(std::string_view text, std::size_t at);

/// Whether a value under this name is a secret: the name is one's, and the value not a plain
/// setting such as key=1 or session=gnome.
bool is_secret_setting(std::string_view name, std::string_view value);

}  // namespace goldenv::probe
