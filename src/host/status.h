#pragma once

#include <sys/stat.h>

#include <string>

#include "host/host.h"

namespace goldenv::host {

FileStatus status_from(const struct stat& s);

/// Reads the text of the link `name` in an open folder; 0, or the errno of readlinkat(2).
int link_text(int folder, const char* name, std::string& text);

}  // namespace goldenv::host
