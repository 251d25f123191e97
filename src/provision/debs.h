#pragma once

#include <optional>

#include "base/result.h"
#include "host/host.h"
#include "offer/debs.h"
#include "provision/interpreter.h"
#include "provision/realiser.h"
#include "provision/wanted.h"
#include "store/store.h"

// Libraries of Debian packages as parts of an environment: unpacked by goldenv, with nothing of
// them run and nothing put where the system has its own.
namespace goldenv::provision {

/// The package that a source meant before; none where it was never looked for.
std::optional<offer::Deb> remembered_deb(const Component& component, const recipe::Source& source,
                                         const Interpreter& interpreter, const store::Store& store);

/// The same from apt's lists, and remembered. Errors: absent, failed.
Result<offer::Deb> look_for_deb(const Component& component, const recipe::Source& source,
                                const Interpreter& interpreter, const host::Host& machine,
                                const store::Store& store);

ObjectRequest from_deb(const Component& component, const offer::Deb& deb,
                       const Interpreter& interpreter);

/// Where an environment has what a Debian package has in the system's folders.
std::vector<recipe::Layout> deb_layout(const Interpreter& interpreter);

}  // namespace goldenv::provision
