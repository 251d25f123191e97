#pragma once

#include <string>
#include <string_view>

namespace goldenv {

/// `text` with the user part of every URL in it as ***: https://user:password@host/x becomes
/// https://***@host/x. For every message that repeats what a user wrote.
std::string mask_users(std::string_view text);

/// The same for one word that names a source, where a user may stand behind the scheme alone:
/// ssh:user:password@host becomes ssh:***@host; git:/srv/repo@main:a.yaml stays.
std::string mask_source_user(std::string_view word);

}  // namespace goldenv
