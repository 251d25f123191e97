#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>

#include "probe/probe.h"
#include "scan.h"
#include "torch_machine.h"

namespace goldenv::test {

/// Tests of one probe of libraries: the machine it looks at, at first a target Python without
/// torch, and what it finds there.
class LibraryProbe : public testing::Test {
 protected:
  explicit LibraryProbe(const probe::Probe& probe) : probe_(probe) {}

  [[nodiscard]] facts::Snapshot scan(probe::Request request = {}) const {
    return test::scan(machine.host, probe_, std::move(request));
  }
  /// Of a scan of its own.
  [[nodiscard]] std::string told(std::string_view key, probe::Request request = {}) const {
    return test::told(machine.host, probe_, key, std::move(request));
  }
  [[nodiscard]] static std::string told(const facts::Snapshot& snapshot, std::string_view key) {
    return test::told(snapshot, key);
  }
  [[nodiscard]] static facts::Evidence evidence(const facts::Snapshot& snapshot,
                                                std::string_view key) {
    const facts::Fact* fact = snapshot.find(facts::FactKey::parse(key));
    EXPECT_NE(fact, nullptr) << key;
    return fact == nullptr ? facts::Evidence{} : fact->evidence;
  }

  TorchMachine machine;

 private:
  const probe::Probe& probe_;
};

}  // namespace goldenv::test
