#pragma once

#include <string_view>

namespace goldenv::facts {

/// Whether what bears this name is likely a secret: a word of the name (parted by anything but
/// letters and digits, or by a change of case) is or ends like token, key, secret, password, pwd,
/// credential, auth, jwt, cookie, private, signature or session. Not so NCCL_IB_PKEY (a partition
/// key is an index), iommu.passthrough, vconsole.keymap, usbcore.authorized_default.
bool is_secret_name(std::string_view name);

/// Whether an environment variable's value may stand in a snapshot: it is one of those that steer
/// CUDA, NCCL, torch, OpenMP, the loader, Python or the job launchers, and its name is no secret's.
/// In a snapshot that lists the family env a variable of this kind that is missing was not set; of
/// any other nothing is known unless it was asked for by name.
bool is_listed_variable(std::string_view name);

}  // namespace goldenv::facts
