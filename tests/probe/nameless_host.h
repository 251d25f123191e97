#pragma once

#include "support/fake_host.h"

namespace goldenv::test {

/// A tree that holds neither /proc nor a shell, and so does not say what machine it is of.
struct NamelessHost : FakeHost {
  [[nodiscard]] Result<host::SystemName> system_name() const override {
    return Error{Errc::not_live, "/proc/sys/kernel/osrelease: not recorded", {}};
  }
};

}  // namespace goldenv::test
